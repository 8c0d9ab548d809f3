"""How long the page of a long run takes to write, and what it costs a run to be watched.

The run of 20,000 evaluations is made up (`benchmarks.synthetic.runs`). The watched run judges 50 variants
a second from there on; what matters is how much of the machine the watcher takes away, its processor
time, since a run leaves no core idle. A real search with and without a watcher, in turns, comes last.
"""

import http.client
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.synthetic.runs import Maker, explain, fastest, passed
from gevolve.run.store import Store

EVALUATIONS = 20_000
RATE = 50
SECONDS = 20
ROUNDS = 3
SEARCH = ("run", "tuned/hotspot", "--evals", "250", "--seed", "1")


def gevolve(*arguments):
    return [sys.executable, "-m", "gevolve", *map(str, arguments)]


def build(folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(gevolve("report", folder), check=True, capture_output=True)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = (folder / "report.html").stat().st_size
    print(
        f"report of {EVALUATIONS:,} evaluations: {seconds:.1f} s ({spent:.1f} s of one core), "
        f"{size / 1e6:.1f} MB (the aims are 5 s and 8 MB)"
    )


def processor(process):
    """Seconds of processor time that a process has had."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watcher:
    """`gevolve watch` and a page that asks it every second."""

    def __init__(self, folder):
        self._process = subprocess.Popen(
            gevolve("watch", folder), stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        self._port = int(self._process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.points = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def _ask(self):
        epoch, edits, version = "", 0, 0
        while not self._over.wait(1):
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            query = f"epoch={epoch}&points={self.points}&edits={edits}&version={version}"
            connection.request("GET", f"/data?{query}")
            news = json.loads(connection.getresponse().read())
            connection.close()
            if "epoch" in news:
                epoch, version = news["epoch"], news["version"]
                self.points += len(news["points"]["id"])
                edits += len(news["edits"])

    def spent(self):
        return processor(self._process)


def follow(folder, maker):
    with Store.open(folder) as store, Watcher(folder) as watcher:
        while watcher.points == 0:
            time.sleep(0.2)
        before, began = watcher.spent(), time.perf_counter()
        for n in range(RATE * SECONDS):
            store.add([maker.next()])
            time.sleep(max(0.0, began + (n + 1) / RATE - time.perf_counter()))
        took = time.perf_counter() - began
        share = (watcher.spent() - before) / took
    cores = len(os.sched_getaffinity(0))
    print(
        f"watching {RATE * SECONDS / took:.0f} evaluations/s after {EVALUATIONS:,}: {share:.1%} of one "
        f"core, {share / cores:.1%} of this machine's {cores} (at most 2 % is the aim)"
    )


def search(folder, *, watched):
    """Evaluations per second of a real run."""
    command = gevolve(*SEARCH, "--out", folder, "--json")
    if not watched:
        done = subprocess.run(command, check=True, capture_output=True)
    else:
        with Watcher(folder):
            done = subprocess.run(command, check=True, capture_output=True)
    result = json.loads(done.stdout)
    return result["evaluations"] / result["seconds"]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        maker = Maker()
        with maker.start(folder / "made") as store:
            store.add([maker.next() for _ in range(EVALUATIONS)])
            passed(store, [store.variant(0), *fastest(store)[:50]])
            explain(store)
        build(folder / "made")
        follow(folder / "made", maker)
        rates = {True: [], False: []}
        for n in range(2 * ROUNDS):
            watched = n % 2 == 1
            rates[watched].append(search(folder / f"run{n}", watched=watched))
        alone, both = (statistics.median(rates[watched]) for watched in (False, True))
        print(
            f"a search alone: {alone:.1f} evaluations/s; watched: {both:.1f} ({both / alone - 1:+.1%})"
        )
