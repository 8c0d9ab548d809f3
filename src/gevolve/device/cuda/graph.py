"""Launches as one graph, so that the GPU goes from one to the next without the host.

Queued one by one, an event and the launch after it reach an idle GPU as far apart as the host's calls
are, and the time between the events is partly the host's. In a graph all of them are there before the
first begins.
"""

from collections.abc import Callable
from typing import Any

from gevolve.device.base import Stopped
from gevolve.device.cuda.driver import Driver

EXTERNAL = 1
"""A flag of `cuEventRecordWithFlags`: record when the graph runs, not when it is captured."""


def run(driver: Driver, stream: Any, *steps: Callable[[], None]) -> None:
    """Run what these steps put on the stream, and wait for its end."""
    graph = _captured(driver, stream, *steps)
    try:
        made = driver.call("cuGraphInstantiate", graph, 0)
    finally:
        driver.give_back("cuGraphDestroy", graph)
    try:
        driver.call("cuGraphLaunch", made, stream)
        driver.call("cuStreamSynchronize", stream)
    finally:
        driver.give_back("cuGraphExecDestroy", made)


def _captured(driver: Driver, stream: Any, *steps: Callable[[], None]) -> Any:
    mode = driver.api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    driver.call("cuStreamBeginCapture", stream, mode)
    try:
        for step in steps:
            step()
    except Stopped:
        if not driver.broken:  # the stream must leave its capture
            driver.give_back("cuGraphDestroy", driver.call("cuStreamEndCapture", stream))
        raise
    return driver.call("cuStreamEndCapture", stream)
