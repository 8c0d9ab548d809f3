"""Costs in a terminal: all kernels, also those that only the variant has, and sums by kind of layer."""

from rich.console import Console

from gevolve.analyze.cost import Costs
from gevolve.device.cost import KernelCost
from gevolve.report.costs import render


def shown(before, after):
    costs = Costs(
        variant="v7",
        device="iree:a100",
        before={name: KernelCost(launches=1, cycles=cycles) for name, cycles in before.items()},
        after={name: KernelCost(launches=1, cycles=cycles) for name, cycles in after.items()},
    )
    return printed(costs)


def printed(costs):
    console = Console(width=120)
    with console.capture() as capture:
        console.print(render(costs))
    return [" ".join(line.split()) for line in capture.get().splitlines() if line.strip()]


def test_kernels_of_a_model_are_summed_by_kind_of_layer():
    one, two, new = (f"matmul_{n}x8_f32_0123456789a{n}" for n in "123")
    rest = "slow_memcpy_0123456789ab"
    lines = shown({one: 100.0, two: 50.0, rest: 10.0}, {one: 80.0, new: 60.0, rest: 10.0})
    assert "matmul 150 140 -10 93%" in lines
    assert "slow_memcpy 10 10 +0 7%" in lines
    assert f"{one} 100 80 -20 53%" in lines
    assert f"{two} 50 0 -50 0%" in lines
    assert f"{new} 0 60 +60 40%" in lines
    assert lines.index("matmul 150 140 -10 93%") < lines.index(f"{one} 100 80 -20 53%")


def test_costs_of_a_model_are_summed_by_layer():
    def cost(**layers):
        lines = {f"{name} net.py:7": {"memory": cycles} for name, cycles in layers.items()}
        return KernelCost(launches=1, cycles=sum(layers.values()), lines=lines)

    first, second = "matmul_1x8_f32_0123456789a1", "slow_memcpy_0123456789ab"
    costs = Costs(
        variant="v7",
        device="iree:a100",
        before={first: cost(o3=40.0, o9=40.0), second: cost(o3=10.0)},
        after={first: cost(o3=40.0), second: cost(o3=10.0)},
    )
    lines = printed(costs)
    assert "layer unedited variant change mostly" in lines
    assert "o3 net.py:7 50 50 +0 memory" in lines
    assert "o9 net.py:7 40 0 -40 memory" in lines
    assert not any("source line" in line for line in lines)


def test_one_kernel_needs_no_overview():
    lines = shown({"hotspot": 100.0}, {"hotspot": 90.0})
    assert not any("share" in line or "kind of layer" in line for line in lines)
    assert "all 100 90 -10" in lines


def test_kernels_of_a_source_have_no_kinds_of_layer():
    lines = shown({"first": 100.0, "second": 40.0}, {"first": 90.0, "second": 40.0})
    assert "second 40 40 +0 31%" in lines
    assert not any("kind of layer" in line for line in lines)
