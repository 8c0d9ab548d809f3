"""Re-fit what a search has found: train the weights that its edits left, and judge the variant with them.

It is what anybody does who prunes a network. The weights are trained on data of their own (`gevolve.analyze.fitting`),
put into the program as constants, and judged as any other artefact: on the search cases and on held-out ones. The time of
a variant does not depend on the numbers in its weights, so it is that of the variant as it was measured.

The search may go beyond the tolerance meanwhile (`Config.loose`). What a re-fit does not bring back is not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gevolve.analyze.fitting import fit
from gevolve.errors import StoreError
from gevolve.ir import IRS
from gevolve.run.findings import Refit
from gevolve.run.standings import ROUNDING
from gevolve.run.store import format_id
from gevolve.system.npz import from_npz

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gevolve.analyze.session import Session
    from gevolve.evaluate.verdict import Evaluation
    from gevolve.run.run import Run
    from gevolve.run.store import StoredVariant
    from gevolve.workload.base import Array, Split

JUDGING: tuple[Split, ...] = ("search", "unseen")
"""What re-fit variants are judged on; ``unseen`` is held-out data without the clock."""


def refit_front(session: Session) -> None:
    """Re-fit the fastest of the front that a re-fit brings within the tolerance, and the fastest that needs none.

    The faster a variant of a front, the more wrong it is, so the first that passes is found by halving.
    """
    if not session.run.config.refit:
        return
    standings = session.standings
    front = [(id_, one) for id_, one in standings.front if one.patch.edits]
    rows = [session.run.store.variant(id_) for id_, _ in front]
    fine = [n for n, (id_, one) in enumerate(front) if standings.passes(id_, one.evaluation)]
    low, high = 0, fine[0] if fine else len(rows)
    refit(session, [rows[n] for n in fine[:1]], all_=True)
    while low < high:
        middle = (low + high) // 2
        refit(session, [rows[middle]])
        if standings.within(*_known(rows[middle])):
            high = middle
        else:
            low = middle + 1


def refit(session: Session, rows: Sequence[StoredVariant], *, all_: bool = False) -> None:
    """Re-fit those variants that are not within the tolerance without, or all of them."""
    steps = session.run.config.refit
    if not steps:
        return
    for row in rows:
        known = session.run.findings.refits.get(format_id(row.id))
        needed = all_ or not session.standings.passes(*_known(row))
        if row.patch.edits and row.evaluation.ok and needed and known is None:
            session.say(f"re-fitting {format_id(row.id)}: {steps} steps")
            found = _refit(session, row, steps)
            session.run.findings.add_refit(found)
            session.standings.refit(found)


def _known(row: StoredVariant) -> tuple[int, Evaluation]:
    return row.id, row.evaluation


def _refit(session: Session, row: StoredVariant, steps: int) -> Refit:
    run, name = session.run, format_id(row.id)
    text = run.program.apply(row.patch).text
    fitted = fit(run.config.location, text, steps)
    if fitted.why:
        return Refit(id=name, steps=steps, why=fitted.why)
    file = f"refit-{name}.npz"
    (run.folder / file).write_bytes(fitted.weights)
    artefact = run.device.build(with_weights(text, from_npz(fitted.weights), arguments=True))
    errors: list[float | None] = []
    within = True
    for split in JUDGING:
        unedited = session.evaluator.prepare(split).evaluation.error or 0.0
        session.evaluator.submit(0, row.patch, split, artefact=artefact)
        ((_, judged),) = session.evaluator.results()
        errors.append(judged.error if judged.ok else None)
        bound = unedited + run.config.tolerance + ROUNDING
        within = within and judged.ok and (judged.error or 0.0) <= bound
    return Refit(
        id=name, steps=steps, error=errors[0], held_out_error=errors[1], within=within, file=file
    )


def with_weights(text: str, weights: Mapping[str, Array], *, arguments: bool) -> str:
    """A program with re-fit constants, and if asked to also with re-fit arguments, as constants."""
    IRS["stablehlo"].implementation()
    from gevolve.ir.stablehlo.differentiable import with_values  # noqa: PLC0415  (JAX loads when needed)

    given = {int(name[1:]): one for name, one in weights.items() if name[0] == "a"}
    own = {int(name[1:]): one for name, one in weights.items() if name[0] == "c"}
    return with_values(text, given if arguments else {}, own)


def refit_weights(run: Run, name: str) -> dict[str, Array]:
    """The weights that a variant was re-fit with, if that brought it within the tolerance; else none."""
    found = run.findings.refits.get(name)
    if found is None or not found.within:
        return {}
    try:
        return from_npz((run.folder / f"refit-{name}.npz").read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{run.folder}: the weights of {name} cannot be read ({error}); restore refit-{name}.npz"
        ) from None
