"""What is done by itself when a search is over: check what it found, minimize the best."""

from gevolve.analyze.cost import keep_costs
from gevolve.analyze.minimize import minimize_variant
from gevolve.analyze.refit import refit_front
from gevolve.analyze.session import Session
from gevolve.analyze.validate import check, check_front
from gevolve.run.summary import best_of

SHARE = 10
"""Minimizing may ask for one patch for every so many that the search had judged, ..."""
LEAST, MOST = 200, 300
"""... but for this many at least where that is quick, and at most. `gevolve minimize` goes on."""


def conclude(session: Session, *, whole: bool) -> None:
    """Check the front, and if the `whole` search was done minimize its fastest and fastest exact.

    Counted in patches, not in seconds, so that the same search always ends with the same result.
    """
    refit_front(session)
    check_front(session)
    if not whole:
        return
    measured = session.standings.measured()
    best = (best_of(measured, exact=False), best_of(measured, exact=True))
    judged = session.standings.verdicts.total()
    unedited = session.evaluator.prepare("search")
    quick = unedited.deterministic and not unedited.modelled
    session.asked, session.limit = 0, max(LEAST if quick else 0, min(MOST, judged // SHARE))
    for id_ in dict.fromkeys(one.id for one in best if one is not None):
        found = minimize_variant(session, session.run.variant(id_))
        if found is not None and found.id != id_:
            check(session, [session.run.variant(found.id)], large=True)
    session.say("working out where the time goes")
    keep_costs(session.run)
