"""Trains the weights of one variant for a few steps, in a process of its own.

Started as ``python -m gevolve.analyze.fitting``: an `Order` comes in on standard input, and the weights (or one line
that says why there are none) go out to the file that it names. JAX is used here as nowhere else in the main
process, and whatever it trips over ends this process alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from hashlib import sha256
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from gevolve.errors import GevolveError, UnsupportedError, WorkloadError, one_line
from gevolve.ir import IRS
from gevolve.system import environment, linux
from gevolve.system.npz import to_npz
from gevolve.workload.base import Array, Case, Workload
from gevolve.workload.locate import Location, location_of
from gevolve.workload.model import ModelWorkload

if TYPE_CHECKING:
    from collections.abc import Callable

RATE = 1e-3
"""The first step's rate of Adam; it falls to nothing in a straight line."""
TOGETHER = 4
"""Each step goes by so many parts of the case, where it comes in parts."""
SECONDS = 1800.0
"""So long a re-fit may take."""
SHARED, LONG = 0.01, 64
"""No more of its rows than this share may be among those that judge, counting rows of so many bytes."""
_ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "PJRT_NPROC": "1",  # sums in another order would give other weights
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "PYTHONHASHSEED": "0",
}


class Order(msgspec.Struct, frozen=True):
    """What to train, and where to put what comes of it."""

    spec: Location
    text: str
    """The variant."""
    steps: int
    file: str
    main: int
    path: list[str]


class Fitted(msgspec.Struct, frozen=True):
    """What came of it: weights as bytes of an npz file, or why there are none."""

    weights: bytes = b""
    why: str = ""


