"""``gevolve validate``, ``minimize`` and ``explain``: whether a gain is one, and what makes it."""

# ruff: noqa: D417  (what several commands have in common is described once, by its type)

from gevolve.analyze.explain import explain
from gevolve.analyze.inspect import inspect
from gevolve.analyze.minimize import minimize
from gevolve.analyze.validate import validate
from gevolve.cli.words import Folder, Json, Trust, Workers, print_found
from gevolve.report.analysis import StatusLine, explanation, minimal, validation
from gevolve.run.run import Run


def validate_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Check a run's front on inputs that were never used; what fails is removed from it.

    Every call draws new inputs.

    Parameters
    ----------
    variant
        Check one variant, also on the large case.

    """
    with Run.open(run, writable=True, trust=trust) as mine, StatusLine() as say:
        found = validate(mine, variant, workers=workers, say=say)
    print_found(found, validation(found), json=json)


def minimize_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Leave out every edit of a patch that does not pay, and check what remains.

    The minimal patch then stands for the variant in every view and export.
    A call that was interrupted goes on where it was, and so it does where the end of
    a run tried only some patches.

    Parameters
    ----------
    variant
        Its id, such as v17; the best validated one if not given.

    """
    with Run.open(run, writable=True, trust=trust) as mine:
        with StatusLine() as say:
            found = minimize(mine, variant, workers=workers, say=say)
        print_found(found, minimal(found, inspect(mine, found.id)), json=json)


def explain_(
    run: Folder,
    /,
    *,
    variant: str | None = None,
    workers: Workers = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Say what each edit of a patch does, and which edits only work together.

    It judges the patch with only one edit, without it, and with pairs of edits.

    Parameters
    ----------
    variant
        Its id, such as v17; the minimal patch of the best validated one if not given.

    """
    with Run.open(run, writable=True, trust=trust) as mine, StatusLine() as say:
        found = explain(mine, variant, workers=workers, say=say)
    print_found(found, explanation(found), json=json)
