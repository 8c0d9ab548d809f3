"""Functions about modules and the kernels in them."""

import struct

from gevolve.device.sim.arguments import MAX_STATIC, MAX_THREADS
from gevolve.device.sim.timing import occupancy
from gevolve.device.virtual.attributes import capability
from gevolve.device.virtual.calls import call
from gevolve.device.virtual.codes import Code, Fault
from gevolve.device.virtual.functions.link import options_of, tell
from gevolve.device.virtual.gpu import VirtualGpu
from gevolve.device.virtual.image import RejectedError, open_image, read_image
from gevolve.device.virtual.objects import Function, Module, Options
from gevolve.device.virtual.wire import HostCall

_WARP = 32
_DYNAMIC, _CARVEOUT = 8, 9
_AS_IS = Options()


@call("cuModuleLoadData", "Ha")
def load(gpu: VirtualGpu, image: int) -> Module:
    return _load(gpu, read_image(gpu.program, image))


@call("cuModuleLoadFatBinary", "Ha")
def load_fat(gpu: VirtualGpu, image: int) -> Module:
    return load(gpu, image)


@call("cuModuleLoadDataEx", "Haiaa")
def load_with(gpu: VirtualGpu, image: int, count: int, options: int, values: int) -> Module:
    wanted = options_of(gpu, count, options, values)
    return _load(gpu, read_image(gpu.program, image), wanted)


