"""Whether the search is as good as it was: a small measurement, compared with one that is kept.

    python -m benchmarks.suite [FOLDER]

The results are in runs/benchmark, or in FOLDER, and an interrupted measurement goes on there. They are compared with
benchmarks/suite.json as `gevolve suite compare` does, and the exit code is 1 if the search became worse beyond noise. To
keep a new one: cp runs/benchmark/table.json benchmarks/suite.json
"""

import subprocess
import sys
from pathlib import Path

WORKLOADS = ("nn", "kmeans", "conv2d", "transpose")
BUDGET = ("--device", "sim:t4", "--evals", "60", "--seeds", "2")
KEPT = Path(__file__).with_suffix(".json")


def main(folder: str = "runs/benchmark") -> None:
    command = (sys.executable, "-m", "gevolve", "suite")
    subprocess.run([*command, "run", *WORKLOADS, *BUDGET, "--out", folder], check=True)
    sys.exit(subprocess.run([*command, "compare", KEPT, folder], check=False).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
