"""Which operations of a model each kernel is made of: IREE says where in the text a launch comes from."""

import re
import warnings
from collections import Counter

from gevolve.device.iree.compiler import FLAGS, SOURCES, named_by_content
from gevolve.device.iree.library import package_folder
from gevolve.device.iree.rewrite import rewritten
from gevolve.errors import SourceError
from gevolve.ir.stablehlo.mlir import parse, run_passes
from gevolve.ir.stablehlo.origins import origins_from_comments
from gevolve.system import tools

_SECONDS = 300.0
_LAUNCH = re.compile(
    r"stream\.cmd\.dispatch[^@\n]*@\S+?::@\S+?::@([\w$.-]+).*?^ *\}([^\n]*)$",
    re.DOTALL | re.MULTILINE,
)
_LINE = re.compile(r'"-":(\d+):')
_VALUE = re.compile(r"\s*%([\w.]+)")


def layers_of(text: str, arch: str) -> dict[str, dict[str, float]]:
    """Of each kernel, by name, the share of its launches that each operation of a program has.

    An operation is known by its id, as in patches, and by its source line if there is one.
    """
    module = parse(text)
    run_passes(module, "canonicalize")
    placed = _compiled(rewritten(module, places=True), arch)
    bare = named_by_content(_without_places(placed))[0]
    labels = _labels(text)
    found: dict[str, Counter[str]] = {}
    # The places in one and the names in the other are of the same launches.
    for name, place in zip(_LAUNCH.findall(bare), _LAUNCH.findall(placed), strict=True):
        line = _LINE.search(place[1])
        label = labels.get(int(line[1]), "") if line else ""
        found.setdefault(name[0], Counter())[label or "?"] += 1
    return {
        name: {label: count / counts.total() for label, count in counts.items()}
        for name, counts in found.items()
    }


def _compiled(program: str, arch: str) -> str:
    """A program as launches of kernels, with the place of everything in its text."""
    command = [
        str(package_folder() / "_mlir_libs" / "iree-compile"),
        *FLAGS,
        f"--iree-cuda-target={arch}",
        "--iree-hal-link-executables=false",
        f"--compile-to={SOURCES}",
        "--mlir-print-debuginfo",
        "-",
    ]
    with warnings.catch_warnings():
        # JAX warns of forks where it has run; what runs here before the new program is one system call.
        warnings.simplefilter("ignore", RuntimeWarning)
        done = tools.run(command, seconds=_SECONDS, stdin=program.encode())
    if done.status:
        raise SourceError(f"IREE does not compile it: {' '.join(done.said.split())[:300]}")
    return done.text


def _labels(text: str) -> dict[int, str]:
    """The operation on each line of a program."""
    origins = origins_from_comments(text)
    found: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if value := _VALUE.match(line):
            found[number] = f"{value[1]} {origins.get(value[1], '')}".strip()
    return found


def _without_places(text: str) -> str:
    """A module as it is printed without the places of operations."""
    out: list[str] = []
    at = 0
    while (start := text.find(" loc(", at)) >= 0:
        out.append(text[at:start])
        at, depth = start + 5, 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return "".join([*out, text[at:]])
