"""The code in the how-to guides runs as it is printed, on the tutorial's files."""

import subprocess
import sys

from tests.docs.pages import DOCS, blocks, save_files, shrink


def test_use_from_python(tmp_path):
    save_files(DOCS / "tutorial.md", tmp_path)
    shrink(tmp_path / "smooth.py")
    search, steps = blocks(DOCS / "how-to" / "use-from-python.md")
    for name, code in (("search.py", search), ("steps.py", steps)):
        short = code.replace("evals=1000", "evals=6, workers=1").replace("evals=2000", "evals=8")
        short = short.replace("result.best.ratio, result.best.id", "result.best")
        (tmp_path / name).write_text(short)
        done = subprocess.run(
            [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
