"""Model workloads for tests of the evaluator: an honest one, and one whose edits are whole programs."""

import numpy as np

from gevolve.patch import Patch
from gevolve.program import Variant
from gevolve.workload.base import Case
from gevolve.workload.model import ModelWorkload


class HostileProgram:
    """Its text is an honest program; an edit ``KIND N`` puts a hostile one in its place."""

    kinds = ("honest",)
    digest = "hostile"

    @property
    def text(self):
        from tests.device.xla.hostile import HONEST

        return HONEST

    def apply(self, patch: Patch) -> Variant:
        from tests.device.xla.hostile import MAKERS

        text = self.text
        for edit in patch:
            if edit.kind == "honest":
                text = text.replace("@honest", f"@honest{edit.args[0]}")
            else:
                text = MAKERS[edit.kind.replace("-", "_")][0](int(edit.args[0]))
        return Variant(patch, text)

    def verify(self, text):
        return None

    def rerounded(self, seed):
        return self.text

    def instrumented(self):
        return self.text


class Hostile(ModelWorkload):
    inputs = ("x",)

    def program(self):
        return "honest.mlir"

    def load(self):
        return HostileProgram()

    def restore(self, text):
        return HostileProgram()

    def data(self, split):
        return Case(x=np.arange(4, dtype=np.float32), labels=2 * np.arange(4, dtype=np.float32))

    def error(self, outputs, data):
        return float(np.abs(outputs - data.labels).max())


class UsesJax(Hostile):
    """A backend in the worker: no child could be forked from it."""

    def data(self, split):
        import jax.numpy as jnp

        case = super().data(split)
        return Case(x=np.asarray(jnp.asarray(case.x) + 0), labels=case.labels)


class PartedProgram(HostileProgram):
    """An edit ``other NAME`` puts another operation in the place of the honest one."""

    kinds = ("other",)
    digest = "parted"

    def apply(self, patch: Patch) -> Variant:
        text = self.text
        for edit in patch:
            text = text.replace("stablehlo.add", f"stablehlo.{edit.args[0]}")
        return Variant(patch, text)


class Parted(Hostile):
    """Forty parts of four numbers each, of which almost all tell a sum from anything else."""

    in_parts = ("x", "labels")

    def load(self):
        return PartedProgram()

    def restore(self, text):
        return PartedProgram()

    def data(self, split):
        x = np.linspace(0, 1, 160, dtype=np.float32).reshape(40, 4)
        return Case(x=x, labels=2 * x)

    def error(self, outputs, data):
        return float(np.mean(np.abs(outputs - data.labels) > 0.05))
