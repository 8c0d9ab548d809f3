"""Models: what it costs to apply a patch of 20 edits, and how many proposed edits compile.

`python -m benchmarks.stablehlo N` compiles N edits of each kind on each program instead of 10.
"""

import select
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from gevolve.ir import stablehlo
from gevolve.patch import Patch

LAYERS = (4, 62, 85)
REPEATS = 15
FIXTURES = Path(__file__).parents[1] / "tests/ir/stablehlo/fixtures"
DEADLINE = 60


def tower(x, weights):
    """Some normalised layers: about 36 operations each."""
    for w in weights:
        h = jax.nn.gelu(x @ w)
        h = h - h.mean(-1, keepdims=True)
        x = x + h / jnp.sqrt((h * h).mean(-1, keepdims=True) + 1e-5)
    return x


def draw(program: stablehlo.StablehloProgram, rng: np.random.Generator, count: int) -> Patch:
    kinds = program.kinds
    edits = (program.propose(kinds[int(rng.integers(len(kinds)))], rng, None) for _ in range(count))
    return Patch(tuple(edit for edit in edits if edit is not None))


def cost() -> None:
    print(
        f"{'operations':>10} {'apply ms':>9} {'verify ms':>10} {'bytecode ms':>12} {'total ms':>9}"
    )
    for layers in LAYERS:
        weights = [np.zeros((16, 16), np.float32)] * layers
        program = stablehlo.load(tower, [np.zeros((8, 16), np.float32), weights])
        rng = np.random.default_rng(1)
        spans: list[list[float]] = [[], [], []]
        for _ in range(REPEATS):
            patch = draw(program, rng, 20)
            at = [time.process_time()]
            variant = program.apply(patch)
            at.append(time.process_time())
            assert program.verify(variant.text) is None
            at.append(time.process_time())
            stablehlo.canonical(variant.text)
            at.append(time.process_time())
            for span, start, end in zip(spans, at, at[1:], strict=False):
                span.append(1e3 * (end - start))
        apply, verify, code = (float(np.min(span)) for span in spans)
        print(
            f"{program.size:>10} {apply:>9.2f} {verify:>10.2f} {code:>12.2f} "
            f"{apply + verify + code:>9.2f}"
        )


def compiler() -> None:
    """Reads modules as lines of hexadecimal digits and says of each whether XLA compiles it."""
    from jax.extend import backend  # noqa: PLC0415  (the parent has no backend)

    client = backend.get_backend()
    options = backend.get_compile_options(
        num_replicas=1,
        num_partitions=1,
        env_options_overrides={"xla_disable_hlo_passes": "constant_folding"},
    )
    for line in sys.stdin:
        try:
            client.compile_and_load(bytes.fromhex(line), client.local_devices()[:1], options)
            answer = "ok"
        except Exception as error:  # noqa: BLE001  (XLA's word is what is asked for)
            answer = " ".join(str(error).split())[:200]
        print(answer, flush=True)


class Compiler:
    """A process that compiles, replaced when it dies or takes too long."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.stablehlo", "compiler"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, code: bytes) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(code.hex() + "\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], DEADLINE)
        answer = self._process.stdout.readline().strip() if ready else "deadline"
        if not answer or not ready:
            self.close()
            self._start()
        return answer or "died"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def validity(count: int) -> None:
    compile_ = Compiler()
    print(
        f"\nedits that verify and compile, of {count} proposed of each kind; skipped ones left out"
    )
    print(f"{'program':>12} {'ops':>5}  kind by kind")
    total = right = 0
    for path in sorted(FIXTURES.glob("*.mlir")):
        program = stablehlo.load(path)
        rng = np.random.default_rng(7)
        cells: list[str] = []
        for kind in program.kinds:
            good = tried = 0
            for _ in range(count):
                edit = program.propose(kind, rng, None)
                variant = None if edit is None else program.apply(Patch((edit,)))
                if variant is None or variant.skipped:
                    continue
                tried += 1
                answer = program.verify(variant.text) or compile_(stablehlo.canonical(variant.text))
                good += answer == "ok"
                if answer != "ok":
                    print(f"    {edit}: {answer}")
            cells.append(f"{kind} {good}/{tried}")
            total, right = total + tried, right + good
        print(f"{path.stem:>12} {program.size:>5}  {', '.join(cells)}")
    compile_.close()
    print(f"{right} of {total} ({right / total:.2%})")


def main() -> None:
    cost()
    validity(10)


if __name__ == "__main__":
    if sys.argv[1:] == ["compiler"]:
        compiler()
    else:
        cost()
        validity(int(sys.argv[1]) if sys.argv[1:] else 10)
