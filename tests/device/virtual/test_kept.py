"""Times of launches that are kept for other processes."""

from unittest import mock

import msgspec

from gevolve.device.sim.timing import Timing
from gevolve.device.virtual import kept
from gevolve.device.virtual.command import table_of
from gevolve.device.virtual.kept import KeptTimes
from gevolve.device.virtual.timer import Launch

TIMING = Timing(
    kernel="k", cycles=12.5, estimate=12.0, kinds={"math": 12.5}, lines={}, occupancy=1.0,
    resident=2, bound="warps", registers=32, instructions=7, work=(1.0, 2.0),
)  # fmt: skip


def launch(code):
    return Launch(code, (1, 1, 1), (32, 1, 1), 0, ((True, 16),))


def times(folder, gpu="a100"):
    return KeptTimes(table_of(gpu), folder)


def test_what_one_process_has_timed_another_knows(tmp_path):
    one, other = times(tmp_path), times(tmp_path)
    assert other.get(launch("a")) is None
    one.put(launch("a"), TIMING)
    assert other.get(launch("a")) == TIMING
    assert other.get(launch("b")) is None
    assert times(tmp_path).get(launch("a")) == TIMING


def test_another_gpu_and_another_simulator_have_times_of_their_own(tmp_path):
    times(tmp_path).put(launch("a"), TIMING)
    assert times(tmp_path, "t4").get(launch("a")) is None
    with mock.patch.object(kept, "_simulator", return_value=b"another"):
        assert times(tmp_path).get(launch("a")) is None


def test_a_line_that_is_torn_or_damaged_is_left_out(tmp_path):
    times(tmp_path).put(launch("a"), TIMING)
    (path,) = tmp_path.iterdir()
    line = path.read_bytes()
    reader = times(tmp_path)
    path.write_bytes(line[:20] + b"\n" + line + line.replace(b"12.5", b"13.5", 1)[:30])
    assert reader.get(launch("a")) == TIMING
    path.write_bytes(path.read_bytes()[:-30] + msgspec.json.encode(["x", {}]) + b"\n")
    times(tmp_path).put(launch("b"), TIMING)
    assert reader.get(launch("b")) == TIMING


def test_a_file_that_has_grown_too_large_is_begun_anew(tmp_path):
    reader = times(tmp_path)
    with mock.patch.object(kept, "_MOST", 100):
        for code in "abc":
            times(tmp_path).put(launch(code), TIMING)
    assert times(tmp_path).get(launch("a")) is None
    assert reader.get(launch("c")) == TIMING


def test_where_nothing_can_be_written_times_are_known_to_the_process(tmp_path):
    (tmp_path / "file").write_text("")
    one = times(tmp_path / "file")
    one.put(launch("a"), TIMING)
    assert one.get(launch("a")) == TIMING
