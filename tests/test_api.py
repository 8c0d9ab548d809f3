"""The public API is flat, and what is in it is on purpose."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gevolve


def test_exported_names():
    assert sorted(gevolve.__all__) == gevolve.__all__
    for name in gevolve.__all__:
        assert getattr(gevolve, name).__module__.startswith("gevolve."), name
    assert set(gevolve.__all__) <= set(dir(gevolve))
    with pytest.raises(AttributeError, match="'gevolve' has no attribute 'no_such'"):
        _ = gevolve.no_such


def test_what_is_loaded_is_what_type_checkers_see():
    tree = ast.parse(Path(gevolve.__file__).read_text())
    seen = {
        alias.name: node.module.removeprefix("gevolve")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("gevolve.")
        for alias in node.names
    }
    assert seen == gevolve._HOME
    assert {*seen, "open"} == set(gevolve.__all__)


def test_a_name_means_the_same_whatever_was_imported_before():
    script = """
import gevolve.export, gevolve.optimize, gevolve.report, gevolve.suite
assert callable(gevolve.export) and callable(gevolve.report)
from gevolve import optimize, suite
assert callable(optimize) and callable(suite)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_worker_loads_what_it_needs():
    script = """
import sys
import gevolve.evaluate.worker.main
from gevolve import Case, KernelWorkload
loaded = {name.split(".")[1] for name in sys.modules if name.startswith("gevolve.")}
assert loaded <= {"device", "errors", "evaluate", "patch", "program", "system", "workload"}, loaded
assert not {"rich", "cyclopts", "moocore", "llvmlite"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_error_is_a_gevolve_error_and_drawn_in_the_docstring():
    from gevolve import errors

    found = [value for value in vars(errors).values() if isinstance(value, type)]
    assert all(issubclass(value, errors.GevolveError) for value in found)
    assert all(value.__name__ in errors.__doc__ for value in found)
