"""The check of random cases sees what is wrong: a reference that differs, a hazard."""

import pytest

from benchmarks import cases
from gevolve.suite.papers.svm import Svm
from gevolve.workload.locate import locate


@pytest.mark.parametrize("name", ["papers/bfs", "papers/svm", "tuned/bfs"])
def test_nothing_is_wrong(name):
    assert not cases.faults(name, 2)


def test_another_reference_is_seen(monkeypatch):
    kind = type(locate("papers/nn"))
    plain = kind.reference
    monkeypatch.setattr(kind, "reference", lambda self, case: plain(self, case) + 1)
    assert "differs by" in cases.faults("papers/nn", 1)[0]


def test_a_race_is_seen(tmp_path, monkeypatch):
    workload = locate("papers/bfs")
    racy = tmp_path / "bfs.cu"
    racy.write_text(workload.path().read_text().replace("atomicExch(over, 1)", "*over = 1"))
    monkeypatch.setattr(type(workload), "path", lambda _: racy)
    assert any("bfs.cu" in fault for fault in cases.faults("papers/bfs", 1))


def test_another_machine_is_seen(monkeypatch):
    plain = Svm.run

    def run(self, gpu, case):
        got = plain(self, gpu, case)
        return {**got, "decisions": got["decisions"] + 0.5}

    monkeypatch.setattr(Svm, "run", run)
    assert "decisions differ by 0.5" in cases.faults("papers/svm", 1)[0]
