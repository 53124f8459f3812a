import signal
import socket

import pytest

from gluonish.data import worker_process


def test_answer_to_a_closed_channel_ends_the_worker_quietly(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(worker_process, "_receive_dataset", lambda _: ([7], lambda batch: batch))
    # The thread that reads would end the process; the answer may come before that.
    task = worker_process.Task(1, [0], 5, ())
    monkeypatch.setattr(worker_process, "_read_tasks", lambda _, tasks: tasks.put(task))
    worker_process.main(theirs.detach())
    assert capfd.readouterr().err == ""
