"""What each error code of the CUDA driver means for a run, and what to do about it.

The codes are those of `CUresult`, whose numbers never change:

- the kernel did something that ends the driver's context: `Poisoned`, and this process must end;
- the run needs more than the GPU has: `Stopped`;
- the module has no symbol of that name: `LaunchError`;
- the driver rejects the artefact: `CompileError`, or `UnsupportedError` if the GPU cannot run it;
- any other error leaves the driver in an unknown state: `Poisoned` as well, or `DeviceError` while
  the GPU is being initialized.
"""

from typing import Any

from gevolve.device.base import Poisoned, Stopped
from gevolve.errors import CompileError, LaunchError, UnsupportedError

OUT_OF_MEMORY = 2
_INVALID_VALUE = 1
_NOT_FOUND = 500
_OUT_OF_RESOURCES = 701
_TIMEOUT = 702

_BROKEN = {
    700: "an access to memory that is not there",
    702: "it ran into the driver's time limit; use a GPU that drives no display",
    710: "an assertion failed",
    714: "the hardware stack overflowed or was overwritten",
    715: "an illegal instruction",
    716: "a misaligned access",
    717: "an access in the wrong address space",
    718: "a jump to no instruction",
    719: "an exception on the GPU",
    721: "it kept tensor memory",
}
"""What a kernel did that ended the context."""

_REFUSED = {
    200: "the image is not one that the driver reads",
    218: "the driver cannot assemble the PTX",
    300: "the driver cannot read the PTX",
    302: "a symbol of the PTX is defined nowhere",
}
_UNFIT = {
    209: "the PTX is for another GPU than this one; compile the source for this one's sm",
    222: "the PTX is newer than the driver; update the NVIDIA driver",
    225: "the driver cannot run kernels that synchronise with others they launch",
}

_UNREADY = {
    3: "the driver was not initialised",
    4: "the driver is shutting down; start again",
    34: "libcuda.so is a stub without a driver; take the stubs folder out of LD_LIBRARY_PATH",
    36: "the driver is too old for cuda-bindings; update the NVIDIA driver",
    46: "the GPU is in use by another process alone; wait, or choose another",
    100: "there is no GPU that the driver can use; see `nvidia-smi` and CUDA_VISIBLE_DEVICES",
    101: "there is no such GPU; `gevolve devices` lists those there are",
    102: "the GPU has no licence for compute; see the vGPU licence",
    201: "the context is not valid",
    214: "the GPU found a memory error that it cannot correct; reset it with `nvidia-smi -r`",
    220: "an NVLink failed; reset the GPU",
    221: "the driver has no PTX compiler; install libnvidia-ptxjitcompiler with the driver",
    223: "the driver may not compile PTX; unset CUDA_DISABLE_PTX_JIT",
    226: "the GPU contained an error; reset it with `nvidia-smi -r`",
    227: "the driver is too old for cuda-bindings; update the NVIDIA driver",
    304: "the operating system refused; see `dmesg`",
    709: "the context was destroyed",
    801: "this GPU or driver cannot do it; update the NVIDIA driver",
    802: "the system is not ready; start the NVIDIA fabric manager",
    803: "the driver's library and kernel module differ in version; reboot, or reinstall the driver",
    804: "the compatibility libraries do not fit this GPU; remove cuda-compat, or update the driver",
    805: "the MPS control daemon does not answer; restart it, or leave MPS",
    806: "the MPS server failed; restart it, or leave MPS",
    807: "the MPS server is not ready; restart it, or leave MPS",
    808: "the MPS server takes no more clients; use fewer workers",
    809: "the MPS server takes no more connections; use fewer workers",
    810: "the MPS server ended this client; restart it, or leave MPS",
    911: "the GPU is gone; see `dmesg`",
    999: "the driver does not know why; see `dmesg`",
}


def fault(call: str, code: Any, log: str = "") -> Exception:
    """The exception for the return code of a driver call; `log` is the assembler's error, if any."""
    number = int(code)
    name = getattr(code, "name", f"CUDA error {number}")
    if number == OUT_OF_MEMORY:
        return Stopped("memory", f"{call}: the GPU has too little free memory ({name})")
    if number == _OUT_OF_RESOURCES:
        return Stopped(
            "crash", f"{call}: the block needs more registers than the GPU has; make it smaller"
        )
    if number == _INVALID_VALUE and call == "cuLaunchKernel":
        return Stopped("crash", f"{call}: this GPU cannot launch the kernel so ({name})")
    if number == _NOT_FOUND:
        return LaunchError(f"{call}: no such name in the module; if it is static, let it be seen")
    if number in _BROKEN:
        verdict = "timeout" if number == _TIMEOUT else "crash"
        return Poisoned(verdict, f"{_BROKEN[number]} ({name})")
    for words, kind in ((_REFUSED, CompileError), (_UNFIT, UnsupportedError)):
        if number in words:
            return kind(f"{log or words[number]} ({name})")
    return Poisoned("crash", f"{call}: {_UNREADY.get(number, 'the driver failed')} ({name})")
