"""What a confined child had to ask a slow tool, its worker asks too, and keeps."""

from gevolve.device.sim import Sim
from gevolve.evaluate.child.main import Problem
from gevolve.evaluate.worker.trial import Trial
from gevolve.patch import Patch
from gevolve.workload.locate import locate


def test_the_worker_learns_what_a_child_asked(monkeypatch):
    workload = locate("tuned/histogram")
    problem = Problem(workload, workload.load(), Sim("t4"), workload.cases("search"))
    trial = Trial(problem, "search", tolerance=None, patience=20.0)
    trial.end_child()
    learnt = []
    monkeypatch.setattr(Sim, "asked", lambda self: ["5"])  # which the next child inherits
    monkeypatch.setattr(Sim, "learn", lambda self, asked: learnt.append([*asked]))
    found = trial.evaluate(Patch(), {})
    trial.end_child()
    assert found.ok
    assert learnt == [["5"]]
