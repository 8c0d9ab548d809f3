"""Checks of what a kernel device must refuse, limit or detect; each is a function that takes a device."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gevolve.device.base import Device, Gpu, Limits, Stopped
from gevolve.errors import LaunchError, SourceError
from gevolve.testing.device_checks import (
    N,
    a_launch_computes,
    artefact_of,
    breaking,
    check,
    data,
    opened,
    saxpy,
)


@check
def launches_that_cannot_be_made_are_refused(device: Device) -> None:
    x, _ = data()
    with opened(device) as gpu:
        there = gpu.array(x)
        bad: dict[str, tuple[Any, ...]] = {
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
def what_was_freed_is_gone(device: Device) -> None:
    x, _ = data()
    with opened(device) as gpu:
        there = gpu.array(x)
        there.free()
        uses: list[Callable[[], object]] = [there.get, there.free]
        uses += [lambda: there.set(x), lambda: there.fill(0)]
        for use in uses:
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
def what_was_closed_is_closed(device: Device) -> None:
    with opened(device) as gpu:
        there = saxpy(gpu)
    uses: list[Callable[[], object]] = [there.get, lambda: gpu.empty(3)]
    uses += [lambda: saxpy(gpu), lambda: there.fill(0)]
    for use in uses:
        with pytest.raises(LaunchError, match="closed"):
            use()
    gpu.close()


@check
def limits_hold(device: Device) -> None:
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
def ptx_that_is_none_is_refused(device: Device) -> None:
    good = artefact_of(device)
    for bad in (b"no PTX", good.replace(b"add.", b"plus.").replace(b"fma.", b"plus.")):
        with pytest.raises(SourceError) as error:
            _prepared(device, bad)
        assert "\n" not in str(error.value)
    a_launch_computes(device)


@check
def writes_beside_a_buffer_are_found(device: Device) -> None:
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
def wild_writes_end_the_run(device: Device) -> None:
    _ends(device, "writes_at", lambda gpu: (gpu.zeros(N), 1 << 40))


@breaking
def misaligned_writes_end_the_run(device: Device) -> None:
    _ends(device, "misaligned", lambda gpu: (gpu.zeros(N),))


@breaking
def traps_end_the_run(device: Device) -> None:
    _ends(device, "traps", lambda gpu: (gpu.zeros(N, np.int32),))


def _ends(device: Device, kernel: str, args: Callable[[Gpu], tuple[Any, ...]]) -> None:
    with opened(device) as gpu:
        given = args(gpu)
        with pytest.raises(Stopped, match=kernel) as stopped:
            _launched(gpu, kernel, *given, then=given[0].get)
        assert stopped.value.verdict == "crash"
        assert "\n" not in str(stopped.value)


def _prepared(device: Device, artefact: bytes) -> None:
    device.prepare(artefact, ("saxpy",))
    device.open(artefact, Limits()).close()


def _launched(gpu: Gpu, kernel: str, *args: Any, then: Callable[[], object] | None = None) -> None:
    """Launch a faulty kernel; a device reports it at once, or at the next use."""
    gpu.launch(kernel, 1, 1, *args)
    (then or gpu.usage)()
