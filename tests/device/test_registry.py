"""Devices of other packages: found by their entry point, opened by name, judged like any other."""

import sys

import pytest

import gevolve
from gevolve.device.registry import devices, open_device, worker_devices
from gevolve.errors import PluginError
from tests.plugins import install, python

ABACUS = '''
"""A device that counts the lines of a program."""

import gevolve
from gevolve.device.base import Device, Usage


class Beads:
    def __init__(self, text):
        self.text = text

    def usage(self, *, timed=True):
        return Usage(time=float(self.text.count(b"\\n")))

    def close(self):
        pass


class Abacus(Device):
    """Counts on beads.

    More of it.
    """

    def __init__(self, model=""):
        if model not in ("", "large"):
            raise gevolve.DeviceError(f"no device 'abacus:{model}'; use abacus or abacus:large")
        self.name = f"abacus:{model}" if model else "abacus"

    @classmethod
    def workers(cls, model):
        return [model]

    def build(self, text):
        return text.encode()

    def open(self, artefact, limits, *, poison=0, check=None):
        return Beads(artefact)
'''


@pytest.fixture
def abacus(tmp_path, monkeypatch):
    families = {"abacus": "abacus_device:Abacus", "sim": "abacus_device:No"}
    install(tmp_path, "abacus-device", ABACUS, {"gevolve.devices": families})
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("abacus_device", None)


def test_a_device_of_another_package_is_opened_by_name(abacus):
    device = open_device("abacus:large")
    assert device.name == "abacus:large"
    assert device.open(device.build("a\nb\nc"), gevolve.Limits()).usage().time == 2
    assert ("abacus", "Counts on beads.") in devices()
    assert worker_devices("abacus:large") == ["abacus:large"]
    assert worker_devices("abacus") == ["abacus"]
    with pytest.raises(gevolve.DeviceError, match="use abacus or"):
        open_device("abacus:small")


def test_what_a_device_need_not_say_has_defaults(abacus):
    device = open_device("abacus")
    assert (device.deterministic, device.isolated, device.referee, device.checks) == (
        *(True, False, ""),
        (),
    )
    device.prepare(b"", ())
    device.keep(b"")
    device.check_fork()
    assert device.fingerprint(b"") == ""
    assert device.cost(b"", print, gevolve.Limits()) is None


def test_the_command_line_lists_it(abacus):
    done = python(abacus, "-m", "gevolve", "devices")
    assert done.stdout.splitlines()[-1].split(maxsplit=1) == ["abacus", "Counts on beads."]


def test_a_package_cannot_replace_a_device(abacus):
    assert type(open_device("sim")).__name__ == "Sim"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nothing_of_this_name", "cannot be loaded (ModuleNotFoundError"),
        ("Other = 1", "cannot be loaded (AttributeError"),
        ("class Abacus: pass", "'abacus' of gevolve.devices is no subclass of Device"),
    ],
)
def test_a_broken_package_is_told_in_one_line(tmp_path, monkeypatch, text, words):
    families = {"abacus": "broken_device:Abacus"}
    install(tmp_path, "broken-device", text, {"gevolve.devices": families})
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(PluginError) as caught:
            open_device("abacus")
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
        assert devices()[-1] == ("abacus", str(caught.value))
    finally:
        sys.modules.pop("broken_device", None)


def test_an_unknown_device():
    with pytest.raises(gevolve.DeviceError, match="no device 'abacus'; `gevolve devices` lists"):
        open_device("abacus:large")
