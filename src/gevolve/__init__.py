"""gevolve makes compute programs faster by evolving their intermediate representation.

The public API is what this module holds; everything else may change.
"""

from gevolve.analyze.cost import Costs, costs
from gevolve.analyze.explain import explain
from gevolve.analyze.findings import (
    Checked,
    Effect,
    Explanation,
    Interval,
    Minimised,
    Pair,
    Story,
)
from gevolve.analyze.minimize import minimize
from gevolve.analyze.validate import validate
from gevolve.device.base import Buffer, Device, Gpu, Limits, Usage
from gevolve.device.registry import open_device
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
from gevolve.patch import Edit, Patch
from gevolve.program import Program, Variant
from gevolve.run.loop import Progress, optimize, resume, summarise
from gevolve.run.options import Options
from gevolve.run.result import Entry, Result
from gevolve.workload.base import Case, KernelWorkload, relative_error
from gevolve.workload.model import ModelWorkload

__all__ = [
    "Buffer",
    "Case",
    "Checked",
    "CompileError",
    "Costs",
    "Device",
    "DeviceError",
    "Edit",
    "Effect",
    "Entry",
    "Evaluation",
    "EvaluationError",
    "Explanation",
    "GevolveError",
    "Gpu",
    "Interval",
    "KernelWorkload",
    "LaunchError",
    "Limits",
    "Minimised",
    "ModelWorkload",
    "OptionError",
    "Options",
    "Pair",
    "Patch",
    "PatchError",
    "Program",
    "Progress",
    "Result",
    "SourceError",
    "StoreError",
    "Story",
    "UnsupportedError",
    "Usage",
    "Variant",
    "Verdict",
    "WorkloadError",
    "costs",
    "explain",
    "load",
    "minimize",
    "open_device",
    "optimize",
    "relative_error",
    "resume",
    "summarise",
    "validate",
]
