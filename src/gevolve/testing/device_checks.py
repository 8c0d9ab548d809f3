"""Checks of what a kernel device must do right; each is a function that takes a device."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Array, Buffer, Device, Gpu, Limits
from gevolve.errors import DeviceError, LaunchError
from gevolve.ir.llvm.source import read

Check = Callable[[Device], None]
CHECKS: dict[str, Check] = {}
"""All checks by name; each takes a device."""
BREAKING: set[str] = set()
"""Checks in which a kernel does what ends the context of a real GPU."""
SHAPE = np.dtype({"names": ["width", "scale", "offset"], "formats": ["i4", "f8", "f4"],
                  "offsets": [0, 8, 16], "itemsize": 24})  # fmt: skip
N = 1000
_artefacts: dict[type[Device], bytes] = {}


def check(function: Check) -> Check:
    """Add a check to the suite."""
    CHECKS[function.__name__] = function
    return function


def breaking(function: Check) -> Check:
    """Add a check that may leave the device unusable in its process."""
    BREAKING.add(function.__name__)
    return check(function)


@cache
def text() -> str:
    """The LLVM-IR of the kernels that the checks launch."""
    return read(Path(__file__).with_name("devices.cu"))


def artefact_of(device: Device) -> bytes:
    """The artefact of those kernels, built once for each kind of device."""
    kind = type(device)
    if kind not in _artefacts:
        _artefacts[kind] = device.build(text())
    return _artefacts[kind]


@contextmanager
def opened(device: Device, limits: Limits | None = None, *, poison: int = 0) -> Generator[Gpu]:
    """The kernels, open on a device."""
    artefact = artefact_of(device)
    device.prepare(artefact, ("saxpy",))
    gpu = device.open(artefact, limits or Limits(), poison=poison)
    try:
        yield gpu
    finally:
        gpu.close()


def data(n: int = N, seed: int = 0) -> Array:
    """Two rows of random numbers."""
    return np.random.default_rng(seed).random((2, n)).astype(np.float32)


def saxpy(gpu: Gpu, n: int = N) -> Buffer:
    """Launch a kernel and check what it computes."""
    x, y = data(n)
    there = gpu.array(y)
    gpu.launch("saxpy", -(-n // 128), 128, 2.0, gpu.array(x), there, n)
    np.testing.assert_array_equal(there.get(), np.float32(2) * x + y)
    return there


@check
def a_launch_computes(device: Device) -> None:
    with opened(device) as gpu:
        saxpy(gpu)


@check
def building_is_repeatable(device: Device) -> None:
    assert device.build(text()) == device.build(text())


@check
def the_device_is_described(device: Device) -> None:
    assert device.name == device.name.strip() != ""
    assert device.models()
    assert all(line and "\n" not in line for _, line in device.models())
    device.prepare(artefact_of(device), ("saxpy",))
    assert device.fingerprint(artefact_of(device)) == device.fingerprint(artefact_of(device))


@check
def use_is_counted(device: Device) -> None:
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
    with opened(device) as gpu:
        saxpy(gpu)
        assert gpu.usage(timed=False).launches == 1


@check
def parameters_of_every_kind_arrive(device: Device) -> None:
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
def pointers_may_point_into_a_buffer(device: Device) -> None:
    x, y = data()
    with opened(device) as gpu:
        there, to = gpu.array(x), gpu.array(y)
        gpu.launch("saxpy", 1, 64, 1.0, there.ptr + 4 * 100, to.ptr + 4 * 200, 64)
        want = y.copy()
        want[200:264] += x[100:164]
        np.testing.assert_array_equal(to.get(), want)


@check
def buffers_hold_what_is_put_in(device: Device) -> None:
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
            gpu.array(np.array([object()]))
        assert len({gpu.empty(3).ptr % 256 for _ in range(5)}) == 1


@check
def poisons_of_empty_memory_disagree(device: Device) -> None:
    """On what a program may hope to find there: zero, or what is far below or above all else."""
    seen: list[int] = []
    for poison in range(device.poisons):
        with opened(device, poison=poison) as gpu:
            there = gpu.empty(N).get()
            assert len(np.unique(there.view(np.uint32))) == 1
            odd = gpu.empty(7, np.uint8).get()
            np.testing.assert_array_equal(odd[:4], there[:1].view(np.uint8))
            seen.append(int(there.view(np.uint32)[0]))
    words = np.array(seen, np.uint32)
    for values, far in ((words.view(np.int32), 1 << 22), (words.view(np.float32), 1e30)):
        assert (values == 0).any()
        assert (values < -far).any()
        assert (values > far).any()
    assert np.isnan(words.view(np.float32)[0])
    with pytest.raises(DeviceError, match="poison"), opened(device, poison=device.poisons):
        pass


@check
def every_run_finds_variables_as_the_source_says(device: Device) -> None:
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
def handles_do_not_disturb_each_other(device: Device) -> None:
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
def several_artefacts_are_open_at_once(device: Device) -> None:
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
def shared_memory_can_be_asked_for(device: Device) -> None:
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
def launches_keep_their_order(device: Device) -> None:
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
def inputs_that_change_are_told(device: Device) -> None:
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


@check
def a_parameter_is_what_the_artefact_chose(device: Device) -> None:
    with opened(device) as gpu:
        assert gpu.parameter("block", 128, 64) == 128
    artefact = device.build(f"{text()}\n!gevolve.chosen.block.64 = !{{}}\n")
    device.prepare(artefact, ("saxpy",))
    gpu: Gpu = device.open(artefact, Limits())
    try:
        assert gpu.parameter("block", 128, 64) == 64
        assert gpu.parameter("other", 3) == 3
        with pytest.raises(LaunchError, match="block is 64, which is none of 128, 256"):
            gpu.parameter("block", 128, 256)
        with pytest.raises(LaunchError, match="at least one value"):
            gpu.parameter("block")
        saxpy(gpu)
    finally:
        gpu.close()
