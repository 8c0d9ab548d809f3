"""Edits that a CPU forgives and a GPU would not, in kernels of the suite."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from gevolve.device.base import Hazard
from gevolve.device.sim import Sim
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.verdict import Verdict
from gevolve.evaluate.worker.judge import Fault, check_hazards, check_order
from gevolve.evaluate.worker.trial import Trial
from gevolve.ir.llvm import load
from gevolve.patch import Edit, Patch
from gevolve.program import Program, Variant
from gevolve.workload.base import Case
from gevolve.workload.kernel import KernelWorkload
from gevolve.workload.locate import locate


def race(verb="writes", here="a.cu:1", there="a.cu:2", scope="in a block", kernel="k"):
    return Hazard("race", kernel, (scope, f"{verb} {here}", f"reads {there}"), "a meets b")


def test_hazards_of_the_unedited_program_are_allowed():
    check_hazards([race()], [race()], "case 0")
    check_hazards([race("writes", "?")], [race()], "case 0")
    check_hazards([race()], [race("writes", "?")], "case 0")
    check_hazards([], [race()], "case 0")


@pytest.mark.parametrize(
    "other",
    [
        race(here="a.cu:3"),
        race(verb="updates"),
        race(verb="updates", here="?"),
        race(scope="between blocks"),
        race(kernel="other"),
        Hazard("uninitialised", "k", ("reads a.cu:2",), "a reads"),
    ],
)
def test_others_are_not(other):
    with pytest.raises(Fault, match="case 0: ") as fault:
        check_hazards([race(), other], [race()], "case 0")
    assert fault.value.verdict == other.kind


def test_of_several_hazards_the_one_that_tells_most_is_named():
    left = Hazard("divergent-barrier", "k", ("left", "waits a.cu:9"), "threads leave")
    with pytest.raises(Fault, match="threads leave"):
        check_hazards([race(), left], [], "case 0")


def test_outputs_must_not_depend_on_the_order_of_threads():
    one, two = {"0": np.arange(4)}, {"0": np.array([0, 1, 2, 7])}
    check_order(one, one, "case 0")
    with pytest.raises(Fault, match="1 bytes of output 0") as fault:
        check_order(one, two, "case 0")
    assert fault.value.verdict is Verdict.RACE


@dataclass(frozen=True)
class Alternatives:
    """A program whose patches may also pick one of several texts."""

    program: Program
    texts: dict[str, str]

    def __getattr__(self, name):
        return getattr(self.program, name)

    def apply(self, patch):
        if patch and patch[0].kind == "form":
            return Variant(patch, self.texts[patch[0].args[0]])
        return self.program.apply(patch)


TRIALS = []


@pytest.fixture(autouse=True, scope="module")
def children_end():
    yield
    for judge in TRIALS:
        judge.end_child()


@cache
def trial(name):
    workload = locate(f"tuned/{name}")
    program = Alternatives(workload.load(), {})
    bench = Problem(workload, program, Sim(), workload.cases("search"))
    TRIALS.append(Trial(bench, "search", tolerance=None, patience=20.0))
    return TRIALS[-1], program, workload


FORGIVEN = {
    "all warps write the sum": (
        *("reduction", "if (warp == 0) {", "{"),
        *("race", "reduction.cu:42 writes what reduction.cu:42 writes too"),
    ),
    "blocks add without atomics": (
        *("histogram", "atomicAdd(&counts[bin], total)", "counts[bin] += total"),
        *("race", "histogram.cu:50 writes what histogram.cu:50 reads in another block"),
    ),
    "the last barrier only for some": (
        *(
            "hotspot",
            "        }\n        __syncthreads();\n    }",
            "        __syncthreads();}\n\n    }",
        ),
        *("divergent-barrier", "hotspot.cu:53"),
    ),
}


@pytest.mark.parametrize("edit", FORGIVEN)
def test_right_outputs_are_not_enough(edit, tmp_path):
    name, old, new, verdict, detail = FORGIVEN[edit]
    judge, program, workload = trial(name)
    text = workload.path().read_text()
    assert old in text
    path = tmp_path / workload.source
    path.write_text(text.replace(old, new, 1))
    program.texts[edit] = load(path).text
    got = judge.evaluate(Patch((Edit("form", (edit,), 0),)), {})
    assert got.verdict == verdict, got.detail
    assert detail in got.detail


def test_what_nothing_has_written_may_be_read_and_thrown_away(tmp_path):
    """Cells outside are computed, from shared memory that was not filled, and nobody looks at them."""
    judge, program, workload = trial("hotspot")
    path = tmp_path / workload.source
    text = workload.path().read_text()
    assert "const bool right = inside &&" in text
    path.write_text(text.replace("const bool right = inside &&", "const bool right =", 1))
    program.texts["outside"] = load(path).text
    got = judge.evaluate(Patch((Edit("form", ("outside",), 0),)), {})
    assert got.ok, got.detail
    assert got.seconds["check"] > 0


@pytest.mark.parametrize("name", ["hotspot", "pathfinder", "gemm", "reduction", "histogram"])
def test_every_barrier_of_the_suite_is_missed(name):
    judge, program, workload = trial(name)
    index, device, case = program._index, Sim(), workload.cases("search")[0]
    barriers = [i for i, instr in index.instr.items() if "barrier.cta.sync" in instr.text]
    assert barriers
    for barrier in barriers:
        patch = Patch((Edit("delete", (barrier,), 1),))
        assert not judge.evaluate(patch, {}).ok
        # Whatever came out, the race is seen.
        gpu = device.open(device.build(program.apply(patch).text), check="hazards")
        workload.run(gpu, case)
        with pytest.raises(Fault, match=rf"{name}\.cu:\d+ (writes|updates) what") as fault:
            check_hazards(gpu.usage().hazards, (), "case 0")
        assert fault.value.verdict is Verdict.RACE
        gpu.close()


def test_the_suite_itself_has_no_hazards():
    for name in ("hotspot", "pathfinder", "gemm", "reduction", "histogram", "bfs"):
        judge, _, _ = trial(name)
        checks = judge._unedited.checks.by_name
        assert list(checks) == list(Sim().checks)
        assert all(check.exact for check in checks.values())
        assert not checks["hazards"].hazards


class Small(KernelWorkload):
    """One launch of one block on an array."""

    source = "small.cu"
    search_cases = 1

    def __init__(self, path):
        self._path = path

    def path(self):
        return self._path

    def case(self, rng, size):
        return Case(values=rng.random(64, np.float32))

    def run(self, gpu, case):
        out = gpu.zeros(64, np.float32)
        gpu.launch("kernel", 1, 64, gpu.array(case.values), out)
        return out.get()


def trial_of(body, folder):
    path = folder / "small.cu"
    path.write_text(
        'extern "C" __global__ void kernel(const float *in, float *out)\n'
        "{ __shared__ volatile float tile[64]; int t = threadIdx.x;" + body + "}"
    )
    workload = Small(path)
    bench = Problem(workload, workload.load(), Sim(), workload.cases("search"))
    judge = Trial(bench, "search", tolerance=None, patience=20.0)
    judge.end_child()
    assert judge.baseline.evaluation.ok
    return judge


def checks_of(body, folder):
    return trial_of(body, folder)._unedited.checks.by_name


def test_rounding_may_depend_on_the_order_if_the_original_does(tmp_path):
    checks = checks_of("atomicAdd(out, in[t]);", tmp_path)
    assert list(checks) == list(Sim().checks)
    assert checks["forward"].exact
    assert not checks["backward"].exact


def test_an_order_that_the_original_cannot_stand_is_left_out_and_said_to_be(tmp_path):
    judge = trial_of("tile[t] = in[t]; out[t] = tile[t ^ 1];", tmp_path)
    checks = judge._unedited.checks.by_name
    assert list(checks) == ["hazards", "values"]
    assert checks["hazards"].hazards == ()
    assert list(judge.baseline.unchecked) == list(Sim().checks[2:])
    assert "fails it itself (" in judge.baseline.unchecked["forward"]


def test_a_hazard_that_the_original_has_is_said_to_be_unchecked(tmp_path):
    judge = trial_of("out[t % 2] = in[t];", tmp_path)
    assert "itself has" in judge.baseline.unchecked["hazards"]
    assert "small.cu:" in judge.baseline.unchecked["hazards"]
    judge, _, _ = trial("hotspot")
    assert judge.baseline.unchecked == {}


def test_lanes_that_wait_for_each_other_need_no_order(tmp_path):
    spin = "if (t == 0) { while (tile[0] == 0) {} out[0] = 2; } if (t == 31) tile[0] = 1;"
    checks = checks_of("if (t < 2) tile[t] = 0; __syncthreads();" + spin, tmp_path)
    assert list(checks) == list(Sim().checks)


def test_all_but_the_first_check_are_for_variants_that_are_faster():
    judge, _, _ = trial("reduction")
    first, *others = (n for n in judge._unedited.checks.by_name if n not in Sim.on_doubt)
    assert not judge._unedited.checks.skips(first, 100.0, 100.0)
    assert all(judge._unedited.checks.skips(name, 100.0, 100.0) for name in others)
    assert not any(judge._unedited.checks.skips(name, 99.0, 100.0) for name in others)


def test_what_values_do_is_looked_at_if_there_is_doubt():
    judge, _, _ = trial("reduction")
    checks = judge._unedited.checks
    assert checks.skips("values", 99.0, 100.0)
    assert not checks.skips("values", 100.0, 100.0, {"values"})
    blind = replace(checks, cases=({"values": checks.by_name["values"]},))
    assert not blind.skips("values", 99.0, 100.0), "nothing can tell whether there is doubt"
