"""Small PTX kernels with a time: `timed` runs one on a named GPU and gives the timing of its launch."""

import numpy as np

from gevolve.device.base import Limits
from gevolve.device.sim import PtxModel, Sim
from gevolve.device.sim.timing import Timing, load_gpu

HEADER = ".version 7.8\n.target sm_70\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n"


def kernel(body: str) -> bytes:
    """A kernel of two buffers: %a and %b point to them, %t is the thread's index, %g the grid-wide one."""
    return f"""{HEADER}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{{
.reg .b64 %a, %b, %n64, %w<16>; .reg .b32 %t, %c, %d, %g, %n, %x<16>; .reg .pred %p<8>; .reg .f32 %f<16>;
.reg .f64 %z<8>;
ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u32 %n, [n];
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %d, %ntid.x; mad.lo.u32 %g, %c, %d, %t;
{body}
ret;
}}
""".encode()


PROLOGUE = 8
"""Instructions that every such kernel issues besides its body: the seven above and `ret`."""


def device(gpu: str) -> Sim:
    """The model of this GPU, of its machine code or of PTX."""
    return Sim(gpu) if load_gpu(gpu).machine else PtxModel(gpu)


def timed(
    body: str,
    *,
    gpu: str = "titanx",
    grid: int = 1,
    block: int = 32,
    shared: int = 0,
    n: int = 0,
    data: np.ndarray | None = None,
    cold: bool = False,
    out: int = 1 << 16,
) -> Timing:
    """The timing of one launch. `cold`: the input is not in L2 because the host did not write it."""
    opened = device(gpu).open(kernel(body), Limits())
    try:
        values = np.zeros(1 << 16, np.int32) if data is None else data
        a = opened.empty(values.shape, values.dtype) if cold else opened.array(values)
        b = opened.empty(out, np.int32)
        opened.launch("k", grid, block, a, b, n, shared=shared)
        return opened.timings[0]
    finally:
        opened.close()


def at(index: str, size: int = 4, base: str = "%a", to: str = "%w0") -> str:
    """Compute the address of element `index` into a register."""
    return f"mul.wide.u32 {to}, {index}, {size}; add.s64 {to}, {to}, {base};"
