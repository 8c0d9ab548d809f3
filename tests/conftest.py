"""Property tests draw the same examples every time; GEVOLVE_EXPLORE=1 lets them look for new ones."""

import os
import signal
import sys
import tempfile

from hypothesis import HealthCheck, settings

# How long an example takes says as much of the machine as of the code.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", patient)
settings.register_profile("repeatable", patient, derandomize=True)
settings.load_profile("explore" if os.environ.get("GEVOLVE_EXPLORE") else "repeatable")

# The key that seals the runs of tests is not the user's.
_state = tempfile.TemporaryDirectory(prefix="gevolve-state-")
os.environ["XDG_STATE_HOME"] = _state.name

# Tests start hundreds of Python processes, each of which would compile gevolve anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What a shell runs in the background ignores Ctrl-C, and so would all processes that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each process of pytest-xdist keeps to one core, with all that it starts: several compilers and runs with
# a worker a core, beside each other, take longer for the same work.
if process := os.environ.get("PYTEST_XDIST_WORKER"):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(process.removeprefix("gw")) % len(cores)]})


LONGEST = "test_ray_faults.py"
"""It takes minutes, most of which it waits: others fill the time if it begins at once."""


def pytest_collection_modifyitems(items):
    """Files with slow tests come first: none of them is left when all the others are done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name != LONGEST, item.path not in slow))
