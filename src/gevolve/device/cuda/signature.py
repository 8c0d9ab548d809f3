"""Reads from PTX what a launch needs: its target, the parameters of its kernels, its variables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from gevolve.device import ptxas
from gevolve.device.sim.parse import parse
from gevolve.device.sim.ptx import Variable
from gevolve.device.sim.translate.callgraph import place_params

_TARGET = re.compile(r"^(\s*\.target\s+)sm_(\d+)([af]?)", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(\([^)]*\))?(?=[^;{]*\{)")
_VARIABLE = re.compile(
    r"^\s*(?:\.(?:visible|weak|common|extern)\s+)*\.(?:global|const)\s[^=;]*?([\w$%]+)\s*(?:\[[^=;]*)?[=;]",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class PtxSignature:
    """The interface of a PTX module."""

    sm: int
    """The oldest architecture that it runs on: 70 for sm_70."""
    exact: bool
    """Whether it runs on that architecture alone, as sm_90a does."""
    kernels: Mapping[str, tuple[tuple[Variable, int], ...]]
    """The parameters of each kernel, each with its offset."""
    variables: tuple[str, ...]

    @property
    def target(self) -> str:
        return f"sm_{self.sm}{'a' * self.exact}"


@lru_cache(maxsize=8)
def read(artefact: bytes) -> PtxSignature:
    """Read the interface of a PTX module; the driver reads the bodies."""
    text = artefact.decode()
    heads = (f".visible .entry {name}{params or '()'};" for name, params in _ENTRY.findall(text))
    functions = parse("\n".join(heads)).functions
    kernels = {
        name: tuple(zip(function.params, place_params(function.params)[0], strict=True))
        for name, function in functions.items()
    }
    target = _TARGET.search(text)
    sm, kind = (int(target[2]), target[3]) if target else (0, "")
    return PtxSignature(sm, kind == "a", kernels, tuple(dict.fromkeys(_VARIABLE.findall(text))))


def retargeted(artefact: bytes, sm: int) -> bytes:
    """The same PTX with another target; the driver rejects it if it does not fit."""
    return ptxas.retargeted(artefact.decode(), f"sm_{sm}").encode()
