"""The code in the how-to guides runs as it is printed, on the tutorial's files."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(text):
    return re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_use_from_python(tmp_path):
    for block in blocks((DOCS / "tutorial.md").read_text()):
        first, _, rest = block.partition("\n")
        (tmp_path / first.split()[-1]).write_text(rest)
    search, steps = blocks((DOCS / "how-to" / "use-from-python.md").read_text())
    for name, code in (("search.py", search), ("steps.py", steps)):
        short = code.replace("evals=1000", "evals=60, workers=2").replace("evals=2000", "evals=70")
        short = short.replace("result.best.ratio, result.best.id", "result.best")
        (tmp_path / name).write_text(short)
        done = subprocess.run(
            [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
