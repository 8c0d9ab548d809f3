"""The interface of evaluators: patches go in, evaluations come out in whatever order they finish."""

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from typing import Self

from gevolve.evaluate.protocol import Baseline, NodeStatus
from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.workload.base import Split

__all__ = ["Baseline", "Evaluator", "NodeStatus"]


class Evaluator(ABC):
    """Judges patches, several at a time. It is a context manager that closes itself."""

    @abstractmethod
    def prepare(self, split: Split = "search") -> Baseline:
        """Run the unedited program on a split; raises `GevolveError` if that is not possible."""

    @abstractmethod
    def submit(
        self,
        key: Hashable,
        patch: Patch,
        split: Split = "search",
        *,
        artefact: bytes | None = None,
    ) -> None:
        """Queue a patch; `results` yields its evaluation under this key.

        An `artefact` that another compiler made is judged in place of the patch's own.
        """

    @abstractmethod
    def results(self) -> Iterator[tuple[Hashable, Evaluation]]:
        """Yield evaluations as they finish, in any order, until none is outstanding.

        More patches may be submitted between two results; the same iterator yields them too.
        """

    @property
    def ahead(self) -> int:
        """How many patches should be outstanding: enough to keep it busy, few to wait for at the end."""
        return 3 * len(os.sched_getaffinity(0))

    @property
    def ready(self) -> int:
        """How many results can be had without waiting."""
        return 0

    @property
    def nodes(self) -> list[NodeStatus]:
        """The machines of a cluster and what they have done; none if all is done on this one."""
        return []

    @abstractmethod
    def close(self) -> None:
        """End all processes and drop what is outstanding."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
