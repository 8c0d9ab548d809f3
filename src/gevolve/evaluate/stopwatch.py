"""Where the time of an evaluation goes."""

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager


class Stopwatch:
    """Adds up seconds by stage: ``with stopwatch("build"): ...``."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Generator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.add({stage: time.perf_counter() - began})

    def add(self, seconds: Mapping[str, float]) -> None:
        """Add seconds that another process has measured."""
        for stage, value in seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + value

    def take(self) -> dict[str, float]:
        """The seconds since the last call, which are forgotten."""
        taken, self.seconds = self.seconds, {}
        return taken
