"""What every search algorithm offers, so that a run can use any of them by name.

A search is asked for patches and told what became of them:

    search = Random(problem, settings)
    while budget:
        patches = search.ask()
        search.tell([evaluate(patch) for patch in patches])

It does no I/O and knows neither IR nor device: `Program.propose` draws edits. Everything random comes
from the seed and the state, so that a run which was killed asks for the same patches again.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from gevolve.evaluate.verdict import Evaluation
from gevolve.patch import Patch
from gevolve.program import Profile, Proposer
from gevolve.search.settings import Settings


@dataclass(frozen=True, slots=True)
class Problem:
    """What a search works on."""

    program: Proposer
    """Knows the kinds of edit, and proposes edits of each kind."""
    profile: Profile | None
    """How often each block of the unedited program ran, for `Program.propose`."""
    unedited: Evaluation
    """The unedited program's evaluation."""
    seed: int
    """Where the random numbers start."""


class Search(ABC):
    """A search algorithm. A run saves its `state` after every generation and can go on from there."""

    settings_type: ClassVar[type[Settings]] = Settings
    """The options that a user may set with ``--set``: `Settings`, or a dataclass that extends it."""

    @abstractmethod
    def __init__(self, problem: Problem, settings: Settings) -> None:
        """Start a search; `settings` is an instance of `settings_type`."""

    @abstractmethod
    def ask(self) -> list[Patch]:
        """The patches of the next generation, all new; the same ones until they are told.

        An empty list ends the run: the search has nothing more to try.
        """

    @abstractmethod
    def tell(self, evaluations: Sequence[Evaluation]) -> None:
        """Take the evaluations of the patches that were asked for, in the same order."""

    def strike(self, patch: Patch, error: float = math.inf) -> None:  # noqa: B027  (a search may ignore it: the run does not)
        """Take note that a patch fails on unseen cases, and what builds on it most likely too.

        With an `error` it does not fail, but it is not exact there, as it is on the search's cases. It is called
        between `tell` and the next `ask`. The state must tell of it.
        """

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All that the next `ask` depends on besides the evaluations, as JSON can hold it."""

    @classmethod
    @abstractmethod
    def restore(
        cls,
        problem: Problem,
        settings: Settings,
        state: Mapping[str, Any],
        judged: Iterable[tuple[Patch, Evaluation]],
    ) -> Self:
        """Go on from a state, given all that was told until then, in any order."""

    # --- what a search must offer to be one of several islands

    def emigrants(self, count: int) -> list[tuple[Patch, Evaluation]]:
        """The best that it has, as guests for another search."""
        raise NotImplementedError

    def observe(
        self,
        judged: Iterable[tuple[Patch, Evaluation]],
        guests: Iterable[tuple[Patch, Evaluation]],
    ) -> None:
        """Take note of what others had judged, not to ask for it again, and of guests among it.

        It happens between `tell` and `ask`. What was observed counts as told when it is restored.
        """
        raise NotImplementedError
