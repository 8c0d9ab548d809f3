"""Work in a fork. What hostile files do there is in `tests/exploits`."""

import os
import signal

from gevolve.system.limited import limited


def test_a_fork_that_somebody_stops_goes_on():
    def work():
        os.kill(os.getpid(), signal.SIGSTOP)
        return b"done"

    assert limited(work, "a file") == b"done"
