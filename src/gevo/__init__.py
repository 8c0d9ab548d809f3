"""gevo makes compute programs faster by evolving their intermediate representation.

The public API is what this module holds; everything else may change.
"""

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
from gevo.options import Options
from gevo.patch import Edit, Patch
from gevo.program import Program, Variant
from gevo.result import Entry, Result
from gevo.run import Progress, optimize, resume, summarise
from gevo.workload import Case, KernelWorkload, relative_error

__all__ = [
    "Buffer",
    "Case",
    "CompileError",
    "Costs",
    "Device",
    "DeviceError",
    "Edit",
    "Entry",
    "Evaluation",
    "EvaluationError",
    "GevoError",
    "Gpu",
    "KernelWorkload",
    "LaunchError",
    "Limits",
    "OptionError",
    "Options",
    "Patch",
    "PatchError",
    "Program",
    "Progress",
    "Result",
    "SourceError",
    "StoreError",
    "UnsupportedError",
    "Usage",
    "Variant",
    "Verdict",
    "WorkloadError",
    "costs",
    "load",
    "open_device",
    "optimize",
    "relative_error",
    "resume",
    "summarise",
]
