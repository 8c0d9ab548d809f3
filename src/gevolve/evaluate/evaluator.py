"""What every evaluator offers: patches in, evaluations out, in whatever order they finish."""

from collections.abc import Hashable, Iterator
from typing import Protocol, Self

from gevolve.evaluate.protocol import Baseline
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.workload.base import Split

__all__ = ["Baseline", "Evaluator"]


class Evaluator(Protocol):
    """Judges patches, several at a time; also a context manager that closes itself."""

    def prepare(self, split: Split = "search") -> Baseline:
        """Run the unedited program on a split; raises `GevolveError` if that is not possible."""
        ...

    def submit(self, key: Hashable, patch: Patch, split: Split = "search") -> None:
        """Have a patch judged; its evaluation comes out of `results` under this key."""
        ...

    def results(self) -> Iterator[tuple[Hashable, Evaluation]]:
        """Evaluations as they finish, in any order, until none is outstanding.

        Between two of them more may be submitted, which then come out of the same iterator.
        """
        ...

    def close(self) -> None:
        """End all processes; what is outstanding is dropped."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
