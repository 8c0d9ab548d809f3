"""`cuda` over a double of the driver: what it calls, and what it makes of every way to fail."""

import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gevolve.device.base import Limits, Poisoned, Stopped
from gevolve.device.cuda import Cuda, driver, query
from gevolve.device.registry import open_device, worker_devices
from gevolve.errors import DeviceError, GevolveError, SourceError, UnsupportedError, WorkloadError
from gevolve.testing import device_checks, selfcheck
from tests.device.cuda.double import ANYWHERE, FROM_A_KERNEL, OF_CALL, CUstream, Double, MisuseError
from tests.device.launches import CHECKS

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures").iterdir())


@cache
def saxpy():
    return device_checks.artefact_of(Cuda())


def one_line(error):
    text = str(error)
    assert text
    assert "\n" not in text
    return text


def work(device, artefact=None, *, close=False):
    """One run of a workload that uses all there is."""
    artefact = artefact or saxpy()
    device.prepare(artefact, ("saxpy", "counts"))
    gpu = device.open(artefact, Limits())
    there = device_checks.saxpy(gpu)
    gpu.launch("counts", 1, 8, gpu.empty(8))
    gpu.launch("last_of", 1, 8, gpu.zeros(1, np.int32), 100, shared=64 << 10)
    gpu.symbol("visits", np.int32).get()
    there.free()
    gpu.usage()
    gpu.close()
    if close:
        device.close()


CALLS = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuMemAlloc",
    "cuStreamCreate",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuModuleGetGlobal",
    "cuMemcpyDtoH",
    "cuMemsetD8",
    "cuMemsetD32",
    "cuMemcpyHtoD",
    "cuEventCreate",
    "cuStreamBeginCapture",
    "cuEventRecordWithFlags",
    "cuLaunchKernel",
    "cuStreamEndCapture",
    "cuGraphInstantiate",
    "cuGraphDestroy",
    "cuGraphLaunch",
    "cuStreamSynchronize",
    "cuGraphExecDestroy",
    "cuEventElapsedTime",
    "cuFuncSetAttribute",
    "cuMemFree",
    "cuEventDestroy",
    "cuModuleUnload",
    "cuStreamDestroy",
    "cuDevicePrimaryCtxRelease",
]


def test_these_are_the_calls_of_a_run():
    double = Double()
    device = Cuda("0", double)
    work(device)
    device.close()
    assert list(dict.fromkeys(double.calls)) == CALLS


# --- a run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [p for p in FIXTURES if p.stem != "big"], ids=lambda path: path.name
)
def test_kernels_of_nvcc_run_as_numpy_says(path):
    double = Double(sm=90)
    device = Cuda("0", double)
    gpu = device.open(path.read_bytes(), Limits())
    CHECKS[path.stem](gpu)
    gpu.usage()
    gpu.close()
    device.close()
    assert double.leaks() == []


def test_building_touches_no_driver():
    double = Double()
    Cuda("0", double).build(device_checks.text())
    assert double.calls == []


def test_the_l2_cache_is_flushed_before_anything_is_uploaded():
    double = Double(l2=3 << 20)
    device = Cuda("0", double)
    gpu = device.open(saxpy(), Limits())
    assert double.calls[-1] == "cuMemsetD8"
    device_checks.saxpy(gpu)
    assert double.calls.count("cuMemsetD8") == 1
    gpu.close()
    device.close()


def test_launches_run_as_one_graph_when_the_host_wants_to_see_something():
    double = Double()
    device = Cuda("0", double)
    gpu = device.open(saxpy(), Limits())
    x = gpu.array(np.ones(8, np.float32))
    began = len(double.calls)
    for _ in range(2):
        gpu.launch("saxpy", 1, 8, 1.0, x, x, 8)
    assert set(double.calls[began:]) <= {
        "cuEventCreate",
        "cuModuleGetFunction",
        "cuFuncGetAttribute",
    }
    began = len(double.calls)
    np.testing.assert_array_equal(x.get(), 4)
    assert double.calls[began:] == [
        "cuStreamBeginCapture",
        *("cuEventRecordWithFlags", "cuLaunchKernel", "cuEventRecordWithFlags") * 2,
        *("cuStreamEndCapture", "cuGraphInstantiate", "cuGraphDestroy"),
        *("cuGraphLaunch", "cuStreamSynchronize", "cuGraphExecDestroy"),
        *("cuEventElapsedTime",) * 2,
        "cuMemcpyDtoH",
    ]
    gpu.launch("saxpy", 1, 8, 1.0, x, x, 8)
    x.set(np.zeros(8, np.float32))  # after the launch, as it was written
    np.testing.assert_array_equal(x.get(), 0)
    gpu.close()
    device.close()
    assert double.leaks() == []


