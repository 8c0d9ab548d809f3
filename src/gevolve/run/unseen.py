"""Tries every new best on unseen and varied cases while the search goes on, so that no lineage overfits for long.

What fails there is struck together with all that builds on it, from the standings and from the search; what is
exact on the search's cases and not there is no longer called exact, nor is what builds on it. It is done between
generations, in a fixed order, so a run gives the same result with any number of workers and after any interruption:
verdicts that the store has are not asked for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevolve.run.claim import at_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.run.standings import Standings
    from gevolve.search import Search
    from gevolve.search.based import BasedSearch
    from gevolve.workload.base import Split

EARLY: dict[str, Split] = {"unseen": "unseen", "early varied": "varied", "early large": "large"}
"""What a best is tried on, by the name that the store keeps it under: what the end of a search tries is kept
under names of its own, for a search that goes on must not know of it."""
SELDOM = 8
"""The large case takes long: the best is tried there after so many generations, twice as many and so on."""
MOST = 16
"""So often, at most, the next best is tried after one generation."""


def names_now(
    splits: Iterable[str], generations: int, *, compares: bool, failed: Iterable[str] = ()
) -> list[str]:
    """What a best is tried on after so many generations, given where some have `failed`.

    Where errors are of labels, say, varied cases take long and tell little before the end. Where one has failed on the
    large case others will too, so every new best is tried there from then on.
    """
    names = ["unseen", *(["early varied"] if compares else [])]
    due = SELDOM
    while due < generations:
        due *= 2
    large = "large" in splits and (due == generations or "early large" in failed)
    return [*names, "early large"] if large else names


def try_best(
    evaluator: Evaluator,
    standings: Standings,
    search: Search | BasedSearch,
    record: Callable[[int, str, Evaluation], None],
    over: Callable[[], bool],
    *,
    names: Iterable[str] = EARLY,
) -> bool:
    """Try the fastest variant and the fastest exact one, until both pass; returns whether it was done.

    Of one that fails, or is not exact there, the smallest ancestors are tried too: the fault may have come with one
    of them. It is not done if it is `over`: then the generation has to be gone through again.
    """
    for name in names:
        for _ in range(MOST):
            todo = dict([*standings.untried(name), *standings.suspects(name)])
            if not todo:
                break
            if over():
                return False
            for id_, patch in todo.items():
                evaluator.submit(id_, patch, EARLY[name])
            verdicts = dict(evaluator.results())
            for id_ in todo:
                verdict = verdicts[id_]
                if EARLY[name] == "large":
                    verdict = at_size(verdict, evaluator.prepare("large").evaluation)
                record(id_, name, verdict)
                standings.validate(id_, name, verdict)
    for (
        patch,
        error,
    ) in standings.checks.faulty:  # some of it was seen before the run was interrupted
        search.strike(patch, error)
    return True
