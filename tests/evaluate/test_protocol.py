import contextlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gevolve.device.base import Usage
from gevolve.evaluate import protocol
from gevolve.evaluate.protocol import Failed, FromChild, Header, Inbox, MalformedMessageError, Ran

MESSAGES = st.one_of(
    st.builds(Failed, st.text(), st.text(), st.just({"run": 1.0})),
    st.builds(
        Ran,
        st.lists(st.builds(Header, st.text(), st.text(), st.tuples(st.integers(0, 9)))),
        st.builds(Usage, time=st.floats(0, 9), changed=st.just((1, 2)), marks=st.just({"b": 3})),
        st.just({}),
    ),
)


def inbox(largest=1 << 20) -> Inbox[FromChild]:
    return Inbox(FromChild, largest)


@given(st.lists(MESSAGES), st.data())
def test_messages_come_out_as_they_went_in_however_the_bytes_are_cut(messages, data):
    stream = b"".join(map(protocol.frame, messages))
    box, got = inbox(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        box.feed(stream[:cut])
        stream = stream[cut:]
        got += box.messages()
    assert got == messages


@given(MESSAGES, st.binary(max_size=20))
def test_missing_never_reads_beyond_the_message(message, rest):
    stream = protocol.frame(message) + rest
    box, at = inbox(), 0
    while (got := box.take()) is None:
        missing = box.missing
        box.feed(stream[at : at + missing])
        at += missing
    assert got == message
    assert stream[at:] == rest


@given(st.binary(max_size=200))
def test_noise_is_garbled_or_incomplete(noise):
    box = inbox(largest=100)
    box.feed(noise)
    with contextlib.suppress(MalformedMessageError):
        assert all(isinstance(m, Ran | Failed) for m in box.messages())


@given(MESSAGES, st.data())
def test_a_flipped_bit_never_raises_anything_else(message, data):
    stream = bytearray(protocol.frame(message))
    at = data.draw(st.integers(4, len(stream) - 1))
    stream[at] ^= 1 << data.draw(st.integers(0, 7))
    box = inbox()
    box.feed(bytes(stream))
    with contextlib.suppress(MalformedMessageError):
        list(box.messages())


def test_frames_that_are_too_long_are_refused_before_they_are_read():
    box = inbox(largest=10)
    box.feed((11).to_bytes(4, "little"))
    with pytest.raises(MalformedMessageError, match="a frame of 11 bytes"):
        _ = box.missing


def test_deep_nesting_is_garbled():
    body = b"\x91" * 5000
    box = inbox()
    box.feed(len(body).to_bytes(4, "little") + body)
    with pytest.raises(MalformedMessageError):
        box.take()


@pytest.mark.parametrize(
    ("dtype", "shape"), [("|O8", (1,)), ("<f4,<f4", (1,)), ("float32", (1,)), ("<f4", (-1,))]
)
def test_only_arrays_of_numbers_have_a_size(dtype, shape):
    with pytest.raises(MalformedMessageError):
        _ = Header("y", dtype, shape).nbytes


@pytest.mark.parametrize(
    ("outputs", "names"),
    [
        (np.ones(3), ["0"]),
        (2.5, ["0"]),
        ((np.ones(3), np.zeros(2)), ["0", "1"]),
        ([1, True], ["0", "1"]),
        ({"y": np.ones((2, 2)).T, "n": 3}, ["y", "n"]),
    ],
)
def test_outputs(outputs, names):
    named = protocol.named_arrays(outputs)
    assert list(named) == names
    for name, array in named.items():
        assert array.flags.c_contiguous
        assert Header.of(name, array).nbytes == array.nbytes


@pytest.mark.parametrize("outputs", [None, "text", (), {}, [None], object(), {"y": [1, "a"]}])
def test_outputs_that_are_none(outputs):
    with pytest.raises(TypeError):
        protocol.named_arrays(outputs)


def test_messages_are_small():
    job = protocol.Job(1, "copy i3 i17 #5f3a", "search", [])
    assert len(protocol.frame(job)) < 80
    assert msgspec.msgpack.decode(protocol.frame(job)[4:])["type"] == "Job"