def test_what_is_loaded_is_our_own_machine_code_for_this_gpu():
    for sm, kind in ((70, b"\x7fELF"), (80, b"\x7fELF"), (999, b"//")):
        double = Images(sm=sm)
        device = Cuda("0", double)
        work(device)
        assert [image[: len(kind)] for image in double.images] == [kind]
        device.close()


def test_ptx_is_loaded_where_the_driver_does_not_know_our_machine_code():
    double = Images(sm=80)
    double.inject("cuModuleLoadDataEx", "NO_BINARY_FOR_GPU")
    device = Cuda("0", double)
    work(device)
    assert [image[:4] == b"\x7fELF" for image in double.images] == [True, False]
    device.close()
    assert double.leaks() == []


class Images(Double):
    """A double that remembers what it was given to load."""

    def __init__(self, **options):
        super().__init__(**options)
        self.images = []

    def _cuModuleLoadDataEx(self, image, *rest):  # noqa: N802  (the driver's name)
        self.images.append(image)
        return super()._cuModuleLoadDataEx(image, *rest)


def test_variables_have_their_first_values_in_every_run_and_the_module_is_loaded_once():
    double = Double()
    device = Cuda("0", double)
    for _ in range(3):
        gpu = device.open(saxpy(), Limits())
        visits = gpu.symbol("visits", np.int32)
        assert visits.get().tolist() == [7]
        visits.set(np.array([8], np.int32))
        gpu.usage()
        gpu.close()
    assert double.calls.count("cuModuleLoadDataEx") == 1
    device.close()


def test_only_launches_take_time():
    double = Double()
    device = Cuda("0", double)
    gpu = device.open(saxpy(), Limits())
    x = gpu.array(np.ones(4096, np.float32))
    double._clock += 1e9  # copies and host code
    gpu.launch("saxpy", 32, 128, 1.0, x, x, 4096)
    double._clock += 1e9
    assert 0 < gpu.usage().time < 1
    assert gpu.usage(timed=False).time == 0
    gpu.close()
    device.close()


def test_a_variant_and_the_unedited_program_stay_loaded():
    plain = b".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k%d() { ret; }\n"
    variants = [plain % n for n in range(5)]
    double = Double()
    device = Cuda("0", double)
    device.keep(variants[0])

    def turn(artefact):
        device.prepare(artefact, ())
        for which in (artefact, variants[0]) * 3:
            gpu = device.open(which, Limits())
            gpu.launch(f"k{variants.index(which)}", 1, 1)
            gpu.usage()
            gpu.close()

    for variant in variants:
        turn(variant)
    assert double.calls.count("cuModuleLoadDataEx") == len(variants)
    assert len(double._modules) == 2
    device.close()
    assert double.leaks() == []


def test_what_a_failed_run_left_open_is_closed_when_the_next_begins():
    double = Double()
    device = Cuda("0", double)
    device.prepare(saxpy(), ())
    for _ in range(3):
        gpu = device.open(saxpy(), Limits())
        gpu.launch("counts", 1, 8, gpu.empty(1 << 10))
    assert len(double._blocks) == 4
    device.prepare(saxpy().replace(b"visits", b"visitor"), ())
    assert len(double._blocks) == 1
    device.close()
    assert double.leaks() == []


def test_resources_are_told():
    device = Cuda("0", Double(sm=80))
    found = device.resources(saxpy())
    assert set(found) >= {"saxpy", "reversed", "last_of"}
    assert found["saxpy"].registers > 0
    device.close()


def test_resources_are_told_where_no_ptxas_knows_the_gpu():
    device = Cuda("0", Double(sm=999))
    assert device.resources(saxpy())["saxpy"].registers == 32
    device.close()


# --- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", CALLS)
def test_every_error_of_every_call_is_one_line_and_leaves_nothing(call):
    for error in dict.fromkeys((*ANYWHERE, *OF_CALL.get(call, ()))):
        double = Double()
        device = Cuda("0", double)
        double.inject(call, error)
        # Machine code that is refused is followed by PTX; hidden variables by a fresh module.
        if call in {"cuModuleLoadDataEx", "cuModuleGetGlobal"}:
            double.inject(call, error)
        with pytest.raises((Stopped, GevolveError)) as raised:
            work(device, close=True)
        double.injected.clear()
        told = one_line(raised.value)
        assert error in told or error in {"LAUNCH_OUT_OF_RESOURCES", "NOT_FOUND"}
        if isinstance(raised.value, Poisoned):
            # Whoever goes on finds a device that says so, and calls the driver no more.
            before = len(double.calls)
            with pytest.raises((Poisoned, DeviceError)):
                work(device)
            assert len(double.calls) == before
            double.end()
            continue
        work(device)  # the process can go on, and find all as it was
        device.close()
        assert double.leaks() == [], error
        double.end()


