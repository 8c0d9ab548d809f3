"""The least that passes: for any test that more of the same does not break, and for ones that it does."""

from hypothesis import given
from hypothesis import strategies as st

from gevolve.analyze.ddmin import ddmin

sizes = st.integers(1, 40)


def rounds(test):
    asked = []

    def passes(candidates):
        asked.append(candidates)
        return [candidate if test(candidate) else None for candidate in candidates]

    return passes, asked


@given(sizes, st.data())
def test_finds_what_is_needed_and_nothing_else(size, data):
    needed = data.draw(st.sets(st.integers(0, size - 1), min_size=1))
    passes, _ = rounds(lambda c: needed <= set(c))
    assert ddmin(range(size), passes) == sorted(needed)


@given(sizes, st.integers(0, 1 << 30))
def test_without_any_one_item_it_fails(size, salt):
    """Also where a test passes and fails as it likes, as long as the whole passes."""

    def test(candidate):
        return len(candidate) == size or hash((salt, tuple(candidate))) % 3 == 0

    passes, asked = rounds(lambda c: bool(c) and test(c))
    found = ddmin(range(size), passes)
    assert test(found)
    assert all(not test([*found[:n], *found[n + 1 :]]) for n in range(len(found)) if len(found) > 1)
    assert all(candidate for candidates in asked for candidate in candidates), "none is empty"


def test_one_of_fifty_takes_few_questions():
    passes, asked = rounds(lambda c: 17 in c)
    assert ddmin(range(51), passes) == [17]
    assert sum(map(len, asked)) <= 14


def test_what_is_not_needed_of_a_candidate_goes_with_it():
    def passes(candidates):
        return [[n for n in c if n % 7 == 3] if {3, 10} <= set(c) else None for c in candidates]

    assert ddmin(range(30), passes) == [3, 10]


def test_where_all_is_needed_it_takes_few_more_questions_than_items():
    passes, asked = rounds(lambda c: len(c) == 63)
    assert ddmin(range(63), passes) == [*range(63)]
    assert sum(map(len, asked)) <= 2 * 63


def test_where_many_can_go_they_go_together():
    needed = set(range(1, 60, 6))
    passes, asked = rounds(lambda c: needed <= set(c))
    assert ddmin(range(60), passes) == sorted(needed)
    assert sum(map(len, asked)) <= 2 * 60
