"""The folder of a run: private, followed when it is moved, missed when it is gone."""

import os
import shutil
import stat

import pytest

import gevolve
from gevolve.errors import StoreError, WorkloadError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Patch
from gevolve.run.store import Store


def made(folder):
    return Store.create(folder, {"x": 1}, "digest", "text")


def add(store, number):
    patch = Patch.parse(f"delete i{number} #1")
    store.add([(patch, Evaluation(verdict=Verdict.OK, time=1.0, error=0.0), 0)])


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_its_owner_reads_it(tmp_path):
    previous = os.umask(0)
    try:
        with made(tmp_path / "runs" / "r") as store:
            add(store, 1)
            files = modes(store.folder)
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "runs" / "r").stat().st_mode) == 0o700
    assert len(files) >= 3  # with the log
    assert set(files.values()) == {0o600}


def test_a_folder_that_others_use_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "other").write_text("")
    made(tmp_path).close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert modes(tmp_path)["run.sqlite"] == 0o600


def test_a_moved_folder_is_followed(tmp_path):
    with made(tmp_path / "old") as store:
        add(store, 1)
        (tmp_path / "old").rename(tmp_path / "new")
        add(store, 2)
        assert store.folder == tmp_path / "new"
        with pytest.raises(StoreError, match="is writing this run"):
            Store.open(tmp_path / "new")
        add(store, 3)
    assert not (tmp_path / "old").exists()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["run.lock", "run.sqlite"]
    with Store.open(tmp_path / "new") as store:
        assert store.count() == 3


def test_a_deleted_folder_is_missed(tmp_path):
    with made(tmp_path / "r") as store:
        add(store, 1)
        shutil.rmtree(tmp_path / "r")
        with pytest.raises(StoreError, match="deleted or replaced while it went on"):
            add(store, 2)


def test_another_run_in_its_place_is_left_alone(tmp_path):
    with made(tmp_path / "r") as store:
        add(store, 1)
        with made(tmp_path / "other") as other:
            add(other, 7)
            shutil.rmtree(tmp_path / "r")
            (tmp_path / "other").rename(tmp_path / "r")
            add(other, 8)
            with pytest.raises(StoreError, match="deleted or replaced"):
                add(store, 2)
            store.close()
            add(other, 9)
            assert (tmp_path / "r" / "run.sqlite-wal").exists()
    with Store.open(tmp_path / "r") as left:
        assert left.count() == 3


def test_a_deleted_file_is_missed(tmp_path):
    with made(tmp_path / "r") as store:
        (tmp_path / "r" / "run.sqlite").unlink()
        with pytest.raises(StoreError, match="deleted or replaced"):
            add(store, 1)


def test_a_run_that_is_discarded_leaves_what_was_there(tmp_path):
    made(tmp_path / "runs" / "r").discard()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").write_text("")
    made(tmp_path / "runs").discard()
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["mine"]


WORKLOAD = """
import numpy as np, gevolve
class Saxpy(gevolve.KernelWorkload):
    source = "saxpy.cu"
    made = 0
    def case(self, rng, size):
        {draw}
        return gevolve.Case(x=x)
    def run(self, gpu, case):
        y = gpu.empty(case.x.shape)
        gpu.launch("twice", 1, case.x.size, gpu.array(case.x), y)
        return y.get()
"""
SOURCE = "__global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }"
GOOD = "x = rng.random({'search': 32, 'held-out': 48, 'large': 64}[size], np.float32)"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ("x = rng.random({'search': 32}[size], np.float32)", r"held-out cases: KeyError"),
        ("x = np.random.default_rng().random(32, np.float32)", "differ each time they are made"),
        (GOOD + "; self.made += 1; x[0] = self.made", "differ each time they are made"),
    ],
)
def test_cases_are_tried_before_anything_is_judged(tmp_path, draw, said):
    (tmp_path / "saxpy.py").write_text(WORKLOAD.format(draw=draw))
    (tmp_path / "saxpy.cu").write_text(SOURCE)
    with pytest.raises(WorkloadError, match=said):
        gevolve.optimize(f"{tmp_path}/saxpy.py", out=tmp_path / "runs" / "r", evals=5)
    assert not (tmp_path / "runs").exists()


def test_a_start_that_fails_leaves_no_folder(tmp_path):
    (tmp_path / "saxpy.py").write_text(WORKLOAD.format(draw=GOOD))
    (tmp_path / "saxpy.cu").write_text(SOURCE)
    for device in ("abacus", "sim:z80"):
        with pytest.raises(gevolve.DeviceError):
            gevolve.optimize(
                f"{tmp_path}/saxpy.py", out=tmp_path / "runs" / "r", evals=5, device=device
            )
        assert not (tmp_path / "runs").exists()
