"""A package of its own adds the edit kind of the how-to page, and a search draws it."""

import re
import sqlite3

import pytest

from gevolve.patch import Patch
from tests.docs.pages import DOCS
from tests.plugins import install, python
from tests.small.saxpy import SAXPY

PAGE = (DOCS / "how-to" / "extend.md").read_text()
SECTION = PAGE.split("\n## An edit kind\n")[1].split("\n## ")[0]


def install_edit(folder, entry="llvm.fast-math = gevolve_fast_math:FastMath"):
    """The page's package, with this entry point."""
    (code,) = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    install(folder, "gevolve-fast-math", code, {"gevolve.edits": dict([entry.split(" = ")])})


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    install_edit(folder)
    return folder


def test_a_search_draws_and_judges_its_edits(package):
    options = "--device sim --evals 24 --workers 1 --out run --set sweep=0 --json"
    done = python(package, "-m", "gevolve", "run", SAXPY, *options.split())
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(package / "run" / "run.sqlite") as store:
        rows = store.execute("select patch, body from variant").fetchall()
    store.close()
    judged = [Patch.parse(patch) for patch, body in rows if body]
    drawn = [edit for patch in judged for edit in patch if edit.kind == "fast-math"]
    assert drawn
    assert {"copy", "delete", "move", "replace", "swap", "operand"} & {
        edit.kind for patch in judged for edit in patch
    }


def test_its_edits_are_applied_described_and_checked(package):
    script = """
import numpy as np
from gevolve.errors import PatchError
from gevolve.patch import Edit, Patch
from gevolve.suite import tuned
from gevolve.ir.llvm import load
from pathlib import Path

program = load(Path(tuned.__file__).parent / "hotspot.cu")
assert program.kinds[-1] == "fast-math", program.kinds
edit = program.propose("fast-math", np.random.default_rng(1), None)
variant = program.apply(Patch((edit,)))
assert program.verify(variant.text) is None and not variant.skipped
assert variant.text.count(" fast ") == program.text.count(" fast ") + 1
change = program.describe(edit)
assert change.sentence.startswith("compute the ") and "hotspot.cu:" in change.line
again = program.apply(Patch((edit, Edit("fast-math", edit.args, 2))))
assert again.skipped[0][0] == 1 and "leaves alone" in again.skipped[0][1]
try:
    program.apply(Patch.parse("fast-math i1 i2 #1"))
except PatchError as error:
    print(error)
"""
    done = python(package, "-c", script)
    assert done.returncode == 0, done.stderr
    assert "fast-math has 2 fields, not 1" in done.stdout


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("llvm.fast-math = gevolve_fast_math:Slow", "'llvm.fast-math' of gevolve.edits cannot be loaded"),
        ("llvm.fast-math = gevolve_fast_math:exact", "is no subclass of LlvmEdit"),
        ("llvm.quick = gevolve_fast_math:FastMath", "has the name 'fast-math'"),
        ("fast-math = gevolve_fast_math:FastMath", "call it llvm.fast-math or stablehlo.fast-math"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_line(tmp_path, entry, message):
    install_edit(tmp_path, entry)
    script = "import gevolve.ir.llvm.edits as e, gevolve.errors as r\ntry: len(e.EDIT_KINDS)\n"
    done = python(tmp_path, "-c", script + "except r.PluginError as error: print(error)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gevolve-fast-math: ")
    assert message in done.stdout
    assert done.stdout.count("\n") == 1


def test_kinds_for_models_are_not_imported_for_kernels(tmp_path):
    install_edit(tmp_path, "stablehlo.fast-math = no_such_module:FastMath")
    done = python(tmp_path, "-c", "import gevolve.ir.llvm.edits as e; print(*e.EDIT_KINDS)")
    assert done.stdout.startswith("copy delete move replace swap operand "), done.stderr
