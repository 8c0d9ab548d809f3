"""A ``libcuda.so.1`` whose functions end in the double, so that NVIDIA's real bindings can be tested.

``python -m tests.device.cuda.libcuda FOLDER CHECK...`` builds it in a folder, loads it, and runs these checks of the
conformance suite on the device ``cuda:0``, which then knows of no double.
"""

import ctypes
import struct
import subprocess
import sys
from pathlib import Path

from gevolve.device.base import Poisoned
from gevolve.device.registry import open_device
from gevolve.testing import devices
from tests.device.cuda.double import (
    CUdevice,
    CUdevice_attribute,
    CUdeviceptr,
    CUfunction_attribute,
    CUjit_option,
    Double,
)

# What the C functions take: "i", "n" and "b" numbers of 4, 8 and 1 bytes, "p" an address on the GPU, "s"
# a string, "h" a handle, "d" a device, "a" and "f" attributes; and where results go: "H",
# "D", "P", "N", "I" and "F" for a handle, a device, an address, a size, an integer and a float.
FUNCTIONS = {
    "cuInit": "i", "cuDriverGetVersion": "I", "cuDeviceGetCount": "I", "cuDeviceGet": "Di",
    "cuDeviceTotalMem": "Nd", "cuDeviceGetAttribute": "Iad", "cuDevicePrimaryCtxRetain": "Hd",
    "cuDevicePrimaryCtxRelease": "d", "cuCtxSetCurrent": "h", "cuModuleUnload": "h",
    "cuModuleGetFunction": "Hhs", "cuModuleGetGlobal": "PNhs", "cuFuncGetAttribute": "Ifh",
    "cuFuncSetAttribute": "hfi", "cuMemGetInfo": "NN", "cuMemAlloc": "Pn", "cuMemFree": "p",
    "cuMemcpyHtoD": "pnn", "cuMemcpyDtoH": "npn", "cuMemsetD8": "pbn", "cuMemsetD32": "pin",
    "cuLaunchKernel": "hiiiiiiihnn", "cuEventCreate": "Hi", "cuEventRecordWithFlags": "hhi",
    "cuStreamSynchronize": "h", "cuEventElapsedTime": "Fhh", "cuEventDestroy": "h",
    "cuStreamCreate": "Hi", "cuStreamDestroy": "h", "cuStreamBeginCapture": "hi",
    "cuStreamEndCapture": "hH", "cuGraphInstantiate": "Hhn", "cuGraphLaunch": "hh",
    "cuGraphDestroy": "h", "cuGraphExecDestroy": "h",
    "cuDeviceGetName": "", "cuModuleLoadDataEx": "",
}  # fmt: skip
ARGUMENTS = 11
MASK = {"i": 0xFFFFFFFF, "b": 0xFF}
RESULTS = {"H": ctypes.c_uint64, "P": ctypes.c_uint64, "N": ctypes.c_uint64, "I": ctypes.c_int32,
           "D": ctypes.c_int32, "F": ctypes.c_float}  # fmt: skip
Callback = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_uint64] * ARGUMENTS)

PARAMS = ", ".join(f"unsigned long a{n}" for n in range(ARGUMENTS))
NAMES = ", ".join(f"a{n}" for n in range(ARGUMENTS))
SOURCE = "\n".join(
    [
        "#include <string.h>",
        f"typedef int (*callback)({PARAMS});",
        f"callback table[{len(FUNCTIONS)}];",
        *(
            f"int {name}{suffix}({PARAMS}) {{ return table[{number}]({NAMES}); }}"
            for number, name in enumerate(FUNCTIONS)
            for suffix in ("", "_v2")
        ),
        "static struct { const char *name; void *function; } names[] = {",
        *(f'{{"{name}", (void *){name}}},' for name in FUNCTIONS),
        '{"cuGraphInstantiateWithFlags", (void *)cuGraphInstantiate},',
        "};",
        "int cuGetProcAddress_v2(const char *name, void **to, int version, unsigned long flags, int *how) {",
        "  for (int i = 0; i < sizeof names / sizeof *names; i++)",
        "    if (!strcmp(names[i].name, name)) { *to = names[i].function; if (how) *how = 0; return 0; }",
        '  if (!strcmp(name, "cuGetProcAddress")) { *to = (void *)cuGetProcAddress_v2; return 0; }',
        "  *to = 0; if (how) *how = 1; return 500;",
        "}",
    ]
)


