import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.errors import StoreError
from gevolve.evaluate.verdict import Evaluation, Verdict
from gevolve.patch import Edit, Patch
from gevolve.run.store import FILE, Generation, Store, format_id, parse_id

CONFIG = {"seed": 1, "tolerance": 0.01, "workload": "stencil.py:Stencil"}


def patch(n):
    return Patch((Edit("copy", (f"i{n}", f"i{n + 1}"), n), Edit("delete", ("i3",), 1)))


def evaluation(n):
    if n % 3 == 0:
        return Evaluation(verdict=Verdict.WRONG, detail=f"case 0: error {n}")
    return Evaluation(
        verdict=Verdict.OK,
        time=1000.0 + n / 7,
        error=n * 1e-6,
        artefact=f"{n:064x}",
        seconds={"build": 0.01, "run": n / 1000},
    )


def judged(*numbers, generation=0):
    return [(patch(n), evaluation(n), generation) for n in numbers]


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "run", CONFIG, "digest", "define void @k()") as store:
        yield store


@pytest.fixture
def closed(store):
    """The folder of a run with some of everything."""
    store.add([(Patch(), evaluation(1), -1)])
    for generation in range(4):
        numbers = range(1 + 10 * generation, 11 + 10 * generation)
        store.reserve(map(patch, numbers), generation)
        store.add(judged(*numbers, generation=generation))
        store.save_generation(generation + 1, {"seed": 1, "population": ["x"] * 9}, [0, 5])
    store.reserve([patch(90)], 4)
    store.reserve_analysis([patch(70), patch(71)])
    store.add_analysis(-1, patch(70), evaluation(70))
    store.add_validation(5, "held-out", evaluation(5))
    store.set("status", "stopped")
    store.close()
    return store.folder


def contents(store):
    """All that can be read."""
    return (
        store.config,
        store.program_digest,
        store.program_text,
        store.get("status", str, ""),
        list(store.evaluations()),
        store.generations(),
        store.last_generation(),
        [store.validations(n) for n in range(10)],
        [store.find(patch(n)) for n in (*range(1, 45), 70, 71)],
        store.count(),
    )


# What is kept


def test_a_run_keeps_what_it_was_started_with(store):
    assert store.config == CONFIG
    assert store.program_digest == "digest"
    assert store.program_text == "define void @k()"
    store.close()
    with Store.open(store.folder) as again:
        assert again.config == CONFIG


def test_ids_follow_the_order_of_asking_not_of_judging(store):
    assert store.add([(Patch(), evaluation(1), -1)]) == [0]
    assert store.reserve(map(patch, [1, 2, 3]), 0) == [1, 2, 3]
    assert store.add(judged(3)) == [3]
    assert store.add(judged(1, 2)) == [1, 2]
    assert store.reserve(map(patch, [3, 4]), 1) == [3, 4]
    assert [row.id for row in store.evaluations()] == [0, 1, 2, 3]
    assert store.count() == 4
    assert store.variant(3).evaluation == evaluation(3)
    assert store.find(patch(2)).id == 2
    assert store.find(patch(4)) is None, "asked for, but not judged"


def test_the_first_evaluation_of_a_patch_stays(store):
    store.add(judged(1))
    assert store.add([(patch(1), evaluation(2), 7)]) == [1]
    assert store.variant(1).evaluation == evaluation(1)
    assert store.variant(1).generation == 0


def test_evaluations_until_a_generation(store):
    store.add([(Patch(), evaluation(1), -1)])
    for generation in range(3):
        store.add(judged(generation + 1, generation=generation))
    assert [row.id for row in store.evaluations(until=0)] == [0]
    assert [row.id for row in store.evaluations(until=2)] == [0, 1, 2]


def test_many_rows_come_back_in_order(store):
    store.add(judged(*range(1, 2501)))
    rows = list(store.evaluations())
    assert [row.id for row in rows] == list(range(1, 2501))
    assert all(row.patch == patch(row.id) for row in rows)


def test_generations(store):
    assert store.last_generation() is None
    store.save_generation(1, {"credit": {"copy": [1.5, 0.1]}}, [0, 3])
    store.save_generation(2, {"stale": 1}, [3])
    assert store.last_generation() == Generation(2, {"stale": 1}, (3,))
    assert [g.number for g in store.generations()] == [1, 2]
    assert store.generations()[0].state == {"credit": {"copy": [1.5, 0.1]}}


