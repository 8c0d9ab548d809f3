"""What becomes of a run when the cluster does not: real Ray, several nodes on this machine."""

import os
import random
import secrets
import signal
import subprocess
import sys
import textwrap

import pytest

from gevolve.device.base import Placement
from gevolve.errors import EvaluationError
from gevolve.evaluate.dispatcher.cluster import Cluster
from gevolve.evaluate.ray import RayEvaluator
from gevolve.search import Settings, front
from gevolve.search.individual import admit
from gevolve.testing.evaluators import patch, toy
from tests import ROOT
from tests.evaluate.processes import wait_for
from tests.evaluate.ray_nodes import RayNode, actors

pytestmark = pytest.mark.slow  # Ray takes seconds to start
TWO = Placement("toy", gpus=1)
"""Two actors on the head, which claims to have two GPUs and has one core."""


@pytest.fixture(scope="module", autouse=True)
def token():
    """A secret of these clusters alone."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_AUTH_MODE", "token")
        patched.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield


@pytest.fixture(scope="module")
def head(token):
    node = RayNode(gpus=2)
    yield node
    node.kill()


def submit(evaluator, numbers):
    for number in numbers:
        kind = ("right", "near", "wrong", "segv")[number % 4]
        evaluator.submit(number, patch(kind, number))


def essences(results):
    return {n: (one.verdict.value, one.time, one.error, one.artefact) for n, one in results.items()}


def best(results):
    settings = Settings(tolerance=0.01, rounding=1e-5)
    alive = (admit(patch("right", n), one, settings) for n, one in results.items())
    return [(one.time, one.error) for one in front(one for one in alive if one is not None)]


def test_two_nodes_die_during_five_hundred_evaluations(head):
    options = {"device": "toy", "tolerance": 0.01}
    with RayEvaluator(toy(), cluster=head.address, **options) as evaluator:
        submit(evaluator, range(500))
        undisturbed = dict(evaluator.results())
    nodes = [RayNode(head), RayNode(head)]
    moments = dict(zip(random.Random(5).sample(range(20, 300), 2), nodes, strict=True))
    results = {}
    with RayEvaluator(toy(), cluster=head.address, **options) as evaluator:
        submit(evaluator, range(500))
        for count, (number, evaluation) in enumerate(evaluator.results()):
            assert number not in results
            results[number] = evaluation
            if count in moments:
                moments[count].kill()
        told = evaluator.nodes
    assert essences(results) == essences(undisturbed)
    assert best(results) == best(undisturbed)
    assert sorted(results) == list(range(500))
    assert len(told) >= 1


def test_workers_that_end_or_are_slow_and_a_dispatcher_that_ends(head):
    results = {}

    def go_on(evaluator, numbers, fault):
        submit(evaluator, numbers)
        for count, (number, evaluation) in enumerate(evaluator.results()):
            results[number] = evaluation
            if count == 10:
                fault()

    with Cluster(head.address, needs=TWO) as cluster:
        evaluator = RayEvaluator(toy(), cluster=cluster, device="toy", tolerance=0.01)
        with evaluator:
            evaluator.prepare()
            assert wait_for(lambda: poll(evaluator) and evaluator.nodes[0].workers == 2, 120)

            go_on(evaluator, range(80), lambda: os.kill(actors(head)[0], signal.SIGKILL))
            assert wait_for(lambda: poll(evaluator) and evaluator.nodes[0].lost > 0)

            assert wait_for(lambda: poll(evaluator) and evaluator.nodes[0].workers == 2, 120)
            slow = actors(head)[0]
            go_on(evaluator, range(80, 160), lambda: os.kill(slow, signal.SIGSTOP))
            os.kill(slow, signal.SIGCONT)
            assert wait_for(lambda: poll(evaluator) and evaluator.nodes[0].repeated > 0)

            dispatcher = cluster._process._process
            go_on(evaluator, range(160, 240), dispatcher.kill)

            with (
                Cluster(head.address, needs=TWO, patience=2.0) as other,
                RayEvaluator(toy(), cluster=other, device="toy") as late,
                pytest.raises(EvaluationError, match=r"no GPU of the cluster was free for 2 s"),
            ):
                late.prepare()
    assert sorted(results) == list(range(240))
    for number, evaluation in results.items():
        assert evaluation.verdict.value == ("ok", "ok", "wrong", "crash")[number % 4]
        if number % 4 == 0:
            assert evaluation.time == 2000 + 70 + 72 - 2 * number
    assert wait_for(lambda: not actors(head), 60)


def poll(evaluator):
    """Let an evaluator hear the news of its nodes."""
    evaluator.submit("news", patch("right", 1))
    return dict(evaluator.results())


def test_nodes_that_would_judge_otherwise_are_left_out(head, tmp_path):
    packages, cpu = tmp_path / "packages", tmp_path / "cpu"
    (packages / "numpy-1.0.dist-info").mkdir(parents=True)
    (packages / "numpy-1.0.dist-info" / "METADATA").write_text("Name: numpy\nVersion: 1.0\n")
    cpu.mkdir()
    (cpu / "sitecustomize.py").write_text(
        "import llvmlite.binding as b\nb.get_host_cpu_name = lambda: 'i486'\n"
    )
    odd = [RayNode(head, env={"PYTHONPATH": str(folder)}) for folder in (packages, cpu)]
    try:
        with RayEvaluator(toy(), cluster=head.address, device="toy") as evaluator:
            submit(evaluator, range(8))
            assert len(dict(evaluator.results())) == 8

            def told():
                poll(evaluator)
                return {one.why for one in evaluator.nodes if one.state == "left out"}

            assert wait_for(lambda: len(told()) == 2, 60)
            why = " and ".join(sorted(told()))
            assert "it has numpy 1.0 instead of " in why
            assert "it has CPU i486 (" in why
            assert [one.state for one in evaluator.nodes].count("working") == 1
    finally:
        for node in odd:
            node.kill()


def test_nothing_is_left_when_the_main_process_is_killed(head):
    script = textwrap.dedent(f"""
        from gevolve.testing.evaluators import patch, toy
        from gevolve.evaluate.ray import RayEvaluator
        evaluator = RayEvaluator(toy(), device="toy", cluster={head.client!r}, patience=60)
        evaluator.submit(0, patch("ignores"))
        print("ready", flush=True)
        list(evaluator.results())
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as main:
        assert main.stdout is not None
        assert main.stdout.readline() == "ready\n"
        assert wait_for(lambda: actors(head))
        main.kill()
    assert wait_for(lambda: not actors(head), 90)


def test_a_head_that_restarts(head):
    port = int(head.address.rpartition(":")[2])
    fresh = None
    results = {}
    try:
        with RayEvaluator(toy(), cluster=head.address, device="toy") as evaluator:
            submit(evaluator, range(60))
            for count, (number, evaluation) in enumerate(evaluator.results()):
                results[number] = evaluation
                if count == 20:
                    head.kill()
                    fresh = RayNode(port=port)
        assert sorted(results) == list(range(60))
        assert {one.verdict.value for n, one in results.items() if n % 4 == 0} == {"ok"}
    finally:
        if fresh is not None:
            fresh.kill()
