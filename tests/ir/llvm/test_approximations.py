"""Approximations on a kernel that has room for each of them: what passes is close, counted as inexact, and holds."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gevolve
from gevolve.evaluate.pool import Pool
from gevolve.patch import Patch
from gevolve.run.store import Store
from gevolve.search import Settings

TOLERANCE = 0.01


class Rows(gevolve.KernelWorkload):
    source = str(Path(__file__).parent / "rows.cu")

    def case(self, rng, size):
        width = {"search": 100, "held-out": 131, "large": 300}[size] + int(rng.integers(20))
        level = rng.uniform(1, 5, (64, 1))
        values = level * rng.uniform(0.999, 1.001, (64, width))
        faint = rng.uniform(0.01, 0.02, width)
        return gevolve.Case(values=values.astype(np.float32), faint=faint.astype(np.float32))

    def run(self, gpu, case):
        count, width = case.values.shape
        out = gpu.empty(count)
        arrays = gpu.array(case.values), gpu.array(case.faint), out
        gpu.launch("rows", -(-count // 32), 32, *arrays, count, width)
        return out.get()

    def reference(self, case):
        values = case.values.astype(np.float64)
        edge = values[:, :2].sum(axis=1) / 4
        return (values.mean(axis=1) + edge + float(case.faint.max()) ** 2).astype(np.float32)


@cache
def program():
    return Rows().load()


def swept(kind, *words):
    """The edits of a kind that are tried alone and have these words."""
    patches = program().sweep([kind], None)
    return [one for one in patches if set(words) <= {*one[0].args}]


@pytest.fixture(scope="module")
def pool():
    with Pool(Rows(), device="sim", tolerance=TOLERANCE, patience=60.0) as opened:
        opened.prepare("search")
        yield opened


def judged(pool, patches, split="search"):
    pool.prepare(split)
    for patch in patches:
        pool.submit(str(patch), patch, split)
    return dict(pool.results())


@pytest.mark.parametrize("split", ["search", "held-out"])
def test_a_shorter_loop_makes_up_for_what_it_leaves_out(pool, split):
    found = judged(pool, swept("shorten", "scaled"), split)
    unedited = pool.prepare(split).evaluation
    assert len(found) == 7  # one loop has a sum, and is as long as that
    for edit, one in found.items():
        assert one.ok, one.detail
        assert 0 <= one.error < 1e-3  # values differ by a thousandth
        assert one.time < unedited.time or int(edit.split()[2]) > 32  # which is a step or none


def test_a_sum_that_is_not_made_larger_is_too_small(pool):
    scaled = swept("shorten", "8", "scaled")[0]
    plain = Patch.parse(str(scaled).replace("scaled", "plain"))
    assert judged(pool, [plain])[str(plain)].verdict == "wrong"


def test_a_term_is_left_out_if_it_is_small(pool):
    found = judged(pool, swept("omit", "term"))
    close = [one for one in found.values() if one.ok]
    assert close
    assert len(close) < len(found)  # others are large
    assert any(one.error > pool.prepare("search").rounding for one in close)
    first = next(found[str(patch)] for patch in swept("omit", "term") if found[str(patch)].ok)
    assert first.time == min(one.time for one in close)  # it has a loop of its own
    assert first.time < 0.9 * pool.prepare("search").evaluation.time


def test_an_element_stands_for_its_neighbour(pool):
    found = judged(pool, swept("nearby"))
    assert any(one.ok for one in found.values())
    assert all(one.error < 1e-3 for one in found.values() if one.ok)


def test_none_is_drawn_without_a_tolerance():
    kinds = {"perforate", "shorten", "omit", "ignore", "nearby", "fastmath", "quotient"}
    assert set(program().loose_kinds) == kinds
    settings = Settings(rounding=1e-6)
    drawn = settings.drawn_kinds(program().kinds, program().paper_kinds, program().loose_kinds)
    assert kinds.isdisjoint(drawn)


@pytest.mark.slow
def test_a_search_shows_what_a_tolerance_buys_and_calls_it_inexact(tmp_path):
    result = gevolve.optimize(
        Rows(),
        evals=88,
        seed=0,
        workers=1,
        device="sim:t4",
        tolerance=TOLERANCE,
        out=tmp_path / "run",
    )
    exact, best = result.best_exact, result.best
    assert best.interval.high < 1
    assert exact is None or best.ratio < exact.ratio
    assert not best.exact
    assert best.held_out_error <= TOLERANCE
    loose = {*program().loose_kinds}
    with Store.open(result.folder, readonly=True) as store:
        assert any(edit.kind in loose for edit in store.variant(int(best.id[1:])).patch)
    for one in gevolve.summarize(result.folder).front:
        kinds = {edit.kind for edit in Patch.parse(one.patch)}
        assert not (one.exact and kinds & loose)
