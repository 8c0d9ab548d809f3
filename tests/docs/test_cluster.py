"""The example files for clusters run, with stand-ins for Slurm and SSH on this machine."""

import json
import os
import shlex
import subprocess
import sys

import pytest
import yaml

from gevolve.cli import app
from tests import ROOT
from tests.evaluate.ray_nodes import free_port
from tests.small.saxpy import SAXPY

EXAMPLES = ROOT / "examples" / "cluster"
SEARCH = [SAXPY, "--evals", "12", "--population", "6", "--json"]


@pytest.fixture
def machine(tmp_path):
    """A folder to run in, and an environment with these commands first on its path."""
    commands = {
        "ray": f'exec {shlex.quote(sys.executable)} -m ray.scripts.scripts "$@"',
        "gevolve": f'exec {shlex.quote(sys.executable)} -m gevolve "$@"',
        "scontrol": "echo localhost; echo localhost",
        "srun": 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
        "ssh": 'shift 2; exec "$@"',
    }
    (tmp_path / "bin").mkdir()
    for name, body in commands.items():
        file = tmp_path / "bin" / name
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)
    return tmp_path, os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "RAY_PORT": str(free_port()),
        "HEAD": "127.0.0.1",
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "two",
        "SLURM_CPUS_PER_TASK": "1",
    }


def run(machine, *command):
    folder, environment = machine
    done = subprocess.run(
        ["bash", *map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_slurm(machine):
    found = run(machine, EXAMPLES / "slurm.sh", *SEARCH)
    assert (found["evaluations"], found["status"]) == (12, "finished")
    assert found["run"] == "runs/slurm-7"


@pytest.mark.slow
def test_ssh(machine):
    found = run(machine, EXAMPLES / "ssh.sh", "localhost", "--", *SEARCH)
    assert (found["evaluations"], found["status"]) == (12, "finished")
    log = (machine[0] / "ray-localhost.log").read_text()
    assert "Ray runtime started." in log


def test_kuberay():
    job = yaml.safe_load((EXAMPLES / "kuberay.yaml").read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    command, *words = shlex.split(job["spec"]["entrypoint"])
    _, bound, _ = app.parse_args(words, exit_on_error=False)
    assert command == "gevolve"
    assert bound.arguments["options"].cluster == "auto"
    cluster = job["spec"]["rayClusterSpec"]
    [volume] = cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    assert str(bound.arguments["options"].out).startswith(volume["mountPath"])
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        [container] = group["template"]["spec"]["containers"]
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}


def test_every_file_is_on_the_page():
    page = (ROOT / "docs" / "how-to" / "cluster.md").read_text()
    for file in EXAMPLES.iterdir():
        assert f"examples/cluster/{file.name}" in page
