"""Numbers of the host code as part of a patch: what ``gpu.parameter("block", 256, 64, 128)`` offers.

A variant names its choice in the module, and the back end repeats it as a comment of the artefact, where the
device finds it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from gevolve.ir.edit_kind import Show, Skipped
from gevolve.ir.llvm.draft import LlvmDraft
from gevolve.ir.llvm.edit_kind import LlvmEdit
from gevolve.ir.llvm.sites import LlvmSites
from gevolve.ir.llvm.source_form import SourceDraft

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Parameter(LlvmEdit):
    """The host code runs with another number than the first that it offers."""

    name = "parameter"
    which: str
    value: int

    @classmethod
    def sweep(cls, sites: LlvmSites) -> Iterable[Self]:
        for which, values in sites.parameters:
            yield from (cls(which, value) for value in values[1:])

    def apply(self, draft: LlvmDraft, seed: int) -> None:
        del seed
        if _NAME.fullmatch(self.which) is None:
            raise Skipped(f"{self.which} is no name")
        if any(line.startswith(f"!gevolve.chosen.{self.which}.") for line in draft.additions):
            raise Skipped(f"{self.which} is chosen already")
        draft.additions.append(f"!gevolve.chosen.{self.which}.{self.value} = !{{}}")

    def describe(self, show: Show) -> str:
        del show
        return f"run with {self.which} = {self.value}"

    def rewrite(self, source: SourceDraft) -> str:
        del source
        raise Skipped("it is a number of the host code")
