"""The parts of the dispatcher that need no Ray."""

import asyncio
import importlib.util
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from gevolve.cli import main
from gevolve.device.base import Placement
from gevolve.device.registry import placement
from gevolve.errors import EvaluationError, MissingPackageError, OptionError, WorkloadError
from gevolve.evaluate import pool as pools
from gevolve.evaluate.dispatcher import cluster as clusters
from gevolve.evaluate.dispatcher import facts, parcel
from gevolve.evaluate.dispatcher import main as dispatcher
from gevolve.evaluate.dispatcher.cluster import Cluster
from gevolve.evaluate.dispatcher.crew import Crew, Node
from gevolve.evaluate.dispatcher.messages import Connect, Connected, refusal
from gevolve.evaluate.protocol import NodeStatus
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.testing.evaluators import patch, toy
from tests import ROOT
from tests.evaluate.ray_nodes import free_port

# --- what is refused, in one line


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("yarn", "it must be ray, auto, HOST:PORT or ray://HOST:PORT"),
        ("head:99999", "it must be ray"),
        ("ray://head", "it must be ray"),
        ("no.such.host.invalid:6379", "there is no host no.such.host.invalid"),
        ("127.0.0.1:PORT", "where nobody listens"),
        ("ray://127.0.0.1:PORT", "where nobody listens"),
    ],
)
def test_wrong_addresses(address, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["run", "tuned/reduction", "--cluster", address.replace("PORT", str(free_port()))])
    told = capsys.readouterr().err.strip()
    assert ended.value.code == 2
    assert words in told
    assert "\n" not in told
    assert list(tmp_path.iterdir()) == []


def test_ray_that_is_not_installed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"--cluster needs Ray; .*\[ray\]"):
        Cluster("ray")


def test_a_run_without_ray_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        main(["run", "tuned/reduction", "--cluster", "ray"])
    [told] = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2
    assert told.startswith("gevolve: --cluster needs Ray")
    assert list(tmp_path.iterdir()) == []


class AuthenticationError(Exception):
    pass


@pytest.mark.parametrize(
    ("address", "error", "words"),
    [
        ("auto", ConnectionError("no"), "no Ray cluster runs here; start one with `ray start"),
        ("head:1", ConnectionError("gone\naway"), "--cluster is head:1: ConnectionError: gone"),
        ("head:1", AuthenticationError("no"), "wants another token; set RAY_AUTH_MODE=token"),
        (
            "head:1",
            RuntimeError("Version mismatch: The cluster has\n Ray: 2.9\n Python: 3.10"),
            "cannot be used: Version mismatch: The cluster has Ray: 2.9 Python: 3.10",
        ),
        (
            "ray://head:1",
            ConnectionAbortedError("Initialization failure:\nTraceback\nno server in time\n"),
            "cannot take another client now (no server in time); it may be busy: try again",
        ),
    ],
)
def test_clusters_that_ray_refuses(address, error, words, monkeypatch):
    def init(**options):
        raise error

    fake = SimpleNamespace(
        init=init, exceptions=SimpleNamespace(AuthenticationError=AuthenticationError)
    )
    monkeypatch.setattr(dispatcher.importlib, "import_module", lambda name: fake)
    with pytest.raises((OptionError, EvaluationError)) as caught:
        dispatcher.connect(Connect(address, None, 0, [], 60.0))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    again = isinstance(error, ConnectionAbortedError)
    assert isinstance(caught.value, EvaluationError) == again  # which is tried again


class Head:
    """What a dispatcher would say of a head that has no time for its first clients."""

    def __init__(self, refusals):
        self.refusals = refusals
        self.asked = 0

    def __call__(self, *, own):
        self.asked += 1
        return self

    def send(self, wanted):
        self.closed = False

    def receive(self, seconds):
        if self.asked <= len(self.refusals):
            return [refusal(self.refusals[self.asked - 1])]
        return [Connected()]

    def end(self, seconds):
        return "exit status 0"


@pytest.mark.parametrize(
    ("refusals", "asked"),
    [
        ([EvaluationError("busy")], 2),
        ([EvaluationError("busy")] * 3, 3),
        ([OptionError("another token")], 1),
    ],
)
def test_a_head_that_is_busy_is_asked_again(refusals, asked, monkeypatch):
    head = Head(refusals)
    monkeypatch.setattr(clusters, "DispatcherProcess", head)
    monkeypatch.setattr(clusters, "_reach", lambda address: None)
    if asked > len(refusals):
        Cluster("ray://head:1").close()
    else:
        with pytest.raises(type(refusals[0])):
            Cluster("ray://head:1")
    assert head.asked == asked