def test_validations(store):
    store.add(judged(1, 11))
    store.add_validation(1, "held-out", evaluation(2))
    store.add_validation(1, "held-out", evaluation(4))
    store.add_validation(1, "large", evaluation(3))
    store.add_validation(11, "large", evaluation(5))
    assert store.validations(1) == {"held-out": evaluation(4), "large": evaluation(3)}
    assert store.validations(2) == {}


def test_named_values(store):
    assert store.get("status", str, "new") == "new"
    store.set("status", "running")
    store.set("status", "finished")
    store.set("baseline", evaluation(1))
    assert store.get("status", str, "") == "finished"
    assert store.get("baseline", Evaluation) == evaluation(1)
    with pytest.raises(StoreError, match="has no profile"):
        store.get("profile", dict[str, float])


def test_a_failed_batch_leaves_nothing(store):
    def rows():
        yield from judged(1, 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(rows())
    assert store.count() == 0
    assert store.add(judged(1)) == [1]


@given(st.integers(-(10**9), 10**9))
def test_ids_print_and_parse(number):
    assert parse_id(format_id(number)) == number


@pytest.mark.parametrize("text", ["", "v", "w3", "v-1", "m", "m0", "v1 v2", "v" + "9" * 30, "v٣"])
def test_what_is_not_an_id(text):
    with pytest.raises(StoreError, match="not the id of a variant"):
        parse_id(text)


# What goes wrong


def fails(folder, message, *, readonly=False):
    with pytest.raises(StoreError, match=message) as caught:
        Store.open(folder, readonly=readonly)
    text = str(caught.value)
    assert "\n" not in text
    assert str(folder) in text
    return text


def test_no_such_folder(tmp_path):
    fails(tmp_path / "none", "no such folder")


def test_a_folder_that_is_not_a_run(tmp_path):
    fails(tmp_path, "not a run")


def test_a_run_is_not_overwritten(closed):
    with pytest.raises(
        StoreError, match=f"already holds a run; go on with `gevolve resume {closed}`"
    ):
        Store.create(closed, CONFIG, "digest", "text")
    Store.open(closed).close()


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="file"):
        Store.create(tmp_path / "file", CONFIG, "digest", "text")


def test_no_such_variant(store):
    with pytest.raises(StoreError, match="no variant v7; `gevolve show"):
        store.variant(7)


def test_another_program(store):
    store.check_program("digest")
    with pytest.raises(StoreError, match="another program"):
        store.check_program("other")


def test_what_an_analysis_judges_is_kept_apart(store):
    store.reserve([patch(1), patch(2)], 0)
    store.add([(patch(1), evaluation(1), 0)])
    asked = [patch(5), patch(1), patch(6), patch(5)]
    assert store.reserve_analysis(asked) == [-1, 1, -2, -1]
    store.add_analysis(-2, patch(6), evaluation(7))
    store.add_analysis(-1, patch(5), evaluation(5))
    store.add_analysis(-1, patch(5), evaluation(55))
    assert store.variant(-1).evaluation == evaluation(5)
    assert store.find(patch(6)).id == -2
    assert [row.id for row in store.evaluations()] == [1]
    assert store.reserve([patch(5), patch(7)], 1) == [3, 4], "the search numbers on as before"
    assert store.add([(patch(5), evaluation(5), 1)]) == [3]
    assert store.find(patch(5)).id == 3


def test_an_analysis_row_that_is_missing(closed):
    with Store.open(closed) as store:
        store.reserve_analysis([patch(90), patch(91)])
    db = sqlite3.connect(closed / FILE)
    db.execute("DELETE FROM analysis WHERE id = 1")
    db.commit()
    db.close()
    fails(closed, "variants are missing")


def test_a_failure_on_other_cases_stays(store):
    store.add_validation(1, "fresh", evaluation(1))
    store.add_validation(1, "fresh", Evaluation(verdict=Verdict.RACE))
    store.add_validation(1, "fresh", evaluation(1))
    assert store.validations(1)["fresh"].verdict is Verdict.RACE


@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_of_a_newer_gevolve(closed, readonly):
    db = sqlite3.connect(closed / FILE)
    db.execute("PRAGMA user_version = 99")
    db.close()
    fails(closed, "newer gevolve.*99", readonly=readonly)


def test_the_database_of_another_program(tmp_path):
    db = sqlite3.connect(tmp_path / FILE)
    db.execute("CREATE TABLE t (x)")
    db.close()
    fails(tmp_path, "not the file of a gevolve run")


@pytest.mark.parametrize("content", [b"", b"hello", b"\0" * 4096, b"SQLite format 3\0" + b"x" * 99])
@pytest.mark.parametrize("readonly", [False, True])
def test_a_file_that_is_no_database(tmp_path, content, readonly):
    (tmp_path / FILE).write_bytes(content)
    fails(tmp_path, "damaged", readonly=readonly)


