"""What the device header offers: each feature compiles, leaves no trace of itself, and keeps lines."""

import io
import re
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path

import pytest

from gevolve.ir.llvm.codegen import to_ptx
from gevolve.ir.llvm.names import demangle
from gevolve.ir.llvm.source import kernels, read

STANDARD = {f"libcxx/include/__algorithm/{name}.h" for name in ("min", "max", "comp")}
FEATURES = sorted((Path(__file__).parent / "features").glob("*.cu"))


@cache
def compiled(path):
    """The IR of a feature's source; clang must have nothing to say about our header."""
    said = io.StringIO()
    with redirect_stderr(said):
        text = read(path, ["-Wno-implicit-const-int-float-conversion"])
    assert not said.getvalue()
    return text


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_feature_compiles_to_kernels_alone(path):
    text = compiled(path)
    assert to_ptx(text).count(".entry") == len(kernels(text)) > 0
    defined = {demangle(name) for name in re.findall(r"^define.*?@([\w.]+)\(", text, re.MULTILINE)}
    assert defined - {demangle(name) for name in kernels(text)} <= {"far_away"}


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_lines_are_those_of_the_users_file(path):
    text = compiled(path)
    files = set(re.findall(r'DIFile\(filename: "([^"]*)"', text))
    assert {path.name} <= files <= {path.name, *STANDARD}
    lines = {int(line) for line in re.findall(r"DILocation\(line: (\d+)", text)}
    assert max(lines) <= max(len(path.read_text().splitlines()), 200)


def test_math_is_short(tmp_path):
    """Users optimise the instructions that they see, so the header must not add many."""
    source = tmp_path / "short.cu"

    def instructions(expression):
        source.write_text(f"__global__ void k(float *x) {{ *x = {expression}; }}")
        body = re.search(r"^define.*?^}", read(source), re.MULTILINE | re.DOTALL)
        assert body
        return len(re.findall(r"^  \S", body[0], re.MULTILINE))

    frame = instructions("*x + 1.0f")
    assert instructions("expf(*x)") - frame <= 10
    assert instructions("__expf(*x)") - frame <= 2
    assert instructions("sqrtf(*x)") == frame
    assert instructions("logf(*x)") - frame <= 40


def test_fast_math_takes_the_hardwares_functions(tmp_path):
    source = tmp_path / "fast.cu"
    source.write_text("__global__ void k(float *x) { *x = sinf(*x) + powf(x[1], x[2]); }")
    text = read(source, ["-ffast-math"])
    assert "llvm.nvvm.sin.approx" in text
    assert "llvm.nvvm.lg2.approx" in text
    assert "br " not in text


def test_contraction_follows_the_users_option(tmp_path):
    source = tmp_path / "contract.cu"
    source.write_text("__global__ void k(float *x) { *x = x[1] * x[2] + x[3]; }")
    assert "fadd contract" in read(source)
    assert "fadd contract" not in read(source, ["-ffp-contract=off"])
