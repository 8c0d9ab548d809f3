"""gevo makes compute programs faster by evolving their intermediate representation.

The public API is what this module holds; everything else may change.
"""

from gevo.analyze.explain import explain
from gevo.analyze.findings import (
    Checked,
    Effect,
    Explanation,
    Interval,
    Minimised,
    Pair,
    Story,
)
from gevo.analyze.minimize import minimize
from gevo.analyze.validate import validate
from gevo.cost import Costs, costs
from gevo.device import Buffer, Device, Gpu, Limits, Usage, open_device
from gevo.errors import (
    CompileError,
    DeviceError,
    EvaluationError,
    GevoError,
    LaunchError,
    OptionError,
    PatchError,
    SourceError,
    StoreError,
    UnsupportedError,
    WorkloadError,
)
from gevo.evaluate.verdict import Evaluation, Verdict
from gevo.load import load
from gevo.model import ModelWorkload
from gevo.options import Options
from gevo.patch import Edit, Patch
from gevo.program import Program, Variant
from gevo.result import Entry, Result
from gevo.run import Progress, optimize, resume, summarise
from gevo.workload import Case, KernelWorkload, relative_error

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
    "GevoError",
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
