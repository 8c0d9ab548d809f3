import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.search import nsga2

# A coarse grid, so that equal coordinates and equal points are common.
values = st.integers(0, 6).map(float)
point_lists = st.lists(st.tuples(values, values), min_size=1, max_size=24)


def dominates(a, b):
    return a[0] <= b[0] and a[1] <= b[1] and a != b


def brute_ranks(points):
    left, rank, result = set(range(len(points))), 0, {}
    while left:
        layer = {
            i for i in left if not any(dominates(points[j], points[i]) for j in left if j != i)
        }
        result.update(dict.fromkeys(layer, rank))
        left -= layer
        rank += 1
    return [result[i] for i in range(len(points))]


@given(point_lists)
def test_ranks_are_those_of_the_definition(points):
    assert nsga2.ranks(np.array(points)).tolist() == brute_ranks(points)


@given(point_lists)
def test_order_is_a_permutation_by_rank_that_starts_with_the_extremes(points):
    order = nsga2.order(np.array(points))
    assert sorted(order) == list(range(len(points)))
    ranks = brute_ranks(points)
    assert [ranks[i] for i in order] == sorted(ranks)
    best = {points[i] for i in order[:2]}
    front = [p for p, rank in zip(points, ranks, strict=True) if rank == 0]
    assert min(front) in best  # the fastest
    assert min(front, key=lambda p: (p[1], p[0])) in best  # the most exact


def test_crowding_prefers_the_lonely_and_the_ends():
    points = np.array([(0.0, 10.0), (1.0, 9.0), (2.0, 8.0), (10.0, 0.0), (1.0, 9.0)])
    crowding = nsga2.crowding(points)
    assert crowding[0] == crowding[3] == np.inf
    assert crowding[2] == pytest.approx(0.9 + 0.9)
    assert crowding[1] == pytest.approx(0.2 + 0.2)
    assert crowding[4] == 0, "a repeat counts for nothing"


def test_crowding_of_one_point_that_is_there_many_times():
    assert nsga2.crowding(np.ones((4, 2))).tolist() == [np.inf, 0, 0, 0]


def test_nothing_to_order():
    assert nsga2.order(np.zeros((0, 2))) == []
    assert nsga2.hypervolume(np.zeros((0, 2))) == 0


@given(st.integers(1, 30), st.integers(0, 1000))
def test_a_tournament_is_between_members(size, seed):
    assert 0 <= nsga2.tournament(size, np.random.default_rng(seed)) < size


def test_a_tournament_favours_the_first():
    rng = np.random.default_rng(0)
    winners = [nsga2.tournament(10, rng) for _ in range(2000)]
    assert np.mean(np.array(winners) < 5) == pytest.approx(0.75, abs=0.04)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=12))
def test_hypervolume_is_the_area_of_the_cells_dominated(cells):
    points = np.array(cells) / 10
    inside = sum(any(x <= i and y <= j for x, y in cells) for i in range(10) for j in range(10))
    assert nsga2.hypervolume(points) == pytest.approx(inside / 100)
