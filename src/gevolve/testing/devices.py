"""What every kernel device must do, as a test suite: for authors of a device.

Subclass it in a test file and say how your device is opened; pytest does the rest::

    class TestAbacus(DeviceConformance):
        def open(self):
            return Abacus()

The checks launch the kernels of ``devices.cu``. ``python -m gevolve.testing.devices cuda:0 CHECK...``
runs some of them in a process of its own, which a faulty kernel may leave unusable.
"""

import sys

import pytest

from gevolve.device.base import Device
from gevolve.device.registry import open_device
from gevolve.testing import device_faults  # its checks add themselves to the suite
from gevolve.testing.device_checks import BREAKING, CHECKS, artefact_of

__all__ = ["BREAKING", "CHECKS", "DeviceConformance", "artefact_of", "device_faults"]


class DeviceConformance:
    """The tests; a subclass defines `open`."""

    __test__ = False

    def __init_subclass__(cls) -> None:
        """Let pytest collect subclasses, unless one says `__test__ = False` as this class does."""
        cls.__test__ = cls.__dict__.get("__test__", True)

    def open(self) -> Device:
        """The device to test."""
        raise NotImplementedError

    @pytest.mark.parametrize("name", CHECKS)
    def test_check(self, name: str) -> None:
        CHECKS[name](self.open())


if __name__ == "__main__":
    opened = open_device(sys.argv[1])
    for check in sys.argv[2:]:
        CHECKS[check](opened)
        print("passed", check)
