"""gevolve makes compute programs faster by evolving their intermediate representation.

The public API is what this module holds; everything else may change. Functions that take a run take
an open `Run` or the path of its folder.

A name is loaded when it is first used: a worker need not wait for what only a report needs.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gevolve.analyze.cost import Costs, costs
    from gevolve.analyze.explain import explain
    from gevolve.analyze.inspect import VariantDetail, inspect
    from gevolve.analyze.minimize import minimize
    from gevolve.analyze.validate import validate
    from gevolve.device.base import Buffer, Device, Gpu, Limits, Usage
    from gevolve.device.registry import devices, open_device
    from gevolve.errors import (
        CompileError,
        DeviceError,
        EvaluationError,
        GevolveError,
        LaunchError,
        OptionError,
        PatchError,
        SourceError,
        StoreError,
        UnsupportedError,
        WorkloadError,
    )
    from gevolve.evaluate.verdict import Evaluation, Verdict
    from gevolve.export.load import load
    from gevolve.export.variant import Exported, export
    from gevolve.onnx import OnnxModel, from_onnx
    from gevolve.optimize import optimize, resume
    from gevolve.optimize_model import OptimizedModel, optimize_model
    from gevolve.patch import Edit, Patch
    from gevolve.program import Program, Variant
    from gevolve.report.html.build import report
    from gevolve.report.watch import watch
    from gevolve.run.findings import (
        EditPair,
        Effect,
        ExplainedEdit,
        Explanation,
        Interval,
        Minimized,
        Validation,
    )
    from gevolve.run.loop import Progress
    from gevolve.run.options import Options
    from gevolve.run.run import Run, summarize
    from gevolve.run.summary import Summary, VariantSummary
    from gevolve.search import Problem, Search, Settings
    from gevolve.suite import suite
    from gevolve.torch import TorchModel, from_torch
    from gevolve.workload.base import Case
    from gevolve.workload.error import relative_error
    from gevolve.workload.kernel import KernelWorkload
    from gevolve.workload.model import ModelWorkload

    open = Run.open  # noqa: A001  (as in `gevolve.open(folder)`)

__all__ = [
    "Buffer",
    "Case",
    "CompileError",
    "Costs",
    "Device",
    "DeviceError",
    "Edit",
    "EditPair",
    "Effect",
    "Evaluation",
    "EvaluationError",
    "ExplainedEdit",
    "Explanation",
    "Exported",
    "GevolveError",
    "Gpu",
    "Interval",
    "KernelWorkload",
    "LaunchError",
    "Limits",
    "Minimized",
    "ModelWorkload",
    "OnnxModel",
    "OptimizedModel",
    "OptionError",
    "Options",
    "Patch",
    "PatchError",
    "Problem",
    "Program",
    "Progress",
    "Run",
    "Search",
    "Settings",
    "SourceError",
    "StoreError",
    "Summary",
    "TorchModel",
    "UnsupportedError",
    "Usage",
    "Validation",
    "Variant",
    "VariantDetail",
    "VariantSummary",
    "Verdict",
    "WorkloadError",
    "costs",
    "devices",
    "explain",
    "export",
    "from_onnx",
    "from_torch",
    "inspect",
    "load",
    "minimize",
    "open",
    "open_device",
    "optimize",
    "optimize_model",
    "relative_error",
    "report",
    "resume",
    "suite",
    "summarize",
    "validate",
    "watch",
]

_HOMES = {
    ".analyze.cost": "Costs costs",
    ".analyze.explain": "explain",
    ".analyze.inspect": "VariantDetail inspect",
    ".analyze.minimize": "minimize",
    ".analyze.validate": "validate",
    ".device.base": "Buffer Device Gpu Limits Usage",
    ".device.registry": "devices open_device",
    ".errors": "CompileError DeviceError EvaluationError GevolveError LaunchError OptionError PatchError SourceError StoreError UnsupportedError WorkloadError",
    ".evaluate.verdict": "Evaluation Verdict",
    ".export.load": "load",
    ".export.variant": "Exported export",
    ".onnx": "OnnxModel from_onnx",
    ".optimize": "optimize resume",
    ".optimize_model": "OptimizedModel optimize_model",
    ".patch": "Edit Patch",
    ".program": "Program Variant",
    ".report.html.build": "report",
    ".report.watch": "watch",
    ".run.findings": "EditPair Effect ExplainedEdit Explanation Interval Minimized Validation",
    ".run.loop": "Progress",
    ".run.options": "Options",
    ".run.run": "Run summarize",
    ".run.summary": "Summary VariantSummary",
    ".search": "Problem Search Settings",
    ".suite": "suite",
    ".torch": "TorchModel from_torch",
    ".workload.base": "Case",
    ".workload.error": "relative_error",
    ".workload.kernel": "KernelWorkload",
    ".workload.model": "ModelWorkload",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "open":
            value = importlib.import_module(".run.run", __name__).Run.open
        elif name in _HOME:
            value = getattr(importlib.import_module(_HOME[name], __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`gevolve.export` is the function of that name, though there is a package of that name, too."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
