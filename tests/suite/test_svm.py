"""Training of a support vector machine: the same machine as scikit-learn's."""

import gzip

import numpy as np
import pytest
from sklearn.svm import SVC

from gevolve.device.base import Limits
from gevolve.device.registry import open_device
from gevolve.errors import WorkloadError
from gevolve.suite.datasets import a9a
from gevolve.suite.papers.svm import Svm
from gevolve.suite.svm import EPS

DEVICE = open_device("sim")


@pytest.fixture(scope="module")
def artefact():
    return DEVICE.build(Svm().load().text)


def train(artefact, case, check=None):
    gpu = DEVICE.open(artefact, Limits(), check=check)
    try:
        return Svm().run(gpu, case), gpu.usage().hazards
    finally:
        gpu.close()


@pytest.mark.parametrize("split", ["search", "held-out", "large"])
def test_has_the_support_vectors_of_scikit_learn(artefact, split):
    for case in Svm().cases(split):
        got, _ = train(artefact, case)
        theirs = SVC(C=case.c, gamma=case.gamma, tol=EPS).fit(case.x.T, case.y)
        mine = np.nonzero(got["alpha"] > 1e-6 * case.c)[0]
        assert set(mine) == set(theirs.support_)
        assert np.allclose(got["decisions"], theirs.decision_function(case.z.T), atol=10 * EPS)
        error = np.mean(theirs.predict(case.z.T) != case.labels)
        assert Svm().measure(got, {}, case) == error


def test_has_no_hazard(artefact):
    assert not train(artefact, Svm().cases("search")[0], DEVICE.checks[0])[1]


def test_rows_of_the_search_are_in_no_other_split():
    def rows(split):
        return {row.tobytes() for c in Svm().cases(split) for row in np.hstack([c.x, c.z]).T}

    assert not rows("search") & (rows("held-out") | rows("large"))


def test_reads_a9a(tmp_path, monkeypatch):
    monkeypatch.setenv("GEVOLVE_DATA", str(tmp_path))
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a.gz").write_bytes(gzip.compress(b"-1 3:1 11:1 \n\n+1 123:1\n"))
    table = a9a()
    assert [row.nonzero()[0].tolist() for row in table.rows] == [[2, 10], [122]]
    assert table.labels.tolist() == [-1, 1]


def test_a_broken_a9a_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("GEVOLVE_DATA", str(tmp_path))
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a").write_text("-1 three:1\n")
    with pytest.raises(WorkloadError, match="not in LIBSVM's layout"):
        a9a()