def build(folder):
    source = Path(folder, "libcuda.c")
    source.write_text(SOURCE)
    made = Path(folder, "libcuda.so.1")
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libcuda.so.1",
    ]
    subprocess.run([*command, "-o", made, source], check=True)
    return made


class Bridge:
    """Calls of C functions, made calls of the double."""

    def __init__(self, library, double):
        self.double = double
        self.handles = {}
        self.errors = []
        table = (ctypes.c_void_p * len(FUNCTIONS)).in_dll(library, "table")
        self._kept = [Callback(self._catching(name)) for name in FUNCTIONS]
        for number, callback in enumerate(self._kept):
            table[number] = ctypes.cast(callback, ctypes.c_void_p)

    def _catching(self, name):
        special = getattr(self, name, None)

        def call(*given):
            try:
                return int(special(*given) if special else self._plain(name, given))
            except BaseException as error:  # noqa: BLE001  (it must not be lost in C)
                self.errors.append(error)
                return 999

        return call

    def _plain(self, name, given):
        out, args = [], []
        for kind, value in zip(FUNCTIONS[name], given, strict=False):
            if kind in RESULTS:
                out.append((kind, value))
            elif kind == "h":
                args.append(self.handles.get(value, value))
            elif kind == "d":
                args.append(CUdevice(value & 0xFFFFFFFF))
            elif kind == "p":
                args.append(CUdeviceptr(value))
            elif kind == "s":
                args.append(ctypes.string_at(value))
            elif kind == "a":
                args.append(CUdevice_attribute(value & 0xFFFFFFFF))
            elif kind == "f":
                args.append(CUfunction_attribute(value & 0xFFFFFFFF))
            else:
                args.append(value & MASK.get(kind, (1 << 64) - 1))
        code, *values = getattr(self.double, name)(*args)
        if not code:
            for (kind, address), value in zip(out, values, strict=True):
                if kind == "H":
                    self.handles[int(value)] = value
                number = float(value) if kind == "F" else int(value)
                RESULTS[kind].from_address(address).value = number
        return code

    def cuDeviceGetName(self, to, length, device, *_):  # noqa: N802  (the driver's name)
        length &= 0xFFFFFFFF
        code, name = self.double.cuDeviceGetName(length, CUdevice(device & 0xFFFFFFFF))
        ctypes.memmove(to, name, length)
        return code

    def cuModuleLoadDataEx(self, to, image, count, options, values, *_):  # noqa: N802
        count &= 0xFFFFFFFF
        keys = [CUjit_option(n) for n in (ctypes.c_int32 * count).from_address(options)]
        given = list((ctypes.c_uint64 * count).from_address(values))
        buffer, size = given
        log = bytearray(size)
        code, module = self.double.cuModuleLoadDataEx(
            _image(image) + b"\0", count, keys, [log, size]
        )
        ctypes.memmove(buffer, bytes(log), size)
        if not code:
            self.handles[int(module)] = module
            ctypes.c_uint64.from_address(to).value = int(module)
        return code


def _image(address):
    """PTX up to its NUL, or a cubin up to the end of what it says it holds."""
    head = ctypes.string_at(address, 64)
    if not head.startswith(b"\x7fELF"):
        return ctypes.string_at(address)
    programs, sections = struct.unpack_from("<QQ", head, 32)
    ends = [64]
    for table, (size, count) in (
        (programs, struct.unpack_from("<HH", head, 54)),
        (sections, struct.unpack_from("<HH", head, 58)),
    ):
        ends.append(table + size * count)
        for number in range(count if table == sections else 0):
            row = struct.unpack("<IIQQQQ", ctypes.string_at(address + table + size * number, 40))
            ends.append(row[4] + (row[5] if row[1] != 8 else 0))
    return ctypes.string_at(address, max(ends))


def main(folder, *checks):
    double = Double(version=13000)
    bridge = Bridge(ctypes.CDLL(str(build(folder)), ctypes.RTLD_GLOBAL), double)
    device = open_device("cuda:0")
    try:
        for check in checks:
            devices.CHECKS[check](device)
        device.close()
    except Poisoned as error:
        print(error)
    assert not bridge.errors, bridge.errors
    assert not double.leaks(), double.leaks()
    print(f"{len(double.calls)} calls, {len(set(double.calls))} functions")


if __name__ == "__main__":
    main(*sys.argv[1:])