@pytest.mark.parametrize("error", FROM_A_KERNEL)
def test_a_kernels_fault_ends_the_process(error):
    double = Double()
    device = Cuda("0", double)
    double.inject("cuStreamSynchronize", error)
    with pytest.raises(Poisoned, match="saxpy: .*" + error) as raised:
        work(device)
    assert raised.value.verdict == ("timeout" if error == "LAUNCH_TIMEOUT" else "crash")


def test_out_of_memory():
    double = Double(memory=16 << 20)
    device = Cuda("0", double)
    gpu = device.open(saxpy(), Limits())
    with pytest.raises(
        Stopped, match="the GPU has 12 of 16 MB free; make the cases smaller"
    ) as raised:
        gpu.empty(4 << 20)
    assert raised.value.verdict == "memory"
    device_checks.saxpy(gpu)
    gpu.close()
    device.close()
    with pytest.raises(DeviceError, match="cuda:0: cuMemAlloc: the GPU has too little free memory"):
        Cuda("0", Double(memory=1 << 20)).prepare(saxpy(), ())


def test_out_of_resources():
    double = Double()
    device = Cuda("0", double)
    gpu = device.open(saxpy(), Limits())
    double.inject("cuLaunchKernel", "LAUNCH_OUT_OF_RESOURCES")
    with pytest.raises(Stopped, match="more registers than the GPU has; make it smaller") as raised:
        device_checks.saxpy(gpu)
    assert raised.value.verdict == "crash"
    assert not isinstance(raised.value, Poisoned)
    gpu.close()
    device.close()
    assert double.leaks() == []


def test_the_drivers_own_words_are_told():
    with pytest.raises(
        SourceError, match="ptxas application ptx input, line 1; error : PTX line 3: "
    ):
        Cuda("0", Double()).prepare(b"\n\nno PTX", ())


def test_a_kernel_for_a_newer_gpu():
    work(Cuda("0", Double(sm=60)))  # it uses nothing that sm_60 has not
    newer = saxpy().replace(b"bar.sync", b"match.any.sync.b32 %r1, %r1, -1; bar.sync")
    refused = r"built for sm_70, and .* is sm_60; .*refused: .*INVALID_PTX.*arch=sm_60'"
    with pytest.raises(UnsupportedError, match=refused):
        Cuda("0", Double(sm=60)).prepare(newer, ())
    only = saxpy().replace(b".target sm_70", b".target sm_90a").replace(b"add.", b"plus.")
    with pytest.raises(UnsupportedError, match=r"built for sm_90a, and .* is sm_100"):
        Cuda("0", Double(sm=100)).prepare(only, ())


def test_an_old_driver():
    with pytest.raises(
        DeviceError, match=r"supports CUDA 11.4, .* is for 12.8; update the driver, or pip"
    ):
        Cuda("0", Double(version=11040)).prepare(saxpy(), ())
    double = Double()
    double.inject("cuInit", "SYSTEM_DRIVER_MISMATCH")
    with pytest.raises(DeviceError, match="differ in version; reboot"):
        Cuda("0", double).prepare(saxpy(), ())


class Older:
    """Bindings that look for a function which the driver does not have."""

    def __init__(self):
        self.double = Double()

    def __getattr__(self, name):
        if name == "cuEventElapsedTime":
            raise RuntimeError('Function "cuEventElapsedTime_v2" not found')
        return getattr(self.double, name)


def test_a_driver_without_a_function():
    with pytest.raises(Poisoned, match=r"cuEventElapsedTime: the driver is too old .* update it"):
        work(Cuda("0", Older()))


def test_no_such_gpu():
    with pytest.raises(DeviceError, match="no GPU cuda:2; there is cuda:0 to cuda:1"):
        Cuda("2", Double(gpus=2)).prepare(saxpy(), ())
    with pytest.raises(DeviceError, match=r"there is no GPU .* see `nvidia-smi`"):
        Cuda("0", Double(gpus=0)).prepare(saxpy(), ())
    for model in ("x", "-1", "0x1", "1.5"):
        with pytest.raises(DeviceError, match="give cuda:0"):
            open_device(f"cuda:{model}")
    with pytest.raises(DeviceError, match="cuda:all is for runs"):
        open_device("cuda:all")


def test_no_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(DeviceError, match=r"pip install '\./\[cuda\]'"):
        Cuda("0").prepare(saxpy(), ())


def has_bindings():
    return importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")


@pytest.mark.skipif(not has_bindings(), reason="cuda-bindings is not installed")
@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is an NVIDIA driver")
def test_no_driver():
    for ask in (
        lambda: Cuda("0").prepare(saxpy(), ()),
        query.gpus,
        lambda: worker_devices("cuda:all"),
    ):
        with pytest.raises(
            DeviceError, match=r"no NVIDIA driver .* install it, or use --device sim:a100"
        ):
            ask()


