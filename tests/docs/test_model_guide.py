"""The guide to models runs as it is printed, with a small budget."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "models.md"


@pytest.mark.slow
def test_models(tmp_path):
    for block in re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL):
        first, _, rest = block.partition("\n")
        (tmp_path / first.split()[-1]).write_text(rest)

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    budget = ("--evals", "3", "--workers", "1", "--seed", "1")
    python("-m", "gevolve", "run", "classifier.py", *budget, "--out", "classifier-run")
    export = ("export", "classifier-run", "--variant", "v0", "--format", "jax")
    python("-m", "gevolve", *export, "--output", "fast.jax")
    said = python("use.py")
    assert said.startswith("<model fast.jax: {'bias': float32[10], 'matrix': float32[64, 10]}")
    assert float(said.split()[-1]) > 0.9
    python("save.py")
    for name in ("predict.mlir", "predict.jax"):
        saved = (tmp_path / "saved.py").read_text().replace("predict.mlir", name)
        (tmp_path / "saved.py").write_text(saved)
        python("-m", "gevolve", "run", "saved.py:Saved", *budget, "--out", f"run-{name}")