def test_a_row_that_vanished(closed):
    db = sqlite3.connect(closed / FILE)
    db.execute("DELETE FROM variant WHERE id = 7")
    db.commit()
    db.close()
    fails(closed, "variants are missing")


def test_a_figure_that_was_changed(closed):
    db = sqlite3.connect(closed / FILE)
    db.execute("UPDATE variant SET body = replace(body, '1001.', '1002.') WHERE id = 8")
    db.commit()
    db.close()
    fails(closed, "checksum of row 8")


def test_reading_only(closed):
    with Store.open(closed, readonly=True) as store:
        with pytest.raises(StoreError, match="for reading only"):
            store.add(judged(99))
        assert store.count() == 41


@contextmanager
def ordinary_user():
    """Root may write anywhere, so stop being root for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public(closed):
    """A copy of the run that every user can reach but not write to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(closed / FILE, folder / FILE)
        (folder / FILE).chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_a_read_only_folder(public):
    with ordinary_user():
        fails(public, "cannot be written")
        with pytest.raises(StoreError, match="cannot be written"):
            Store.create(public / "new", CONFIG, "digest", "text")
        with Store.open(public, readonly=True) as store:
            assert store.count() == 41


@contextmanager
def small_disk(folder, size):
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "gevolve-test", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(file):
    with file.open("wb", buffering=0) as sink, suppress(OSError):
        while True:
            sink.write(b"x" * 4096)


def add_until_full(store):
    """Add evaluations until that fails; returns the ids that were acknowledged."""
    kept = []
    remedy = f"the disk is full; free some space, then `gevolve resume {store.folder}`"
    with pytest.raises(StoreError, match=remedy):  # noqa: PT012  (which one fails is not known)
        for n in range(1, 5000):
            kept += store.add(judged(n))
    return kept


def test_a_full_disk(tmp_path):
    folder = tmp_path / "disk"
    with small_disk(folder, "1m"):
        ballast = folder / "ballast"
        fill(ballast)
        with pytest.raises(StoreError, match="the disk is full; free some space"):
            Store.create(folder / "run", CONFIG, "digest", "text")
        ballast.unlink()
        with Store.create(folder / "run", CONFIG, "digest", "text") as store:
            fill(ballast)
            kept = add_until_full(store)
        ballast.unlink()
        with Store.open(folder / "run") as store:
            assert [row.id for row in store.evaluations()] == kept
            assert store.add(judged(7000)) == [len(kept) + 1]


def test_a_file_that_may_not_grow(store):
    pages = store._database.scalar("PRAGMA page_count")
    store._database.scalar(f"PRAGMA max_page_count = {pages + 2}")
    kept = add_until_full(store)
    assert kept
    assert [row.id for row in store.evaluations()] == kept


# Several processes


