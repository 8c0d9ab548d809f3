"""What is tried alone: kinds in turns, and approximations on top that delay nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.search.individual import Individual
from gevolve.search.singles import ON_TOP, Singles

SIZE = 8
EXACT = [Patch.parse(f"{kind} i{n} #1") for n in range(9) for kind in ("hoist", "unroll", "relax")]
LOOSE = [Patch.parse(f"{kind} i{n} #1") for n in range(7) for kind in ("omit", "nearby")]


def one(patch, time):
    return Individual(patch, Evaluation(verdict=Verdict.OK, time=time, error=0.0), time, 0.0)


def slices(patches, pays, **options):
    """All slices, if those that pay are faster than the unedited program."""
    singles = Singles(patches, one(Patch(), 1.0), SIZE, len(EXACT), 0.0, **options)
    found = []
    while asked := list(singles.next(singles.done)):
        singles.tell(asked, [one(patch, 0.9) for patch in asked if patch in pays])
        found.append(asked)
    return found


@given(st.sets(st.sampled_from(EXACT + LOOSE)), st.permutations(EXACT + LOOSE))
def test_approximations_delay_no_others(pays, patches):
    exact = [patch for patch in patches if patch in EXACT]
    alone = slices(exact, pays)
    both = slices(patches, pays, loose=("omit", "nearby"))
    assert [[one for one in found if one in EXACT] for found in both[: len(alone)]] == alone
    assert all(len(found) <= SIZE + SIZE // ON_TOP for found in both)


@given(st.permutations(EXACT + LOOSE))
def test_all_are_tried_in_the_end(patches):
    found = slices(patches, set(patches), loose=("omit", "nearby"))
    assert sorted(map(str, (one for found in found for one in found))) == sorted(map(str, patches))


def test_goes_on_where_it_was():
    first = Singles(EXACT + LOOSE, one(Patch(), 1.0), SIZE, 99, 0.0, loose=("omit", "nearby"))
    first.tell(list(first.next(first.done)), [])
    again = Singles(EXACT + LOOSE, one(Patch(), 1.0), SIZE, 99, 0.0, loose=("omit", "nearby"))
    again.resume(first.record, ())
    assert again.tried == first.tried == SIZE
    assert list(again.next(again.done)) == list(first.next(first.done))
