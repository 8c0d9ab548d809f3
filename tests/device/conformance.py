"""What every kernel device must do, as checks that take a device; the devices are in `test_conformance`.

``python -m tests.device.conformance cuda:0 CHECK`` runs one of them in a process of its own, which it may break.
"""

import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Limits, Stopped
from gevolve.device.registry import open_device
from gevolve.errors import DeviceError, LaunchError, SourceError
from gevolve.ir.llvm.source import read

CHECKS = {}
BREAKING = set()
"""Checks in which a kernel does what ends the context of a GPU."""
SHAPE = np.dtype({"names": ["width", "scale", "offset"], "formats": ["i4", "f8", "f4"],
                  "offsets": [0, 8, 16], "itemsize": 24})  # fmt: skip
N = 1000


def check(function):
    CHECKS[function.__name__] = function
    return function


def breaking(function):
    BREAKING.add(function.__name__)
    return check(function)


@cache
def text():
    return read(Path(__file__).with_name("conformance.cu"))


@cache
def _built(kind):
    return kind().build(text())


@contextmanager
def opened(device, limits=None, **how):
    artefact = _built(type(device))
    device.prepare(artefact, ("saxpy",))
    gpu = device.open(artefact, limits or Limits(), **how)
    try:
        yield gpu
    finally:
        gpu.close()


def data(n=N, seed=0):
    return np.random.default_rng(seed).random((2, n)).astype(np.float32)