@contextmanager
def forked(work):
    """Run `work` in a child, which is killed at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside numpy's idle threads
        pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_one_writer_many_readers(store):
    with pytest.raises(StoreError, match=f"process {os.getpid()} is writing this run"):
        Store.open(store.folder)
    readers = [Store.open(store.folder, readonly=True) for _ in range(3)]
    with store._database.transaction():
        assert [reader.count() for reader in readers] == [0, 0, 0]
    store.add(judged(1))
    assert [reader.count() for reader in readers] == [1, 1, 1]
    store.close()
    assert [reader.count() for reader in readers] == [1, 1, 1]
    with Store.open(store.folder) as again:
        again.add(judged(2))
        assert [reader.count() for reader in readers] == [2, 2, 2]
    for reader in readers:
        reader.close()


def test_a_writer_in_another_process(closed):
    ready, done = os.pipe()

    def write():
        with Store.open(closed):
            os.write(done, b"x")
            time.sleep(60)

    with forked(write) as pid:
        os.read(ready, 1)
        fails(closed, f"process {pid} is writing this run")
        Store.open(closed, readonly=True).close()
    Store.open(closed).close()


def test_a_workers_fork_does_not_keep_the_run_locked(closed):
    """A killed run can be resumed at once, though its workers may live on for a moment."""
    ready, done = os.pipe()

    def write():
        with Store.open(closed), forked(lambda: time.sleep(60)) as worker:
            os.write(done, struct.pack("i", worker))
            time.sleep(60)

    with forked(write):
        (worker,) = struct.unpack("i", os.read(ready, 4))
    try:
        os.kill(worker, 0)
        Store.open(closed).close()
    finally:
        os.kill(worker, signal.SIGKILL)


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path):
    rng = random.Random(1)
    folder = tmp_path / "run"
    Store.create(folder, CONFIG, "digest", "text").close()
    known = set()
    for turn in range(50):
        ready, done = os.pipe()

        def write(turn=turn, done=done):
            with Store.open(folder) as store:
                first = 1 + 100_000 * turn
                for n in range(first, first + 90_000, 3):
                    store.reserve([patch(n), patch(n + 1), patch(n + 2)], turn)
                    for some in (judged(n + 2), judged(n, n + 1)):
                        os.write(done, struct.pack("ii", *(store.add(some)[0], some[0][0][0].seed)))
                    store.save_generation(n, {"n": n})

        with forked(write):
            os.close(done)
            told = os.read(ready, 8) if turn % 2 else b""
            time.sleep(rng.uniform(0, 0.03))
        while chunk := os.read(ready, 1 << 16):
            told += chunk
        os.close(ready)
        known |= set(struct.iter_unpack("ii", told[: len(told) // 8 * 8]))
        with Store.open(folder, readonly=rng.random() < 0.5) as store:
            rows = {row.id: row for row in store.evaluations()}
            for id_, n in known:
                assert rows[id_].patch == patch(n)
                assert rows[id_].evaluation == evaluation(n)
    assert len(known) >= 25


def test_killed_while_it_was_being_made(tmp_path):
    rng = random.Random(2)
    for turn in range(40):
        folder = tmp_path / f"run{turn}"
        with forked(lambda folder=folder: Store.create(folder, CONFIG, "digest", "t" * 50_000)):
            time.sleep(rng.uniform(0, 0.012))
        if (folder / FILE).exists():
            with Store.open(folder) as store:
                assert store.config == CONFIG
        else:
            Store.create(folder, CONFIG, "digest", "text").close()
            assert sorted(p.name for p in folder.iterdir()) == ["run.lock", FILE]


# Damage


def damage(data, rng):
    """One of the ways in which files go bad."""
    data = bytearray(data)
    kind = rng.choice(["bit", "bytes", "bytes", "cut", "cut page", "zeros", "swap", "shift"])
    at = rng.randrange(len(data))
    if kind == "bit":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "bytes":
        for _ in range(rng.randint(1, 16)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    elif kind == "cut":
        del data[at:]
    elif kind == "cut page":
        del data[at // 4096 * 4096 :]
    elif kind == "zeros":
        size = min(512, len(data) - at)
        data[at : at + size] = bytes(size)
    elif kind == "swap":
        a, b = (rng.randrange(len(data) // 512) * 512 for _ in range(2))
        data[a : a + 512], data[b : b + 512] = data[b : b + 512], data[a : a + 512]
    else:
        data[at:at] = b"\x2a"
    return bytes(data)


def survive_damage(pristine, scratch, seed):
    """Damage a copy of a run, then read it; returns whether that was noticed."""
    rng = random.Random(seed)
    with Store.open(pristine, readonly=True) as store:
        expected = contents(store)
    folder = scratch / str(seed)
    folder.mkdir()
    (folder / FILE).write_bytes(damage((pristine / FILE).read_bytes(), rng))
    readonly = rng.random() < 0.5
    message = ""
    try:
        with Store.open(folder, readonly=readonly) as store:
            assert contents(store) == expected
            if not readonly:
                store.add(judged(77))
    except StoreError as error:
        message = str(error)
    shutil.rmtree(folder)
    assert not message or (str(folder) in message and "\n" not in message)
    return bool(message)


def test_damage_is_noticed_or_harmless(closed, tmp_path):
    noticed = sum(survive_damage(closed, tmp_path, seed) for seed in range(300))
    assert noticed > 150


def test_a_damaged_log_loses_its_end_at_most(tmp_path):
    """While a run is written its newest rows are in the log, whose frames SQLite checks."""
    rng = random.Random(3)
    with Store.create(tmp_path / "run", CONFIG, "digest", "text") as store:
        for n in range(1, 40):
            store.add(judged(n))
        data = (store.folder / FILE).read_bytes()
        log = (store.folder / f"{FILE}-wal").read_bytes()
    for turn in range(60):
        folder = tmp_path / f"copy{turn}"
        folder.mkdir()
        (folder / FILE).write_bytes(data)
        (folder / f"{FILE}-wal").write_bytes(damage(log, rng))
        try:
            with Store.open(folder) as copy:
                rows = list(copy.evaluations())
        except StoreError:
            continue
        assert [row.id for row in rows] == list(range(1, len(rows) + 1))
        assert all(row.evaluation == evaluation(row.id) for row in rows)
