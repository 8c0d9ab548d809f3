"""Machine code does what its PTX does: outputs of both, bit for bit."""

import re
from contextlib import closing
from functools import cache

import numpy as np
import pytest

from gevolve.device.base import Limits
from gevolve.device.sim import Sim
from gevolve.suite import PAPERS, TUNED
from gevolve.workload.locate import locate
from tests.device.sim.kernels import DTYPES
from tests.device.sim.machine.forms import APPROXIMATE, Form, forms, module, operands

ARCH = "sm_80"
_FREE = re.compile(rb"(?<![.\w])(add|sub|mul)\.((?:ftz\.)?(?:sat\.)?f(?:32|64))\b")


def exact(ptx: bytes) -> bytes:
    """PTX whose products and sums are rounded one by one; else the assembler may fuse two."""
    return _FREE.sub(rb"\1.rn.\2", ptx)


@cache
def built(name: str):
    """A workload of the suite, and the PTX of its unedited source."""
    workload = locate(name)
    return workload, exact(Sim().build(workload.load().text))


def outputs(device: Sim, workload, ptx: bytes, case, **options):
    with closing(device.open(ptx, Limits(), **options)) as gpu:
        return workload.run(gpu, case), gpu.usage()


def same(one, other) -> bool:
    """Bit for bit, but for the payload of what is no number."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    one, other = np.asarray(one), np.asarray(other)
    equal_nan = one.dtype.kind == "f"
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=equal_nan)


def check_suite(name, arch=ARCH):
    workload, ptx = built(name)
    case = workload.case(np.random.default_rng(1), "search")
    want, _ = outputs(Sim(), workload, ptx, case)
    got, _ = outputs(Sim(arch=arch), workload, ptx, case)
    assert same(got, want)


@pytest.mark.parametrize("name", TUNED)
def test_suite(name):
    check_suite(name)


@pytest.mark.parametrize(
    ("name", "arch"),
    [("reduction", "sm_86"), ("reduction", "sm_89"), ("papers/alignment", "sm_90")],
)
def test_later_architectures(name, arch):
    check_suite(name, arch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n in PAPERS if not n.startswith(("papers/svm", "papers/resnet18"))]
)
def test_papers(name):
    check_suite(name)


def results(device: Sim, ptx: bytes, chosen: list[Form]) -> list[np.ndarray]:
    """What each kernel of a module of forms gives."""
    found: list[np.ndarray] = []
    with closing(device.open(ptx, Limits())) as gpu:
        for number, (_, result, kinds) in enumerate(chosen):
            arrays = operands(kinds)
            count = len(arrays[0])
            out = gpu.empty(count, DTYPES[result])
            gpu.launch(f"k{number}", -(-count // 128), 128, out, count, *map(gpu.array, arrays))
            found.append(out.get())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_instructions(arch):
    chosen = forms(arch)
    ptx = module(chosen, arch)
    both = (results(device, ptx, chosen) for device in (Sim(), Sim(arch=arch)))
    wrong: list[str] = []
    for form, one, other in zip(chosen, *both, strict=True):
        want, got = (x.view(np.float16) if form[1] == "f16x2" else x for x in (one, other))
        if not same(got, want):
            unlike = (
                (got != want) & ~(np.isnan(got) & np.isnan(want))
                if got.dtype.kind == "f"
                else got != want
            )
            first = int(np.flatnonzero(unlike)[0])
            given = [x[first // 2 if form[1] == "f16x2" else first] for x in operands(form[2])]
            wrong.append(f"{form[0]} of {given}: {got[first]}, not {want[first]}")
    assert not wrong, "\n".join(wrong)


def test_approximations_keep_to_their_bounds():
    chosen: list[Form] = [(f"{name} %d, %a;", "f32", ("f32",)) for name in APPROXIMATE]
    ptx = module(chosen, ARCH)
    x = np.concatenate([np.linspace(-3.1, 3.1, 4001), np.geomspace(1e-30, 1e30, 501)]).astype(
        np.float32
    )
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64)
        truths = {
            "rcp": 1 / wide, "rsqrt": wide**-0.5, "sqrt": np.sqrt(wide), "ex2": np.exp2(wide),
            "lg2": np.log2(wide), "sin": np.sin(wide), "cos": np.cos(wide), "tanh": np.tanh(wide),
        }  # fmt: skip
    with closing(Sim(arch=ARCH).open(ptx, Limits())) as gpu:
        for number, (name, (relative, absolute)) in enumerate(APPROXIMATE.items()):
            out = gpu.empty(len(x))
            gpu.launch(f"k{number}", -(-len(x) // 128), 128, out, len(x), gpu.array(x))
            truth = truths[name.partition(".")[0]]
            inside = np.abs(x) < 4 if absolute and "lg2" not in name else np.isfinite(truth)
            inside &= (np.abs(truth) < 1e38) & ((np.abs(truth) > 1e-37) | (absolute > 0))
            np.testing.assert_allclose(
                out.get()[inside], truth[inside], rtol=relative, atol=absolute, err_msg=name
            )
