"""Property tests draw the same examples every time; GEVOLVE_EXPLORE=1 lets them look for new ones."""

import os
import sys
import tempfile

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
if not os.environ.get("GEVOLVE_EXPLORE"):
    settings.load_profile("repeatable")

# The key that seals the runs of tests is not the user's.
_state = tempfile.TemporaryDirectory(prefix="gevolve-state-")
os.environ["XDG_STATE_HOME"] = _state.name

# Tests start hundreds of Python processes, each of which would compile gevolve anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
