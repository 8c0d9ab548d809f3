"""gevolve makes compute programs faster by evolving their intermediate representation.

The public API is what this module holds; everything else may change. Functions that take a run take
an open `Run` or the path of its folder.
"""

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
from gevolve.optimize import optimize, resume
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
    "inspect",
    "load",
    "minimize",
    "open",
    "open_device",
    "optimize",
    "relative_error",
    "report",
    "resume",
    "suite",
    "summarize",
    "validate",
    "watch",
]
