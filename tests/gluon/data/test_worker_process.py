import os
import signal
import socket
from typing import Any

import pytest

from gluonish.gluon.data import worker_process


def test_answer_to_a_closed_channel_ends_the_worker_quietly(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    ended: list[int] = []
    opened: list[socket.socket] = []

    class Told:
        """A channel that has one task to tell, and cannot be answered."""

        def __init__(self, connection: socket.socket) -> None:
            self.connection = connection
            opened.append(connection)

        def receive(self) -> tuple[Any, None]:
            return worker_process.Task(1, [0], 5, None), None

        def send(self, data: bytes, descriptor: int | None = None) -> None:
            self.connection.sendall(data)

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker_process, "_watch", lambda *_: None)
    monkeypatch.setattr(worker_process, "_receive_dataset", lambda _: ([7], lambda batch: batch))
    monkeypatch.setattr(worker_process, "Channel", Told)
    monkeypatch.setattr(os, "_exit", ended.append)
    worker_process.main(theirs.detach(), os.getppid())
    opened[0].close()
    assert capfd.readouterr().err == ""
    assert ended == [0]
