"""How well does a `sim` device rank? Its cycles beside times that were measured on a real GPU.

Measured times come from a tuner (`measured`), with the kernel that they were measured on and a
description of how a configuration is compiled and launched (`host`, `kerneltuner`); or from a run of
ours on a `cuda` device (`runs`). The same configurations are run on the model (`simulate`), and both
columns are compared (`agreement`) and drawn (`plot`).
"""

from gevolve.calibrate.agreement import Agreement, agreement
from gevolve.calibrate.host import Configuration, Host
from gevolve.calibrate.measured import Measured, read_measured
from gevolve.calibrate.report import Calibration, Point, calibrate
from gevolve.calibrate.runs import calibrate_run

__all__ = [
    "Agreement",
    "Calibration",
    "Configuration",
    "Host",
    "Measured",
    "Point",
    "agreement",
    "calibrate",
    "calibrate_run",
    "read_measured",
]
