"""Small IR in, patch, IR out: one file for each edit kind and repair rule.

Each ``golden/NAME.ll`` starts with its patch; ``golden/NAME.out.ll`` is what must come out, with the
skipped edits on top. After a change that is meant to alter them, run with GEVOLVE_UPDATE_GOLDEN=1 and
read the difference.
"""

import os
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from gevolve.ir.llvm.edits import EDIT_KINDS
from gevolve.ir.llvm.program import LlvmProgram
from gevolve.patch import Patch

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.stem for path in GOLDEN.glob("*.ll") if not path.stem.endswith(".out"))


@pytest.mark.parametrize("name", CASES)
def test_golden(name):
    source = (GOLDEN / f"{name}.ll").read_text()
    first, _, body = source.partition("\n")
    program = LlvmProgram(str(llvm.parse_assembly(body)))
    patch = Patch.parse(first.removeprefix("; patch: "))
    variant = program.apply(patch)
    assert program.verify(variant.text) is None
    notes = [f"; skipped {position}: {why}" for position, why in variant.skipped]
    got = "\n".join([first, *notes, variant.text])
    expected = GOLDEN / f"{name}.out.ll"
    if os.environ.get("GEVOLVE_UPDATE_GOLDEN"):
        expected.write_text(got)
    assert got == expected.read_text()


def test_there_are_cases_for_every_kind():
    missing = {kind for kind in EDIT_KINDS if not any(n.startswith(f"{kind}-") for n in CASES)}
    assert not missing
