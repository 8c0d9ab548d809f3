"""The device `xla`. What needs a JAX backend runs in a process of its own: see `checks`."""

import json
import subprocess
import sys

import pytest

from gevolve.device.registry import open_device
from gevolve.device.xla import Xla
from gevolve.device.xla.listing import found_by_jax
from gevolve.errors import DeviceError
from tests import ROOT
from tests.device.xla import checks, hostile


def python(*arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outcomes():
    return json.loads(python("-m", checks.__name__))


@pytest.mark.parametrize("check", checks.CHECKS)
def test_check(check, outcomes):
    assert outcomes[check] == ""


def test_hostile_programs_are_all_different():
    made = list(hostile.programs(500))
    assert len({text for _, text, _ in made}) == 500
    assert {ending for _, _, ending in made} == set(hostile.ENDINGS)


def test_names():
    assert [open_device(name).name for name in ("xla", "xla:cpu")] == ["xla:cpu"] * 2
    assert [Xla(model).name for model in ("gpu", "gpu:1", "tpu:0")] == [
        "xla:gpu:0",
        "xla:gpu:1",
        "xla:tpu:0",
    ]
    for model in ("cpu:0", "gpu:", "gpu:x", "cuda:0", "CPU"):
        with pytest.raises(DeviceError, match="give xla:cpu, xla:gpu:0 or xla:tpu:0"):
            Xla(model)


def test_what_the_evaluator_asks():
    device = Xla("cpu")
    assert not device.deterministic
    assert device.checks == ()
    assert device.referee == ""
    # Not in this process, where another test may have computed with JAX.
    python("-c", "from gevolve.device.xla import Xla; Xla('cpu').check_fork()")
    with pytest.raises(DeviceError, match="xla:cpu has no check 'races'"):
        device.open(b"", check="races")


def test_devices_are_listed():
    assert found_by_jax()[0][0] == "cpu"


def test_kernels_do_not_load_jax():
    assert "False" in python(
        "-c",
        "import sys, gevolve, gevolve.cli; gevolve.open_device('sim'); gevolve.open_device('xla:cpu');"
        " from gevolve.device.xla.listing import found_by_jax; found_by_jax(); print('jax' in sys.modules)",
    )


def test_without_jax_the_extra_is_named():
    said = python(
        "-c",
        "import sys; sys.modules['jax'] = None\n"
        "import gevolve\n"
        "from gevolve.device.xla.listing import found_by_jax\n"
        "assert found_by_jax() == []\n"
        "for action in (lambda: gevolve.open_device('xla:cpu'), lambda: gevolve.load('model.mlir')):\n"
        "    try: action()\n"
        "    except gevolve.DeviceError as error: print(error)\n",
    )
    assert (
        said.splitlines() == ["models need JAX; in a checkout of gevolve: pip install './[ml]'"] * 2
    )
