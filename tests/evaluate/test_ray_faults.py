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
from gevolve.evaluate.pool import Pool
from gevolve.evaluate.ray import RayEvaluator
from gevolve.search import Settings, front
from gevolve.search.individual import admit
from gevolve.testing.evaluators import patch, toy
from tests import ROOT
from tests.evaluate.processes import wait_for
from tests.evaluate.ray_nodes import RayNode, actors

pytestmark = pytest.mark.slow  # Ray takes seconds to start
MANY = 500 if os.environ.get("GEVOLVE_EXPLORE") else 150
TWO = Placement("toy", gpus=1)
"""Two actors on the head, which claims to have two GPUs and has one core."""


@pytest.fixture(scope="module", autouse=True)
def token():
    """A secret of these clusters alone."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAY_AUTH_MODE", "token")
        patched.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        patched.setenv("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "1")
        yield


@pytest.fixture(scope="module")
def cluster_head(token):
    node = RayNode(gpus=2)
    yield node
    node.kill()


@pytest.fixture
def head(cluster_head):
    """The head, on which nothing runs that another test has started."""
    assert wait_for(lambda: not actors(cluster_head), 120)
    return cluster_head


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


def test_two_nodes_die_during_many_evaluations(head):
    options = {"device": "toy", "tolerance": 0.01}
    nodes = [RayNode(head, wait=False), RayNode(head, wait=False)]
    with Pool(toy(), workers=2, **options) as evaluator:
        submit(evaluator, range(MANY))
        undisturbed = dict(evaluator.results())
    for node in nodes:
        node.wait()
    moments = dict(zip(random.Random(5).sample(range(20, MANY * 3 // 5), 2), nodes, strict=True))
    results = {}
    with RayEvaluator(toy(), cluster=head.address, **options) as evaluator:
        evaluator.prepare()
        assert wait_for(lambda: working(evaluator) == 3, 120)
        submit(evaluator, range(MANY))
        for count, (number, evaluation) in enumerate(evaluator.results()):
            assert number not in results
            results[number] = evaluation
            if count in moments:
                moments[count].kill()
    assert essences(results) == essences(undisturbed)
    assert best(results) == best(undisturbed)
    assert sorted(results) == list(range(MANY))


def test_workers_that_end_or_are_slow_and_a_dispatcher_that_ends(head):
    results = {}
    rounds = iter(range(0, 400, 20))

    def disturb(evaluator, before, after):
        """Judge some patches; one thing happens before, another when there is a first result."""
        numbers = range(start := next(rounds), start + 20)
        assert wait_for(lambda: working(evaluator) == 2, 120)
        victim = min(actors(head))
        before(victim)
        submit(evaluator, numbers)
        for count, (number, evaluation) in enumerate(evaluator.results()):
            results[number] = evaluation
            if count == 0:
                after(victim)
        assert results.keys() >= set(numbers)

    with Cluster(head.address, needs=TWO) as cluster:
        evaluator = RayEvaluator(toy(), cluster=cluster, device="toy", tolerance=0.01)
        with evaluator:
            evaluator.prepare()
            # A worker that has stopped has something to do when it ends, unless this process was so
            # slow meanwhile that another worker was given all of it.
            for _ in range(5):
                disturb(evaluator, stop, kill)
                if total(evaluator, "lost"):
                    break
            assert total(evaluator, "lost") > 0

            repeated = total(evaluator, "repeated")
            slow = []
            disturb(evaluator, lambda pid: (stop(pid), slow.append(pid)), lambda pid: None)
            os.kill(*slow, signal.SIGCONT)
            assert total(evaluator, "repeated") > repeated

            disturb(evaluator, lambda pid: None, lambda pid: cluster._process._process.kill())

            assert wait_for(lambda: working(evaluator) == 2, 120)
            with (
                Cluster(head.address, needs=TWO, patience=2.0) as other,
                RayEvaluator(toy(), cluster=other, device="toy") as late,
                pytest.raises(EvaluationError, match=r"no GPU of the cluster was free for 2 s"),
            ):
                late.prepare()
    for number, evaluation in results.items():
        assert evaluation.verdict.value == ("ok", "ok", "wrong", "crash")[number % 4]
        if number % 4 == 0:
            assert evaluation.time == 2000 + 70 + 72 - 2 * number


def stop(pid):
    os.kill(pid, signal.SIGSTOP)


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def poll(evaluator):
    """Let an evaluator hear the news of its nodes."""
    evaluator.submit("news", patch("right", 1))
    return dict(evaluator.results())


def total(evaluator, what):
    """What the nodes of an evaluator have or did, together; some may be nodes of earlier tests."""
    return sum(getattr(node, what) for node in evaluator.nodes)


def working(evaluator):
    """How many workers of an evaluator are at work by now."""
    poll(evaluator)
    return total(evaluator, "workers")


def test_nodes_that_would_judge_otherwise_are_left_out(head, tmp_path):
    packages, cpu = tmp_path / "packages", tmp_path / "cpu"
    (packages / "numpy-1.0.dist-info").mkdir(parents=True)
    (packages / "numpy-1.0.dist-info" / "METADATA").write_text("Name: numpy\nVersion: 1.0\n")
    cpu.mkdir()
    (cpu / "sitecustomize.py").write_text(
        "import llvmlite.binding as b\nb.get_host_cpu_name = lambda: 'i486'\n"
    )
    odd = [RayNode(head, env={"PYTHONPATH": str(folder)}, wait=False) for folder in (packages, cpu)]
    try:
        for node in odd:
            node.wait()
        with RayEvaluator(toy(), cluster=head.address, device="toy") as evaluator:
            submit(evaluator, range(8))
            assert len(dict(evaluator.results())) == 8

            def told():
                poll(evaluator)
                return {one.why for one in evaluator.nodes if one.state == "left out"}

            assert wait_for(lambda: len(told()) == 2, 200)
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
        assert wait_for(lambda: actors(head), 120)
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
