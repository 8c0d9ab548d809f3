"""A small model in, patch, model out: one file for each edit kind and repair rule.

Each ``golden/NAME.mlir`` starts with its patch; ``golden/NAME.out.mlir`` is what must come out, with
the skipped edits on top. After a change that is meant to alter them, run with GEVOLVE_UPDATE_GOLDEN=1
and read the difference.
"""

import os
from pathlib import Path

import pytest

from gevolve.ir import stablehlo
from gevolve.ir.stablehlo.edits import EDIT_KINDS
from gevolve.patch import Patch

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.stem for path in GOLDEN.glob("*.mlir") if not path.stem.endswith(".out"))


@pytest.mark.parametrize("name", CASES)
def test_golden(name):
    source = (GOLDEN / f"{name}.mlir").read_text()
    first, _, body = source.partition("\n")
    program = stablehlo.restore(body)
    variant = program.apply(Patch.parse(first.removeprefix("// patch: ")))
    assert program.verify(variant.text) is None
    notes = [f"// skipped {position}: {why}" for position, why in variant.skipped]
    got = "\n".join([first, *notes, variant.text])
    expected = GOLDEN / f"{name}.out.mlir"
    if os.environ.get("GEVOLVE_UPDATE_GOLDEN"):
        expected.write_text(got)
    assert got == expected.read_text()


def test_there_are_cases_for_every_kind():
    assert {name.split("-")[0] for name in CASES} >= set(EDIT_KINDS)
