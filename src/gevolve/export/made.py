"""What goes into a format, and what comes out: the interface between `export` and its formats."""

from dataclasses import dataclass, field

import msgspec

from gevolve.device.ptxas import Resources
from gevolve.export.scripts.launches import Launch
from gevolve.patch import Patch
from gevolve.run.run import Run


class ResourceChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a kernel uses of the GPU, in the unedited program and in the variant."""

    before: Resources | None
    after: Resources


@dataclass(frozen=True, slots=True)
class Source:
    """The variant that is exported."""

    patch: Patch
    text: str
    """Its IR."""
    unedited: str
    """The unedited program's."""
    arch: str | None
    """The GPU to make it for; None for the one that the source was compiled for."""
    run: Run | None
    """The run, whose workload may be loaded; None if it must not be."""


@dataclass(slots=True)
class Made:
    """A variant in some format, and what was learned while it was made."""

    data: bytes
    arch: str | None = None
    resources: dict[str, ResourceChange] = field(default_factory=dict[str, ResourceChange])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """Of tools that are not installed as packages."""
    notes: list[str] = field(default_factory=list[str])
    launches: list[Launch] = field(default_factory=list[Launch])
    weights: bytes = b""
    """Weights that the program is to be called with, as an npz file; empty if they are those it always had."""
    variables: list[str] = field(default_factory=list[str])
    """Variables of the module that the workload's host code sets."""