@call("cuModuleLoad", "Ht")
def load_file(gpu: VirtualGpu, path: str) -> Module:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  (a path of the program's, as it says it)
            return _load(gpu, file.read())
    except OSError:
        raise Fault(Code.FILE_NOT_FOUND) from None


@call("cuLibraryLoadData", "Haaaiaai", context=False)
def load_library(
    gpu: VirtualGpu, image: int, options: int, values: int, count: int, *_: int
) -> Module:
    wanted = options_of(gpu, count, options, values)
    return _load(gpu, read_image(gpu.program, image), wanted)


@call("cuLibraryLoadFromFile", "Ht", context=False)
def load_library_file(gpu: VirtualGpu, path: str) -> Module:
    return load_file(gpu, path)


def _load(gpu: VirtualGpu, image: bytes, options: Options = _AS_IS) -> Module:
    assert gpu.table.machine is not None
    try:
        return gpu.load(open_image(image, gpu.table.machine.arch, registers=options.registers))
    except RejectedError as error:
        tell(gpu, options, error)
        gpu.say(f"a module was refused: {error}")
        raise Fault(error.code) from error


@call("cuModuleUnload", "m", context=None)
@call("cuLibraryUnload", "m", context=False)
def unload(gpu: VirtualGpu, module: Module) -> None:
    gpu.unload(module)


@call("cuModuleGetLoadingMode", "I", context=False)
def loading_mode(_: VirtualGpu) -> int:
    return 1


@call("cuModuleGetFunction", "Hmt")
@call("cuLibraryGetKernel", "Hmt", context=False)
def function(gpu: VirtualGpu, module: Module, name: str) -> Function:
    assert module.program is not None
    if name not in module.program.kernels:
        raise Fault(Code.NOT_FOUND)
    found = module.functions.get(name)
    if found is None:
        static = module.program.kernels[name].shared
        made = Function(module=module, name=name, most_dynamic=max(MAX_STATIC - static, 0))
        found = module.functions[name] = gpu.add(made)
    return found


@call("cuKernelGetFunction", "Hf")
def function_of(_: VirtualGpu, kernel: Function) -> Function:
    return kernel


@call("cuLibraryGetModule", "Hm")
def module_of(_: VirtualGpu, library: Module) -> Module:
    return library


@call("cuFuncGetModule", "Hf")
@call("cuKernelGetLibrary", "Hf", context=False)
def owner(_: VirtualGpu, kernel: Function) -> Module:
    return kernel.module


@call("cuModuleGetFunctionCount", "Im")
@call("cuLibraryGetKernelCount", "Im", context=False)
def function_count(_: VirtualGpu, module: Module) -> int:
    assert module.program is not None
    return len(module.program.kernels)


@call("cuModuleEnumerateFunctions", "aim")
@call("cuLibraryEnumerateKernels", "aim", context=False)
def functions(gpu: VirtualGpu, to: int, count: int, module: Module) -> None:
    assert module.program is not None
    if not to:
        raise Fault(Code.INVALID_VALUE)
    found = [function(gpu, module, name).handle for name in module.program.kernels][:count]
    gpu.program.write(to, struct.pack(f"<{len(found)}Q", *found))


@call("cuModuleGetGlobal", "P?N?mt")
@call("cuLibraryGetGlobal", "P?N?mt")
def variable(_: VirtualGpu, module: Module, name: str) -> tuple[int, int]:
    assert module.program is not None
    assert module.memory is not None
    if name not in module.program.places:
        raise Fault(Code.NOT_FOUND)
    place = module.memory.globals + module.program.places[name]
    return place, module.program.variables[name].size


@call("cuFuncGetParamInfo", "fnN?N?", context=False)
@call("cuKernelGetParamInfo", "fnN?N?", context=False)
def parameter(_: VirtualGpu, kernel: Function, index: int) -> tuple[int, int]:
    known = kernel.kernel.source.parameters
    if index >= len(known):
        raise Fault(Code.INVALID_VALUE)
    return known[index].offset, known[index].size


@call("cuFuncGetParamCount", "fN", context=False)
@call("cuKernelGetParamCount", "fN", context=False)
def parameter_count(_: VirtualGpu, kernel: Function) -> int:
    return len(kernel.kernel.source.parameters)


@call("cuFuncLoad", "f")
def load_function(_: VirtualGpu, __: Function) -> None:
    """It is loaded."""


@call("cuFuncIsLoaded", "If")
def is_loaded(_: VirtualGpu, __: Function) -> int:
    return 1


def most_threads(gpu: VirtualGpu, kernel: Function) -> int:
    """The largest block that a kernel's registers allow, and its source."""
    source, limits = kernel.kernel.source, gpu.table.limits
    unit = limits.register_unit
    each = -(-max(source.registers, 1) * _WARP // unit) * unit
    warps = limits.registers // gpu.table.issue.schedulers // each * gpu.table.issue.schedulers
    return min(MAX_THREADS, warps * _WARP, source.max_threads or MAX_THREADS)


@call("cuFuncGetAttribute", "Iif")
def attribute(gpu: VirtualGpu, key: int, kernel: Function) -> int:
    source = kernel.kernel.source
    major, minor = capability(gpu.table)
    known = {
        0: most_threads(gpu, kernel),
        1: source.shared,
        2: sum(len(bank) for number, bank in source.constants.items() if number),
        3: kernel.kernel.local,
        4: source.registers,
        5: 10 * major + minor,
        6: 10 * major + minor,
        _DYNAMIC: kernel.most_dynamic,
        _CARVEOUT: kernel.carveout,
    }
    if not 0 <= key <= 15:
        raise Fault(Code.INVALID_VALUE)
    return known.get(key, 0)


@call("cuKernelGetAttribute", "Iifd", context=False)
def kernel_attribute(gpu: VirtualGpu, key: int, kernel: Function, _: int) -> int:
    return attribute(gpu, key, kernel)


@call("cuFuncSetAttribute", "fij")
def set_attribute(gpu: VirtualGpu, kernel: Function, key: int, value: int) -> None:
    if key == _DYNAMIC:
        if not 0 <= value <= gpu.table.limits.most_shared - kernel.kernel.shared:
            raise Fault(Code.INVALID_VALUE)
        kernel.most_dynamic = value
    elif key == _CARVEOUT:
        kernel.carveout = value
    else:
        raise Fault(Code.INVALID_VALUE)


@call("cuKernelSetAttribute", "ijfd", context=False)
def set_kernel_attribute(gpu: VirtualGpu, key: int, value: int, kernel: Function, _: int) -> None:
    set_attribute(gpu, kernel, key, value)


@call("cuFuncSetCacheConfig", "fi")
@call("cuFuncSetSharedMemConfig", "fi")
def prefer(_: VirtualGpu, __: Function, ___: int) -> None:
    """A preference, which has no effect."""


@call("cuOccupancyMaxActiveBlocksPerMultiprocessor", "Ifjn")
def active_blocks(gpu: VirtualGpu, kernel: Function, threads: int, shared: int) -> int:
    if threads <= 0:
        raise Fault(Code.INVALID_VALUE)
    source = kernel.kernel.source
    total = source.shared + shared
    if threads > most_threads(gpu, kernel) or total > gpu.table.limits.most_shared:
        return 0
    return occupancy(gpu.table, threads, source.registers, total).blocks


@call("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "Ifjni")
def active_blocks_2(gpu: VirtualGpu, kernel: Function, threads: int, shared: int, _: int) -> int:
    return active_blocks(gpu, kernel, threads, shared)


@call("cuOccupancyMaxPotentialBlockSize", "IIfanj")
def block_size(
    gpu: VirtualGpu, kernel: Function, sizes: int, shared: int, most: int
) -> tuple[int, int]:
    """The smallest grid and the block with which most threads are resident.

    `sizes` is a function of the program that says how much shared memory a block size needs, if there is one.
    """
    limit = min(most_threads(gpu, kernel), most or MAX_THREADS)
    resident = {
        size: active_blocks(
            gpu, kernel, size, gpu.program.call(HostCall(sizes, size)) if sizes else shared
        )
        for size in range(_WARP, limit + 1, _WARP)
    }
    best = max(resident, key=lambda size: (size * resident[size], size), default=0)
    return gpu.table.sms * resident.get(best, 0), best


@call("cuOccupancyMaxPotentialBlockSizeWithFlags", "IIfanji")
def block_size_2(
    gpu: VirtualGpu, kernel: Function, sizes: int, shared: int, most: int, _: int
) -> tuple[int, int]:
    return block_size(gpu, kernel, sizes, shared, most)
