"""What is done by itself when a search is over: check what it found, and minimise the best of it."""

from gevolve.analyze.minimize import minimise
from gevolve.analyze.session import Session
from gevolve.analyze.validate import check, check_front
from gevolve.run.store import parse_id
from gevolve.run.tally import best_of

SHARE = 10
"""Minimising may ask for one patch for every so many that the search had judged, ..."""
LEAST, MOST = 100, 300
"""... but for this many at least where that is quick, and at most. `gevolve minimize` goes on."""


def conclude(session: Session, *, whole: bool) -> None:
    """Check the front, and if the `whole` search was done minimise its fastest and fastest exact.

    Counted in patches, not in seconds, so that the same search always ends with the same result.
    """
    check_front(session)
    if not whole:
        return
    entries = session.counted.entries()
    best = (best_of(entries, exact=False), best_of(entries, exact=True))
    judged = session.counted.verdicts.total()
    quick = session.evaluator.prepare("search").deterministic
    session.asked, session.limit = 0, max(LEAST if quick else 0, min(MOST, judged // SHARE))
    for id_ in dict.fromkeys(entry.id for entry in best if entry is not None):
        found = minimise(session, session.store.variant(parse_id(id_)))
        if found is not None and found.id != id_:
            check(session, [session.store.variant(parse_id(found.id))], large=True)
