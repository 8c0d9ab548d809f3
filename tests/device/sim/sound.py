"""The kernels of ``races/``: each sound, and most with lines that a careless edit would leave.

The first line of a file says how to launch it and, if it has a broken form, which verdict that
deserves. A line that ends in ``// broken: …`` reads ``…`` in the broken form.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np

from gevolve.device.sim import Sim
from gevolve.ir.llvm import load

FOLDER = Path(__file__).parent / "races"
KERNELS = sorted(path.stem for path in FOLDER.glob("*.cu"))
_FIELD = re.compile(r"(grid|block|shared|verdict) ([\w -]+)")
_BROKEN = re.compile(r"^.*// broken:(.*)$", re.MULTILINE)


def head(name: str) -> dict[str, str]:
    return dict(_FIELD.findall((FOLDER / f"{name}.cu").read_text().splitlines()[0]))


RACY = [name for name in KERNELS if "verdict" in head(name)]


@cache
def sound(name: str) -> bytes:
    return Sim().build(load(FOLDER / f"{name}.cu").text)


def otherwise(name: str) -> bytes:
    """The sound form, compiled in another way."""
    options = ("-O1", "-fno-unroll-loops")
    return Sim().build(load(FOLDER / f"{name}.cu", clang_options=options).text)


def broken(name: str, folder: Path) -> bytes:
    path = folder / f"{name}.cu"
    text = (FOLDER / path.name).read_text()
    path.write_text(_BROKEN.sub(lambda match: match[1], text))
    return Sim().build(load(path).text)


def run(name: str, artefact: bytes, check: str | None = None, device: Sim | None = None):
    """What comes out, and the hazards if they were looked for."""
    fields = head(name)
    grid, block, shared = (
        tuple(map(int, fields.get(field, "0").split())) for field in ("grid", "block", "shared")
    )
    n = int(np.prod(grid + block))
    gpu = (device or Sim()).open(artefact, check=check)
    values = gpu.array(np.random.default_rng(1).integers(0, 64, n, dtype=np.int32))
    out = gpu.zeros(4 * n + 1024, np.int32)
    gpu.launch("kernel", grid, block, values, out, n, shared=shared[0])
    got, hazards = out.get(), gpu.usage().hazards
    gpu.close()
    return got, hazards
