import os
from collections.abc import Iterator

import pytest

from gluonish.gluon.data.channel import MAX_UNANSWERED, Channel, channel_pair

Pair = tuple[Channel, Channel]


@pytest.fixture
def pair() -> Iterator[Pair]:
    left, right = channel_pair()
    left.settimeout(10)
    right.settimeout(10)
    channels = Channel(left), Channel(right)
    yield channels
    for channel in channels:
        channel.close()


def test_messages_arrive_whole_and_in_order(pair: Pair) -> None:
    left, right = pair
    left.send({"a": [1, 2]})
    left.send("x" * 10000)
    assert right.receive() == ({"a": [1, 2]}, None)
    assert right.receive() == ("x" * 10000, None)


def test_file_is_sent_with_a_message(pair: Pair) -> None:
    left, right = pair
    reading, writing = os.pipe()
    left.send("a pipe", reading)
    left.send("no pipe")
    os.close(reading)
    message, descriptor = right.receive()
    assert message == "a pipe"
    assert descriptor is not None
    os.write(writing, b"hello")
    assert os.read(descriptor, 10) == b"hello"
    os.close(descriptor)
    os.close(writing)
    assert right.receive() == ("no pipe", None)


def test_closed_end_is_told(pair: Pair) -> None:
    left, right = pair
    left.close()
    with pytest.raises(EOFError, match="is closed"):
        right.receive()


def test_end_inside_a_message_is_told(pair: Pair) -> None:
    left, right = pair
    left.socket.sendall(b"\x10\0\0\0\0\0\0\0\0\0abc")
    left.close()
    with pytest.raises(EOFError, match="inside a message"):
        right.receive()


def test_large_values_travel_in_files_together_with_another(pair: Pair) -> None:
    left, right = pair
    reading, writing = os.pipe()
    left.send([b"x" * 10_000_000])
    left.send(["y" * 1_000_000], reading)
    os.close(reading)
    # More than the socket holds: a sender that waited for the reader would time out.
    assert right.receive()[0] == [b"x" * 10_000_000]
    message, descriptor = right.receive()
    assert message == ["y" * 1_000_000]
    assert descriptor is not None
    os.write(writing, b"hello")
    assert os.read(descriptor, 10) == b"hello"
    os.close(descriptor)
    os.close(writing)


def test_nobody_waits_to_send_what_may_be_unanswered(pair: Pair) -> None:
    left, right = pair
    left.socket.settimeout(0.5)
    messages = [bytes([i]) * 4000 for i in range(MAX_UNANSWERED)]
    for message in messages:
        left.send([message])
    assert [right.receive()[0] for _ in messages] == [[message] for message in messages]
