"""The tables of GPUs, and occupancy against values computed by hand."""

import numpy as np
import pytest

from gevolve.device.registry import open_device
from gevolve.device.sim.program import load
from gevolve.device.sim.ptx import Instruction
from gevolve.device.sim.timing import gpus, load_gpu, machine, occupancy
from gevolve.device.sim.timing.code import _CLASSES, classify
from gevolve.device.sim.timing.gpu import UNITS, encode
from gevolve.errors import DeviceError, LaunchError
from tests.device.sim.timing.timed import kernel

PTX = ("p100", "titanx", "v100")
MACHINE = tuple(name for name in gpus() if name not in PTX)


def test_the_gpus_with_machine_code_are_those_of_its_assembler():
    assert {load_gpu(name).machine for name in PTX} == {None}
    assert {name: load_gpu(name).machine.arch for name in MACHINE} == {
        "t4": "sm_75", "rtx2080ti": "sm_75", "a100": "sm_80", "rtx3090": "sm_86", "a4000": "sm_86",
        "a6000": "sm_86", "rtx4090": "sm_89", "l4": "sm_89", "h100": "sm_90",
    }  # fmt: skip


@pytest.mark.parametrize("name", gpus())
def test_every_table_is_whole_and_sane(name):
    gpu = load_gpu(name)
    classes = gpu.machine.classes if gpu.machine else gpu.classes
    assert {row.unit for row in classes.values()} <= set(UNITS)
    assert all(
        row.latency >= 2 and row.interval >= 1 and row.slots >= 1 for row in classes.values()
    )
    assert set(gpu.issue.folded) <= set(gpu.classes)
    assert 0 < gpu.dram.efficiency <= 1
    assert gpu.access.queue + gpu.issue.collectors * gpu.issue.schedulers < 128
    assert gpu.limits.threads // 32 // gpu.issue.schedulers <= 64
    assert (encode(gpu)[:2] > 0).all()
    family, other = ("sim", "ptx") if gpu.machine else ("ptx", "sim")
    assert open_device(f"{family}:{name}").name == f"{family}:{name}"
    with pytest.raises(DeviceError, match=f"{family}:{name}"):
        open_device(f"{other}:{name}")


@pytest.mark.parametrize("name", MACHINE)
def test_every_class_of_machine_instruction_has_a_row(name):
    rows = load_gpu(name).machine.classes
    for opcode in (*machine.CLASSES, "BRA", "LDG", "UIADD3", "UNHEARD", "NOVEL"):
        for modifiers in ((), ("F64",)):
            assert machine.classify(opcode, modifiers) in rows


@pytest.mark.parametrize("name", PTX)
def test_every_class_of_instruction_has_a_row(name):
    gpu = load_gpu(name)
    types = ("s32", "u64", "f32", "f64", "f16", "f16x2", "b16", "pred")
    for op in (*_CLASSES, "ld", "st", "atom", "unheard-of"):
        for kind in types:
            assert classify(Instruction(op, (kind,), ())) in gpu.classes


def test_an_unknown_gpu_is_named_with_the_known_ones():
    with pytest.raises(DeviceError, match=r"no GPU 'p10'; use one of a100, a4000"):
        open_device("sim:p10")
    with pytest.raises(DeviceError, match="no GPU"):
        open_device("sim:../gpus/p100")


@pytest.mark.parametrize(
    ("gpu", "threads", "registers", "shared", "blocks", "bound"),
    [
        ("titanx", 256, 32, 0, 8, "threads"),  # 2048 / 256, and 65536 / (32 * 32) = 64 warps
        (
            "titanx",
            256,
            33,
            0,
            6,
            "registers",
        ),  # 40 a thread when rounded: 1280 a warp, 12 * 4 warps
        ("titanx", 256, 64, 0, 4, "registers"),  # 32 warps
        ("titanx", 32, 16, 0, 32, "blocks"),
        ("titanx", 64, 16, 20000, 4, "shared"),  # 98304 / 20224
        ("titanx", 1024, 255, 0, 1, "registers"),  # does not fit at all: spilled until it does
        ("p100", 128, 32, 16384, 4, "shared"),  # 65536 / 16384
        ("t4", 256, 32, 0, 4, "threads"),  # 1024 threads
        ("a100", 128, 32, 31744, 5, "shared"),  # 167936 / (31744 + 1024)
        ("h100", 96, 40, 0, 16, "registers"),  # 1280 a warp: 12 * 4 = 48 warps, 3 a block
    ],
)
def test_occupancy(gpu, threads, registers, shared, blocks, bound):
    held = occupancy(load_gpu(gpu), threads, registers, shared)
    assert (held.blocks, held.bound) == (blocks, bound)
    assert held.warps == blocks * -(-threads // 32)
    assert 0 < held.share <= 1


def test_a_block_that_cannot_fit_is_refused():
    with pytest.raises(
        LaunchError, match="does not fit NVIDIA Tesla P100, which has 65536; use less"
    ):
        occupancy(load_gpu("p100"), 32, 16, 90000)


def test_classes_follow_the_type():
    def kind(name: str) -> str:
        op, *mods = name.split(".")
        return classify(Instruction(op, tuple(mods), ()))

    assert kind("add.s32") == "add"
    assert kind("add.s64") == "add64"
    assert kind("add.rn.f32") == "float"
    assert kind("fma.rn.f64") == "double"
    assert kind("mul.wide.s32") == "multiply"
    assert kind("div.rn.f32") == "float_divide"
    assert kind("div.s32") == "divide"
    assert kind("rsqrt.approx.f32") == "special"
    assert kind("sqrt.rn.f64") == "double_divide"
    assert kind("min.f32") == "float_extreme"
    assert kind("cvt.rn.f64.s32") == "convert64"
    assert kind("ld.param.u64") == "parameter"
    assert kind("ld.global.nc.f32") == "memory"
    assert kind("fma.rn.f16x2") == "half"


def test_tables_encode_as_integers():
    assert encode(load_gpu("titanx")).dtype == np.int32


def registers(body: str) -> int:
    return load(kernel(body)).code("k").need


def test_registers_come_from_values_that_live_at_once():
    def sums(count: int) -> str:
        values = "".join(f"ld.global.f32 %f{i}, [%a+{4 * i}];" for i in range(count))
        total = "".join(f"add.f32 %f15, %f15, %f{i};" for i in range(count))
        return f"{values} mov.f32 %f15, 0f00000000; {total} st.global.f32 [%b], %f15;"

    assert registers(sums(8)) - registers(sums(4)) == 4
    assert registers(sums(12)) - registers(sums(8)) == 4


def test_wide_values_take_two_registers_and_parameters_none():
    used = "ld.global.u64 %w1, [%a]; ld.global.u64 %w2, [%a+8]; add.s64 %w3, %w1, %w2; st.global.u64 [%b], %w3;"
    narrow = used.replace("u64", "u32").replace("add.s64", "add.s32").replace("%w", "%x")
    assert registers(used) - registers(narrow) == 2
    assert registers("st.global.u32 [%b], %n;") == registers("")