def saxpy(gpu, n=N):
    x, y = data(n)
    there = gpu.array(y)
    gpu.launch("saxpy", -(-n // 128), 128, 2.0, gpu.array(x), there, n)
    np.testing.assert_array_equal(there.get(), np.float32(2) * x + y)
    return there


# --- what is right ---------------------------------------------------------------------------------


@check
def a_launch_computes(device):
    with opened(device) as gpu:
        saxpy(gpu)


@check
def building_is_repeatable(device):
    assert device.build(text()) == device.build(text())


@check
def the_family_is_told(device):
    assert device.name.partition(":")[0] in {"sim", "cuda"}
    assert device.fingerprint(_built(type(device))) == ""


@check
def use_is_counted(device):
    with opened(device) as gpu:
        assert gpu.usage().time == 0
        saxpy(gpu)
        once = gpu.usage()
        saxpy(gpu)
        twice = gpu.usage()
    assert (once.launches, twice.launches) == (1, 2)
    assert once.memory == 2 * N * 4
    assert twice.memory == 4 * N * 4
    assert once.kernels == twice.kernels == ("saxpy",)
    assert 0 < once.time < twice.time
    assert once.changed == (0,)
    assert twice.changed == (0, 2)
    assert gpu_time_is_left_out(device)


def gpu_time_is_left_out(device):
    with opened(device) as gpu:
        saxpy(gpu)
        return gpu.usage(timed=False).launches == 1


@check
def parameters_of_every_kind_arrive(device):
    width, height = 20, 3
    values = data(width * height)[0].reshape(height, width)
    with opened(device) as gpu:
        out = gpu.empty((height, width))
        shape = np.array((width, 2.0, 0.5), SHAPE)
        gpu.launch(
            "scaled", (3, 3), (8, 1), shape, gpu.array(values), out, 200, -(1 << 20), 0.25, True
        )
        want = values * np.float32(2) + np.float32(0.5) + 200 - (1 << 20) + np.float32(0.25)
        np.testing.assert_allclose(out.get(), want, rtol=1e-6)


@check
def pointers_may_point_into_a_buffer(device):
    x, y = data()
    with opened(device) as gpu:
        there, to = gpu.array(x), gpu.array(y)
        gpu.launch("saxpy", 1, 64, 1.0, there.ptr + 4 * 100, to.ptr + 4 * 200, 64)
        want = y.copy()
        want[200:264] += x[100:164]
        np.testing.assert_array_equal(to.get(), want)


@check
def buffers_hold_what_is_put_in(device):
    with opened(device) as gpu:
        for array in (np.arange(7, dtype=np.int8), np.array(3.5), np.zeros((0, 3)),
                      np.arange(12, dtype=np.uint64).reshape(3, 4).T):  # fmt: skip
            there = gpu.array(array)
            assert (there.shape, there.dtype, there.nbytes) == (
                array.shape,
                array.dtype,
                array.nbytes,
            )
            np.testing.assert_array_equal(there.get(), array)
        zeros = gpu.zeros((3, 5), np.int16)
        assert not zeros.get().any()
        zeros.fill(-4)
        assert (zeros.get() == -4).all()
        zeros.set(np.ones((3, 5)))
        assert (zeros.get() == 1).all()
        with pytest.raises(LaunchError, match="shape"):
            zeros.set(np.ones(15))
        with pytest.raises(LaunchError, match="cannot hold"):
            gpu.array([object()])
        assert len({gpu.empty(3).ptr % 256 for _ in range(5)}) == 1


@check
def empty_memory_is_poisoned_in_two_ways(device):
    seen = []
    for poison in (0, 1):
        with opened(device, poison=poison) as gpu:
            there = gpu.empty(N).get()
            assert len(np.unique(there.view(np.uint32))) == 1
            odd = gpu.empty(7, np.uint8).get()
            np.testing.assert_array_equal(odd[:4], there[:1].view(np.uint8))
            seen.append(int(there.view(np.uint32)[0]))
    assert len(set(seen)) == 2
    assert np.isnan(np.array(seen[0], np.uint32).view(np.float32))
    with pytest.raises(DeviceError, match="poison"), opened(device, poison=2):
        pass


@check
def every_run_finds_variables_as_the_source_says(device):
    for start in (7, 7):
        with opened(device) as gpu:
            out = gpu.empty(8)
            assert gpu.symbol("visits", np.int32).get()[0] == start
            gpu.launch("counts", 2, 8, out)
            np.testing.assert_array_equal(out.get(), [1, 2, 3, 4, 1, 2, 3, 4])
            assert gpu.symbol("visits", np.int32).get()[0] == start + 16
            gpu.symbol("weights", np.float32).set([5, 6, 7, 8])
            gpu.launch("counts", 1, 8, out)
            np.testing.assert_array_equal(out.get(), [5, 6, 7, 8, 5, 6, 7, 8])


@check
def handles_do_not_disturb_each_other(device):
    with opened(device) as one, opened(device, poison=1) as other:
        first, second = one.zeros(8), other.zeros(8)
        one.launch("writes_at", 1, 1, first, 3)
        one.launch("counts", 1, 8, one.empty(8))
        assert not second.get().any()
        assert first.get()[3] == 1
        assert other.symbol("visits", np.int32).get()[0] == 7
        other.launch("writes_at", 1, 1, second, 4)
        assert (one.usage().launches, other.usage().launches) == (2, 1)


@check
def several_artefacts_are_open_at_once(device):
    others = [
        device.build(text().replace("0x3FE0000000000000", f"0x3FE{n}000000000000"))
        for n in range(4)
    ]
    handles = [device.open(artefact, Limits()) for artefact in others]
    for handle in handles * 2:
        saxpy(handle)
    for handle in handles:
        assert handle.usage().launches == 2
        handle.close()


@check
def shared_memory_can_be_asked_for(device):
    values = np.arange(256, dtype=np.int32)
    with opened(device) as gpu:
        out = gpu.empty(256, np.int32)
        gpu.launch("reversed", 1, 256, gpu.array(values), out, shared=1024)
        np.testing.assert_array_equal(out.get(), values[::-1])
        for kilobytes in (16, 64, 48, 64):
            gpu.launch("last_of", 1, 32, out, kilobytes << 8, shared=kilobytes << 10)
            assert out.get()[0] == (kilobytes << 8) - 1
        with pytest.raises(LaunchError, match="shared memory; the most is"):
            gpu.launch("last_of", 1, 32, out, 1, shared=1 << 20)


@check
def launches_keep_their_order(device):
    x, y = data()
    with opened(device) as gpu:
        there, to = gpu.array(x), gpu.array(y)
        for _ in range(150):
            gpu.launch("saxpy", 8, 128, 1.0, there, to, N)
        there.fill(0)
        gpu.launch("saxpy", 8, 128, 1.0, there, to, N)
        want = y.copy()
        for _ in range(150):
            want += x
        np.testing.assert_array_equal(to.get(), want)
        assert gpu.usage().launches == 151


@check
def inputs_that_change_are_told(device):
    x, y = data()
    with opened(device) as gpu:
        a, b, c = gpu.array(x), gpu.array(y), gpu.array(y)
        gpu.launch("saxpy", 8, 128, 1.0, a, b, N)
        assert gpu.usage().changed == (1,)
        c.set(x)
        b.set(x)
        assert gpu.usage().changed == ()
        gpu.launch("writes_at", 1, 1, c, 0)
        c.free()
        a.free()
        assert gpu.usage().changed == (2,)


# --- what is refused -------------------------------------------------------------------------------


@check
def launches_that_cannot_be_made_are_refused(device):
    x, _ = data()
    with opened(device) as gpu:
        there = gpu.array(x)
        bad = {
            "no kernel 'saxp'; .*did you mean saxpy": ("saxp", 1, 1, 1.0, there, there, N),
            "takes 4 arguments, 3": ("saxpy", 1, 1, 1.0, there, there),
            "sizes from 1": ("saxpy", 0, 1, 1.0, there, there, N),
            "whole numbers": ("saxpy", 1.5, 1, 1.0, there, there, N),
            "one to three": ("saxpy", (1, 1, 1, 1), 1, 1.0, there, there, N),
            "block of 2048 threads": ("saxpy", 1, (1024, 2), 1.0, there, there, N),
            "takes 4 bytes": ("saxpy", 1, 1, there, there, there, N),
            "does not fit": ("saxpy", 1, 1, 1.0, there, there, 1 << 40),
        }
        for message, launch in bad.items():
            with pytest.raises(LaunchError, match=message):
                gpu.launch(*launch)
        with pytest.raises((LaunchError, Stopped), match="block of 65 threads"):
            gpu.launch("small", 1, 65, gpu.empty(65, np.int32))
        with pytest.raises(LaunchError, match="no variable 'visit'"):
            gpu.symbol("visit")
        with pytest.raises(LaunchError, match="not whole"):
            gpu.symbol("visits", np.complex128)
        assert gpu.usage().launches == 0
        saxpy(gpu)


@check
def what_was_freed_is_gone(device):
    x, _ = data()
    with opened(device) as gpu:
        there = gpu.array(x)
        there.free()
        for use in (there.get, there.free, lambda: there.set(x), lambda: there.fill(0)):
            with pytest.raises(LaunchError, match="freed"):
                use()
        with pytest.raises(LaunchError, match="freed"):
            gpu.launch("saxpy", 1, 1, 1.0, there, there, N)
        with pytest.raises(LaunchError, match="only buffers that were allocated"):
            gpu.symbol("visits").free()
        for _ in range(9):
            gpu.empty(1 << 12).free()
        assert gpu.usage().memory == 1 << 14


@check
def what_was_closed_is_closed(device):
    with opened(device) as gpu:
        there = saxpy(gpu)
    for use in (there.get, lambda: gpu.empty(3), lambda: saxpy(gpu), lambda: there.fill(0)):
        with pytest.raises(LaunchError, match="closed"):
            use()
    gpu.close()


@check
def limits_hold(device):
    with opened(device, Limits(launches=2)) as gpu:
        saxpy(gpu)
        saxpy(gpu)
        with pytest.raises(Stopped) as stopped:
            saxpy(gpu)
        assert stopped.value.verdict == "fuel"
    with opened(device, Limits(memory=1 << 20)) as gpu:
        there = gpu.empty(1 << 18)
        with pytest.raises(Stopped) as stopped:
            gpu.empty(1)
        assert stopped.value.verdict == "memory"
        there.free()
        gpu.empty(1 << 18)


@check
def ptx_that_is_none_is_refused(device):
    good = _built(type(device))
    for bad in (b"no PTX", good.replace(b"add.", b"plus.").replace(b"fma.", b"plus.")):
        with pytest.raises(SourceError) as error:
            _prepared(device, bad)
        assert "\n" not in str(error.value)
    a_launch_computes(device)


@check
def writes_beside_a_buffer_are_found(device):
    for at in (-1, -900, N, N + 5, N + 1000):
        with opened(device) as gpu:
            gpu.zeros(N)
            there = gpu.zeros(N)
            with pytest.raises(Stopped, match=r"buffer \d") as stopped:
                _launched(gpu, "writes_at", there, at)
            assert stopped.value.verdict == "crash"
    with opened(device) as gpu:
        there = gpu.zeros(N)
        with pytest.raises(Stopped, match="buffer 0"):
            _launched(gpu, "writes_at", there, N, then=there.free)
    a_launch_computes(device)


@breaking
def wild_writes_end_the_run(device):
    _ends(device, "writes_at", lambda gpu: (gpu.zeros(N), 1 << 40))


@breaking
def misaligned_writes_end_the_run(device):
    _ends(device, "misaligned", lambda gpu: (gpu.zeros(N),))


@breaking
def traps_end_the_run(device):
    _ends(device, "traps", lambda gpu: (gpu.zeros(N, np.int32),))


def _ends(device, kernel, args):
    with opened(device) as gpu:
        given = args(gpu)
        with pytest.raises(Stopped, match=kernel) as stopped:
            _launched(gpu, kernel, *given, then=given[0].get)
        assert stopped.value.verdict == "crash"
        assert "\n" not in str(stopped.value)


def _prepared(device, artefact):
    device.prepare(artefact, ("saxpy",))
    device.open(artefact, Limits()).close()


def _launched(gpu, kernel, *args, then=None):
    """A device tells of a fault at the launch, or as soon as anyone looks."""
    gpu.launch(kernel, 1, 1, *args)
    (then or gpu.usage)()


if __name__ == "__main__":
    CHECKS[sys.argv[2]](open_device(sys.argv[1]))
