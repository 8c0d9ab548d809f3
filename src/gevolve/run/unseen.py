"""Tries every new best on a few unseen cases while the search goes on, so that no lineage overfits for long.

What fails there is struck together with all that builds on it, from the standings and from the search. It is
done between generations, in a fixed order, so a run gives the same result with any number of workers and after
any interruption: verdicts that the store has are not asked for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gevolve.evaluate.evaluator import Evaluator
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.run.standings import Standings
    from gevolve.search import Search
    from gevolve.workload.base import Split

UNSEEN: Split = "unseen"
MOST = 16
"""So often, at most, the next best is tried after one generation."""


def try_best(
    evaluator: Evaluator,
    standings: Standings,
    search: Search,
    record: Callable[[int, Evaluation], None],
    over: Callable[[], bool],
) -> bool:
    """Try the fastest variant and the fastest exact one, until both pass; returns whether it was done.

    Of one that fails the smallest ancestor is tried too: the fault may have come with that. It is not done
    if it is `over`: then the generation has to be gone through again.
    """
    for _ in range(MOST):
        todo = dict([*standings.untried(UNSEEN), *standings.suspects(UNSEEN)])
        if not todo:
            break
        if over():
            return False
        for id_, patch in todo.items():
            evaluator.submit(id_, patch, UNSEEN)
        verdicts = dict(evaluator.results())
        for id_ in todo:
            record(id_, verdicts[id_])
            standings.validate(id_, UNSEEN, verdicts[id_])
    for patch in standings.struck:  # some may have been struck before the run was interrupted
        search.strike(patch)
    return True