def test_gevolve_needs_no_ray():
    script = """
import sys
sys.modules["ray"] = None  # an import of it fails
import gevolve, gevolve.cli, gevolve.evaluate.ray
from gevolve.evaluate.pool import Pool
from gevolve.testing.evaluators import patch, toy
with Pool(toy(), device="toy") as evaluator:
    evaluator.submit(0, patch("right", 1))
    [(_, evaluation)] = evaluator.results()
assert evaluation.ok
assert not [name for name in sys.modules if name.startswith("ray.")]
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


# --- what goes to nodes


def test_a_folder_arrives_as_it_was(tmp_path, monkeypatch):
    home = tmp_path / "home"
    for name in ("kernel.py", "data/table.csv", ".git/config", "runs/a/run.sqlite", "runs/a/x"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    files = parcel.pack(home / "kernel.py")
    assert sorted(files) == ["data/table.csv", "kernel.py"]
    assert parcel.unpack(files, home / "kernel.py") == home / "kernel.py"

    monkeypatch.setattr(parcel.tempfile, "gettempdir", lambda: str(tmp_path))
    there = parcel.unpack(files, tmp_path / "elsewhere" / "kernel.py")
    assert there.read_text() == "kernel.py"
    assert (there.parent / "data" / "table.csv").read_text() == "data/table.csv"
    assert parcel.unpack(files, tmp_path / "elsewhere" / "kernel.py") == there
    (home / "data" / "table.csv").write_text("another")
    assert parcel.unpack(files, home / "kernel.py") == there

    monkeypatch.setattr(os, "getuid", lambda: 12345)
    (tmp_path / "gevolve-12345").mkdir()
    with pytest.raises(WorkloadError, match="belongs to someone else"):
        parcel.unpack(files, tmp_path / "elsewhere" / "kernel.py")


def test_of_a_large_folder_only_the_file_goes(tmp_path, monkeypatch):
    (tmp_path / "kernel.py").write_text("kernel")
    (tmp_path / "data.bin").write_bytes(bytes(2000))
    monkeypatch.setattr(parcel, "LARGEST", 1000)
    assert parcel.pack(tmp_path / "kernel.py") == {"kernel.py": b"kernel"}


def test_known_evaluations_go_in_pieces(monkeypatch):
    monkeypatch.setattr(pools, "_NEWS", 3)
    known = [("search", Evaluation(verdict=Verdict.WRONG, artefact=f"{n:064x}")) for n in range(20)]
    with pools.Pool(toy(), device="toy", known=known) as evaluator:
        evaluator.prepare()
        for number in range(4):
            evaluator.submit(number, patch("right", number))
            list(evaluator.results())
            assert evaluator._workers[0].told == 3 * (number + 1)


# --- which nodes fit


def crew_of(*nodes):
    """A crew with nodes that have told such facts."""
    ray = SimpleNamespace(
        cloudpickle=SimpleNamespace(register_pickle_by_value=lambda module: None),
        remote=lambda **options: lambda thing: thing,
    )
    crew = Crew(ray, Connect("auto", None, 0, ["numpy"], 60.0))
    for n, its in enumerate(nodes):
        crew.nodes[str(n)] = Node(str(n), NodeStatus(name=f"n{n}"), 4, crew._mine | its)
    crew._listed = True
    crew._compare()
    return crew


def test_nodes_like_this_one_fit():
    crew = crew_of({}, {"numpy": "1.0"}, {"CPU": "i486"}, {"numpy": ""}, {})
    assert [node.fits for node in crew.nodes.values()] == [True, False, False, False, True]
    mine = facts.describe(["numpy"])
    assert [node.status.why for node in crew.nodes.values()] == [
        "",
        f"it has numpy 1.0 instead of {mine['numpy']}",
        f"it has CPU i486 instead of {mine['CPU']}",
        "it has no numpy",
        "",
    ]


def test_a_laptop_may_use_a_cluster_with_other_cpus():
    crew = crew_of({"CPU": "new"}, {"CPU": "old"}, {"CPU": "new"})
    assert [node.fits for node in crew.nodes.values()] == [True, False, True]


def test_a_node_that_does_not_answer_holds_up_nobody():
    crew = crew_of({}, {})
    crew.nodes["2"] = Node("2", NodeStatus(name="silent"), 4)
    crew._compare()
    assert [node.fits for node in crew.nodes.values()] == [True, True, False]
    assert not crew.looked

    elsewhere = crew_of({"CPU": "other"})
    assert elsewhere._cpu == "other"
    elsewhere.nodes["1"] = Node("1", NodeStatus(name="late"), 4, elsewhere._mine)
    elsewhere._compare()
    assert [node.fits for node in elsewhere.nodes.values()] == [True, False]


def test_a_cpu_that_is_not_ours_is_chosen_when_all_have_told():
    crew = crew_of()
    for n in range(3):
        crew.nodes[str(n)] = Node(str(n), NodeStatus(name=f"n{n}"), 4)
    for node, cpu in zip(crew.nodes.values(), ["b", "a", "a"], strict=True):
        assert not any(node.fits for node in crew.nodes.values())
        node.facts = crew._mine | {"CPU": cpu}
        crew._compare()
    assert [node.fits for node in crew.nodes.values()] == [False, True, True]


def test_nodes_that_were_gone_before_they_told_anything_are_not_shown():
    crew = crew_of({}, {})
    crew.nodes["2"] = Node("2", NodeStatus(name="silent"), 4)
    listed = [
        {"NodeID": str(n), "NodeManagerHostname": "vm", "Alive": n == 0, "Resources": {}}
        for n in range(4)
    ]
    crew._ray.nodes = lambda: listed
    assert asyncio.run(crew.look()) == []
    assert [status.state for status in crew.counted()] == ["starting", "lost"]
    assert crew.looked


def test_no_node_fits():
    crew = crew_of({"numpy": "1.0"}, {"numpy": "1.0"})
    told = crew.no_room()
    assert told.startswith("no node of the cluster can be used (n0: it has numpy 1.0 instead of ")
    assert "\n" not in told
    assert "a core" in crew_of().no_room()


def test_another_source_is_another_gevolve():
    assert facts.describe(["gevolve"])["gevolve"].endswith(f"({facts._source_digest()})")


# --- what a device needs


@pytest.mark.parametrize(
    ("device", "needs"),
    [
        ("sim:t4", Placement("sim:t4")),
        ("cuda:all", Placement("cuda:0", gpus=1)),
        ("cuda:1", Placement("cuda:0", gpus=1, most=1)),
        ("xla:cpu", Placement("xla:cpu")),
        ("xla:gpu", Placement("xla:gpu:0", gpus=1)),
        ("xla:gpu:1", Placement("xla:gpu:0", gpus=1, most=1)),
        ("toy", Placement("toy")),
    ],
)
def test_resources_by_device(device, needs):
    assert placement(device) == needs