def fit(location: Location, text: str, steps: int) -> Fitted:
    """Train the weights of a variant; the same every time."""
    with tempfile.TemporaryDirectory(prefix="gevolve-") as folder:
        file = Path(folder, "fitted")
        order = Order(location, text, steps, str(file), os.getpid(), sys.path.copy())
        try:
            done = subprocess.run(
                [sys.executable, "-m", "gevolve.analyze.fitting"],
                input=msgspec.msgpack.encode(order),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment.named(os.environ) | _ENVIRONMENT,
                process_group=0,  # so that Ctrl-C in the terminal reaches only us
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Fitted(why=f"it took more than {SECONDS:g} s; try fewer steps")
        if not file.exists():
            return Fitted(why=f"its process ended with status {done.returncode}")
        return msgspec.msgpack.decode(file.read_bytes(), type=Fitted)


def check_can_fit(workload: Workload, text: str) -> None:
    """Raise `WorkloadError` if the weights of a workload's program cannot be trained."""
    _check_offers(workload)
    if why := fit(location_of(workload), text, 0).why:
        raise WorkloadError(
            f"{why.removeprefix(f'{workload.name}: ')} (--refit of {workload.name})"
        )


def _check_offers(workload: Workload) -> None:
    if not isinstance(workload, ModelWorkload):
        raise WorkloadError(f"{workload.name}: --refit is for models, and this is a kernel")
    if type(workload).loss is ModelWorkload.loss:
        raise WorkloadError(
            f"{workload.name}: --refit is for models that predict, with trained weights; this one has no"
            " loss(outputs, data) to train them by"
        )


def train(workload: ModelWorkload, text: str, steps: int) -> dict[str, Array]:
    """The weights of a variant after so many steps, by their names.

    A weight is an argument (``a3``), as far as `ModelWorkload.refits` names its entry of the case, or a
    large constant of the program (``c0``).
    """
    jax: Any = import_module("jax")
    stablehlo: Any = IRS["stablehlo"].implementation()
    differentiable: Any = import_module("gevolve.ir.stablehlo.differentiable")
    case = _data(workload)
    cut = {name: case[name] for name in workload.in_parts}
    rest = {name: value for name, value in case.inputs.items() if name not in cut}
    first = Case(**rest, **_part(cut, 0))
    function = differentiable.function_of(text)
    structured = stablehlo.unflattener(workload.origin(), workload.arguments(first))
    start = _weights(workload, first, differentiable.weights_of(text))

    def loss(weights: dict[str, Any], part: dict[str, Any]) -> Any:
        data = Case(**rest, **part)
        flat = jax.tree.leaves(workload.arguments(data))
        flat = [weights.get(f"a{number}", leaf) for number, leaf in enumerate(flat)]
        constants = {int(name[1:]): one for name, one in weights.items() if name[0] == "c"}
        return workload.loss(structured(function(flat, constants)), data)

    if not steps:  # enough to know that it can be done
        jax.eval_shape(jax.grad(loss), start, _part(cut, 0))
        return start
    parts = workload.parts(case)
    some = min(TOGETHER, parts)
    rng = np.random.default_rng(0x726566)
    rounds = -(-steps * some // parts)
    order = np.concatenate([rng.permutation(parts) for _ in range(rounds)])[: steps * some]
    wide = isinstance(workload.origin(), Path)  # a file says itself how wide its numbers are
    with jax.enable_x64(wide):
        trained = _descend(jax, loss, start, cut, order.reshape(steps, some))
    if not all(np.isfinite(one).all() for one in trained.values()):
        raise UnsupportedError(f"the loss of {workload.name} has no finite gradient")
    return trained


def _descend(
    jax: Any,
    loss: Callable[[dict[str, Any], dict[str, Any]], Any],
    start: dict[str, Array],
    cut: dict[str, Any],
    order: Array,
) -> dict[str, Array]:
    """Adam with a rate that falls to nothing; each row of `order` has the parts of one step."""
    jnp, each = jax.numpy, jax.tree.map
    steps, some = order.shape

    def descend(weights: Any, parts: Any, order: Any) -> Any:
        def add(total: Any, number: Any) -> Any:
            weights, slopes = total
            new = jax.grad(loss)(weights, _part(parts, number))
            return (weights, each(jnp.add, slopes, new)), None

        def mixed(kept: float, old: Any, new: Any) -> Any:
            return each(partial(_mix, kept), old, new)

        def step(state: Any, row: Any) -> Any:
            weights, mean, square, count = state
            slopes = jax.lax.scan(add, (weights, each(jnp.zeros_like, weights)), row)[0][1]
            slopes = each(partial(jnp.multiply, 1 / some), slopes)
            mean = mixed(0.9, mean, slopes)
            square = mixed(0.999, square, each(jnp.square, slopes))
            rate = RATE * (1 - count / steps)

            def moved(w: Any, m: Any, s: Any) -> Any:
                size = jnp.sqrt(s / (1 - 0.999 ** (count + 1))) + 1e-8
                return w - (rate * m / (1 - 0.9 ** (count + 1)) / size).astype(w.dtype)

            return (each(moved, weights, mean, square), mean, square, count + 1), None

        zero = each(jnp.zeros_like, weights)
        return jax.lax.scan(step, (weights, zero, zero, jnp.float32(0)), order)[0][0]

    found = jax.jit(descend)(each(jnp.asarray, start), each(jnp.asarray, cut), order)
    return {name: np.asarray(one) for name, one in found.items()}


def _mix(kept: float, old: Any, new: Any) -> Any:
    return kept * old + (1 - kept) * new


def _part(parts: dict[str, Any], number: Any) -> dict[str, Any]:
    """One part of what comes in parts."""
    return import_module("jax").tree.map(itemgetter(number), parts)


def _data(workload: ModelWorkload) -> Case:
    """The case that weights are re-fit on, which must have nothing of those that judge them."""
    try:
        case = workload.data("refit")
    except GevolveError:
        raise
    except Exception as error:
        raise WorkloadError(
            f"{workload.name}: data('refit') fails ({one_line(error)}); --refit needs data that neither the"
            " search nor its checks use"
        ) from error
    inputs = [name for name in workload.entries() if name not in workload.refits]
    judging = [workload.data("search"), workload.data("held-out")]
    known = {row for other in judging for row in _rows(workload, other, inputs)}
    rows = _rows(workload, case, inputs)
    shared = sum(row in known for row in rows)
    if shared > SHARED * len(rows):
        raise WorkloadError(
            f"{workload.name}: {shared} of the {len(rows)} rows of data('refit') also judge variants; give"
            " others, or a re-fit learns them by heart"
        )
    return case


def _rows(workload: ModelWorkload, case: Case, names: list[str]) -> list[bytes]:
    """What a program is given row by row, as far as a row is long enough not to be like another by chance."""
    stablehlo: Any = IRS["stablehlo"].implementation()
    found: list[bytes] = []
    for name in names:
        before = 2 if name in workload.in_parts else 1
        for array in stablehlo.flatten([case[name]], workload.origin()):
            if array.ndim > before and array[(0,) * before].nbytes >= LONG:
                flat = array.reshape(-1, *array.shape[before:])
                found += [sha256(row.tobytes()).digest() for row in flat]
    return found


def _weights(workload: ModelWorkload, case: Case, constants: list[Array]) -> dict[str, Array]:
    """What is trained: fractions in entries that `refits` names, and the program's own."""
    stablehlo: Any = IRS["stablehlo"].implementation()
    found: dict[str, Array] = {}
    number = 0
    for name in workload.entries():
        arrays = stablehlo.flatten([case[name]], workload.origin())
        if name in workload.refits and name not in workload.in_parts:
            found |= {
                f"a{number + n}": one for n, one in enumerate(arrays) if one.dtype.kind == "f"
            }
        number += len(arrays)
    found |= {f"c{n}": one for n, one in enumerate(constants)}
    if not found:
        raise UnsupportedError(
            f"{workload.name}: there are no weights to re-fit: `refits` names no entry that the program takes,"
            " and it has no large constants"
        )
    return found


def main() -> None:
    """The life of the process."""
    order = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Order)
    linux.die_with_parent(order.main, signal.SIGKILL)
    sys.path[:] = order.path
    try:
        workload = order.spec.build()
        _check_offers(workload)
        assert isinstance(workload, ModelWorkload)
        answer = Fitted(weights=to_npz(train(workload, order.text, order.steps)))
    except GevolveError as error:
        answer = Fitted(why=str(error))
    except Exception as error:  # noqa: BLE001  (the workload's own code may raise anything)
        answer = Fitted(why=one_line(error))
    Path(order.file).write_bytes(msgspec.msgpack.encode(answer))


if __name__ == "__main__":
    main()
