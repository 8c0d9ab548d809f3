"""The guide to models runs as it is printed, with a small budget."""

import subprocess
import sys

import pytest

from tests.docs.pages import DOCS, save_files


@pytest.mark.slow
def test_models(tmp_path):
    save_files(DOCS / "how-to" / "models.md", tmp_path)

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    budget = ("--evals", "1", "--workers", "1", "--seed", "1")
    python("-m", "gevolve", "run", "classifier.py", *budget, "--out", "classifier-run")
    export = ("export", "classifier-run", "--variant", "v0", "--format", "jax")
    python("-m", "gevolve", *export, "--output", "fast.jax")
    said = python("use.py")
    assert said.startswith("<model fast.jax: {'bias': float32[10], 'matrix': float32[64, 10]}")
    assert float(said.split()[-1]) > 0.9
    python(
        "-m",
        "gevolve",
        "run",
        "refittable.py:Refittable",
        *budget,
        "--refit",
        "5",
        "--out",
        "refit",
    )
    python("-m", "gevolve", "export", "refit", *export[2:], "--output", "fast.jax")
    assert python("use_refit.py") == "(50, 10)\n"
    python("save.py")
    python("-m", "gevolve", "run", "saved.py:Saved", *budget, "--out", "saved-run")
    saved = (tmp_path / "saved.py").read_text()
    (tmp_path / "saved.py").write_text(saved.replace("predict.mlir", "predict.jax"))
    size = "from gevolve.workload.locate import locate; print(locate('saved.py:Saved').load().size)"
    assert int(python("-c", size)) > 10