# --- processes -------------------------------------------------------------------------------------


def test_a_fork_does_not_inherit_the_driver():
    device = Cuda("0", Double())
    device.prepare(saxpy(), ())
    child = os.fork()
    if not child:
        try:
            device.open(saxpy(), Limits())
        except DeviceError as error:
            os._exit(0 if "does not survive a fork" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(WorkloadError, match="this process uses CUDA already"):
        device.check_fork()
    device.close()
    device.check_fork()


def test_gpus_are_found_in_another_process():
    found = query.ask(Double(gpus=3, sm=86))
    assert [gpu.index for gpu in found] == [0, 1, 2]
    assert (found[1].sm, found[1].memory, found[1].driver) == ("sm_86", 1 << 30, "12.8")
    assert found[1].title == "Double of a GPU"


def test_workers():
    assert worker_devices("cuda:3") == ["cuda:3"]
    assert worker_devices("sim:a100") == worker_devices("sim") == []


# --- the double itself -----------------------------------------------------------------------------


def ready():
    double = Double()
    double.cuInit(0)
    double.cuCtxSetCurrent(double.cuDevicePrimaryCtxRetain(double.cuDeviceGet(0)[1])[1])
    return double


def test_the_double_forgives_nothing():
    with pytest.raises(MisuseError, match="before cuInit"):
        Double().cuDeviceGetCount()
    double = Double()
    double.cuInit(0)
    with pytest.raises(MisuseError, match="without a context"):
        double.cuMemAlloc(1)
    double = ready()
    _, there = double.cuMemAlloc(64)
    data = np.zeros(64, np.uint8).ctypes.data
    pointer = double.CUdeviceptr
    _, event = double.cuEventCreate(0)
    _, stream = double.cuStreamCreate(0)
    wrong = {
        "not a function": lambda: double.cuMemcpyDtoD(there, there, 1),
        "in no allocation": lambda: double.cuMemcpyHtoD(there, data, 65),
        "of nothing": lambda: double.cuMemAlloc(0),
        "is a CUdeviceptr": lambda: double.cuMemcpyHtoD(int(there), data, 64),
        "no multiple": lambda: double.cuMemsetD32(pointer(int(there) + 1), 0, 4),
        "does not fit": lambda: double.cuMemsetD8(there, 256, 4),
        "not allocated": lambda: double.cuMemFree(pointer(int(there) + 8)),
        "was not recorded": lambda: double.cuEventElapsedTime(event, event),
        "not being captured": lambda: double.cuEventRecordWithFlags(event, stream, 1),
        "not a CUfunction": lambda: double.cuLaunchKernel(7, 1, 1, 1, 1, 1, 1, 0, CUstream(), 0, 0),
        "must end with a NUL": lambda: double.cuModuleLoadDataEx(b"", 0, [], []),
    }
    for message, call in wrong.items():
        with pytest.raises(MisuseError, match=message):
            call()
    assert double.leaks() == ["64 bytes", "an event", "a stream", "the context"]
    double.cuStreamBeginCapture(stream, double.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    double.cuEventRecordWithFlags(event, stream, 1)
    _, graph = double.cuGraphInstantiate(double.cuStreamEndCapture(stream)[1], 0)
    double.cuGraphLaunch(graph, stream)
    with pytest.raises(MisuseError, match="nobody waited for"):
        double.cuEventElapsedTime(event, event)
    double.cuMemFree(there)
    with pytest.raises(MisuseError, match="not allocated"):
        double.cuMemFree(there)
    double.cuEventDestroy(event)
    with pytest.raises(MisuseError, match="gone"):
        double.cuEventDestroy(event)
    double.inject("cuMemAlloc", "ILLEGAL_ADDRESS")
    assert int(double.cuMemAlloc(8)[0]) == 700
    with pytest.raises(MisuseError, match="nobody looked at"):
        double.cuMemAlloc(8)


def test_versions_are_written_as_people_do():
    assert driver.version(12080) == "12.8"
    assert driver.version(13000) == "13.0"


# --- the check that people with a GPU run ----------------------------------------------------------


def test_the_self_check_compares_with_sim():
    device = Cuda("0", Double())
    (line,) = selfcheck.check(device, ["reduction"])
    assert line.good
    assert line.error == line.noise == 0
    assert line.microseconds > 0
    assert "reduce" in line.resources
    device.close()


def test_the_self_check_tells_what_it_needs(capsys):
    assert selfcheck.main(["sim"]) == 2
    assert "give cuda:0" in capsys.readouterr().err
