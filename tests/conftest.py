"""Property tests draw the same examples every time; GEVOLVE_EXPLORE=1 lets them look for new ones."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
if not os.environ.get("GEVOLVE_EXPLORE"):
    settings.load_profile("repeatable")
