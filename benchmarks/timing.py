"""Where the time of `ptx:titanx` goes, and how it grows with threads and instructions."""

import time
from collections.abc import Callable

import numpy as np

from gevolve.device.base import Limits
from gevolve.device.sim import Sim, program
from gevolve.device.sim.timing import clock

REPEATS = 5
HEADER = ".version 7.8\n.target sm_70\n.address_size 64\n.shared .align 4 .b8 tile[1024];\n"
STEP = """
add.u32 %i, %i, 37; and.b32 %i, %i, 65535; mul.wide.u32 %w, %i, 4; add.s64 %w, %w, %a;
ld.global.f32 %x, [%w]; st.shared.f32 [%s], %x; bar.sync 0; ld.shared.f32 %y, [%s];
fma.rn.f32 %z, %x, %y, %z; add.f32 %z, %z, %y; mul.f32 %z, %z, %x; setp.gt.f32 %p, %z, %y;
@%p add.f32 %z, %z, %x; bar.sync 0;
"""


def kernel(instructions: int) -> bytes:
    """A kernel of about this many instructions: loads, shared memory, barriers, arithmetic."""
    steps = max(1, (instructions - 13) // 14)
    return f"""{HEADER}
.visible .entry k(.param .u64 a, .param .u64 b)
{{
.reg .b64 %a, %b, %w, %s; .reg .b32 %i, %t, %c, %d; .reg .f32 %x, %y, %z; .reg .pred %p;
ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %d, %ntid.x; mad.lo.u32 %i, %c, %d, %t;
mov.f32 %z, 0f00000000; mul.wide.u32 %w, %t, 4; mov.u64 %s, tile; add.s64 %s, %s, %w;
{STEP * steps}
mul.wide.u32 %w, %i, 4; add.s64 %w, %w, %b; st.global.f32 [%w], %z;
ret;
}}
""".encode()


def best(action: Callable[[], None]) -> float:
    """The least CPU time of a few runs, in milliseconds."""
    times: list[float] = []
    for _ in range(REPEATS):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times) * 1e3


def run(device: Sim, artefact: bytes, threads: int) -> None:
    gpu = device.open(artefact, Limits())
    a, b = gpu.array(np.ones(1 << 16, np.float32)), gpu.empty(max(threads + 256, 1 << 16))
    gpu.launch("k", -(-threads // 256), 256, a, b)
    gpu.usage()  # a launch is replayed when its time is asked for
    gpu.close()


def replayed(device: Sim, artefact: bytes, threads: int) -> float:
    """The least CPU time of the replay alone, in milliseconds."""
    times: list[float] = []
    settle = clock.Clock._settle

    def timed(self):
        began, pending = time.process_time(), len(self._pending)
        settle(self)
        if pending:
            times.append(time.process_time() - began)

    clock.Clock._settle = timed
    try:
        for _ in range(REPEATS):
            run(device, artefact, threads)
    finally:
        clock.Clock._settle = settle
    return min(times) * 1e3


def prepare(artefact: bytes) -> tuple[float, float]:
    """Milliseconds to make the model's tables of a kernel, and to translate and compile it."""

    def compiled() -> None:
        program.load.cache_clear()
        program.load(artefact).compiled("k")

    def described() -> None:
        loaded._code.clear()
        loaded.code("k")

    loaded = program.load(artefact)
    return best(described), best(compiled)


def main() -> None:
    named, plain = Sim("titanx"), Sim()
    print("CPU milliseconds of one launch\n")
    print("instructions  threads  compile  tables   run  record  replay")
    for instructions, threads in (
        *((160, threads) for threads in (1_000, 5_000, 20_000, 80_000, 1_000_000)),
        *((instructions, 20_000) for instructions in (40, 640, 2500)),
    ):
        artefact = kernel(instructions)
        tables, compiling = prepare(artefact)
        run(named, artefact, threads)
        alone = best(lambda a=artefact, n=threads: run(plain, a, n))
        whole = best(lambda a=artefact, n=threads: run(named, a, n))
        replaying = replayed(named, artefact, threads)
        record = max(whole - alone - replaying, 0.0)
        print(
            f"{instructions:12d} {threads:8d} {compiling:8.1f} {tables:7.1f} {alone:5.1f} "
            f"{record:7.1f} {replaying:7.1f}"
        )


if __name__ == "__main__":
    main()
