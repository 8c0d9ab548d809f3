"""Many faults in one run, which must end with the store of a run that nothing happened to.

Processes of the run are killed and stopped at random moments, the main one among them; its folder is
moved, deleted (and a copy put back) and its disk filled up. Whatever ends the run, it is resumed.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

COUNT = 200
EVALUATIONS = 3000
SOURCE = """
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n)
        y[i] = a * tile[threadIdx.x] + y[i];
}
"""
WORKLOAD = """
import numpy as np
import gevolve

class Saxpy(gevolve.KernelWorkload):
    source = "saxpy.cu"

    def case(self, rng, size):
        n = {"search": 300, "held-out": 401, "large": 2000}[size] + int(rng.integers(50))
        return gevolve.Case(x=rng.random(n, np.float32), y=rng.random(n, np.float32), a=2.5)

    def run(self, gpu, case):
        y, x = gpu.array(case.y), gpu.array(case.x)
        gpu.launch("saxpy", -(-case.x.size // 128), 128, y, x, case.a, case.x.size)
        return y.get()
"""
KINDS = {
    "kill a child or worker": 8,
    "stop a child or worker": 8,
    "kill the main process": 1,
    "stop the main process for a while": 1,
    "move the folder": 2,
    "delete the folder": 1,
    "fill the disk": 1,
}
"""How often each kind of fault is drawn, relative to the others."""


class Disturbed:
    """A run that faults happen to."""

    def __init__(self, place: Path, evals: int, seed: int) -> None:
        self.place = place
        self.home = place / "run"
        self.folder = self.home
        self.evals = evals
        self.rng = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.errors: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the run, or go on with it."""
        if (self.folder / "run.sqlite").exists():
            words = ["resume", str(self.folder)]
        else:
            words = ["run", "saxpy.py", "--out", str(self.folder), "--seed", "5"]
            words += ["--evals", str(self.evals), "--workers", "2", "--population", "16"]
            words += ["--device", "ptx:p100"]
        with (self.place / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gevolve", *words, "--json"],
                cwd=self.place, stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def judged(self) -> int:
        """How many variants are in the store."""
        with suppress(sqlite3.Error):
            file = f"file:{self.folder / 'run.sqlite'}?mode=ro"
            connection = sqlite3.connect(file, uri=True)
            try:
                return connection.execute("SELECT count(*) FROM variant").fetchone()[0]
            finally:
                connection.close()
        return 0

    def descendants(self) -> list[int]:
        assert self.process is not None
        return tree(self.process.pid)[1:]

    def fault(self, kind: str) -> None:
        """Let something happen."""
        assert self.process is not None
        if kind.endswith("a child or worker"):
            found = self.descendants()
            number = signal.SIGKILL if kind.startswith("kill") else signal.SIGSTOP
            if not found or not signaled(self.rng.choice(found), number):
                return
        elif kind == "kill the main process":
            before = self.descendants()
            for pid in before[: self.rng.randrange(3)]:
                signaled(pid, signal.SIGSTOP)
            self.process.kill()
            self.process.wait()
            if left := still_alive(before):
                self.errors.append(f"left behind: {[state(pid) for pid in left]}")
        elif kind == "stop the main process for a while":
            self.process.send_signal(signal.SIGSTOP)
            time.sleep(self.rng.uniform(0.1, 2.0))
            self.process.send_signal(signal.SIGCONT)
        elif kind == "move the folder":
            if not self.folder.exists():
                return
            moved = self.place / f"moved{self.seen.total()}"
            self.folder.rename(moved)
            self.folder = moved
        elif kind == "delete the folder":
            self.delete()
        elif kind == "fill the disk":
            self.fill()
        self.seen[kind] += 1

    def delete(self) -> None:
        """Delete the folder; the run must stop by itself. A copy, made while nothing ran, is put back."""
        assert self.process is not None
        copy = self.place / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        self.process.kill()
        self.process.wait()
        if not (self.folder / "run.sqlite").exists():
            return
        shutil.copytree(self.folder, copy)
        self.start()
        time.sleep(self.rng.uniform(0.5, 4.0))
        shutil.rmtree(self.folder, ignore_errors=True)
        self.ended_by_itself("delete the folder")
        shutil.rmtree(self.folder, ignore_errors=True)
        copy.rename(self.folder)

    def fill(self) -> None:
        """Leave no room on the disk until the run has stopped; then make room again."""
        filler = self.place / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 65536):
                pass
        self.ended_by_itself("fill the disk")
        filler.unlink(missing_ok=True)

    def ended_by_itself(self, kind: str) -> None:
        assert self.process is not None
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.errors.append(f"it hangs: {kind}")
            self.process.kill()
            self.process.wait()

    def work(self, count: int) -> None:
        """Let so many faults happen, then let the run end."""
        kinds = [kind for kind in KINDS if kind != "fill the disk" or mounted(self.place)]
        weights = [KINDS[kind] for kind in kinds]
        self.start()
        while self.seen.total() < count:
            if not self.running:
                if self.finished():
                    break
                self.start()
            time.sleep(self.rng.uniform(0.05, 0.7))
            if self.running:
                self.fault(self.rng.choices(kinds, weights)[0])
        for _ in range(50):
            if self.running:
                self.ended_after_all()
            if self.finished():
                return
            self.start()
        self.errors.append("it never ends")

    def ended_after_all(self) -> None:
        assert self.process is not None
        try:
            self.process.wait(900)
        except subprocess.TimeoutExpired:
            self.errors.append("it hangs at the end")
            self.process.kill()
            self.process.wait()

    def finished(self) -> bool:
        return self.process is not None and self.process.poll() == 0

    def complaints(self) -> list[str]:
        """What went wrong besides: tracebacks, and messages of more than a line."""
        return self.errors + [line for line in self.log().splitlines() if "Traceback" in line]

    def log(self) -> str:
        return (self.place / "log").read_text(errors="replace")


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    for parent in found:
        with suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def signaled(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def still_alive(pids: list[int], seconds: float = 10.0) -> list[int]:
    """Which of these processes are there after so long."""
    until = time.monotonic() + seconds
    while True:
        left = [pid for pid in pids if alive(pid)]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX" and "gevolve" in command(pid)


def state(pid: int) -> str:
    """Who a process is, for people."""
    said = [f"{pid}", command(pid).replace("\0", " ")]
    with suppress(OSError):
        said += Path(f"/proc/{pid}/status").read_text().splitlines()[:12]
        said += [Path(f"/proc/{pid}/wchan").read_text()]
    return "; ".join(said)


def command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def content(folder: Path) -> dict[str, object]:
    """All that a store holds but for how long things took."""
    connection = sqlite3.connect(folder / "run.sqlite")
    rows: dict[str, object] = {}
    for table in ("variant", "analysis", "generation", "validation", "value"):
        for *key, body, _ in connection.execute(f"SELECT * FROM {table}"):
            if table == "value" and key[0] in ("seconds", "config"):
                continue
            rows[f"{table} {key}"] = without_times(json.loads(body))
    connection.close()
    return rows


def without_times(value):
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if name != "seconds"}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def mounted(place: Path) -> bool:
    return os.path.ismount(place)


@contextmanager
def small_disk():
    """A folder on a file system of its own, which can be filled; an ordinary one if that needs rights."""
    place = Path(tempfile.mkdtemp(prefix="gevolve-faults-"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(place)]
    done = subprocess.run(mount, capture_output=True, check=False)
    try:
        yield place
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)
        shutil.rmtree(place, ignore_errors=True)


def disturb(place: Path, count: int, evals: int, seed: int = 1) -> Disturbed:
    """Disturb a run in this folder; gives what became of it, and raises if that is not as it should be."""
    (place / "saxpy.cu").write_text(SOURCE)
    (place / "saxpy.py").write_text(WORKLOAD)
    whole = Disturbed(place, evals, 0)
    whole.folder = place / "whole"
    whole.work(0)
    disturbed = Disturbed(place, evals, seed)
    disturbed.work(count)
    complaints = disturbed.complaints()
    assert not complaints, f"{complaints}, after {dict(disturbed.seen)}\n{disturbed.log()[-4000:]}"
    expected, got = content(whole.folder), content(disturbed.folder)
    different = [key for key in expected.keys() | got.keys() if expected.get(key) != got.get(key)]
    assert not different, {key: (expected.get(key), got.get(key)) for key in different[:3]}
    return disturbed


def main() -> None:
    count = int(os.environ.get("GEVOLVE_FAULTS", COUNT))
    evals = int(os.environ.get("GEVOLVE_FAULTS_EVALS", EVALUATIONS))
    with small_disk() as place:
        began = time.monotonic()
        done = disturb(place, count, evals)
        print(f"{done.seen.total()} faults in {time.monotonic() - began:.0f} s, the same store:")
        for kind, times in done.seen.most_common():
            print(f"  {times:4} {kind}")
