"""Ctrl-C at each place of a loader's code, one by one."""

import contextlib
import os
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from gluonish.core.mxnet_rules import Rules
from gluonish.gluon.data import DataLoader, worker_process, worker_service
from gluonish.gluon.data.channel import Channel, channel_pair
from gluonish.gluon.data.worker_process import Start
from tests.engine.places import interrupted_at

FILES = tuple(
    f"data{os.sep}{name}.py"
    for name in (
        "dataloader",
        "service_threads",
        "thread_pool",
        "worker_pool",
        "worker_service",
    )
)
MOST = 2000
VALUES = list(range(6))


class Worker:
    """A worker in a thread of this process, which starts in no time."""

    def __init__(self, launch: Any, file: int, worker: int = 0) -> None:
        ours, theirs = channel_pair()
        self.channel = Channel(ours)
        self.waiting: dict[int, None] = {}
        self.ring = None
        self.started = False
        self.process = SimpleNamespace(pid=os.getpid(), kill=lambda: None, wait=lambda _=None: 0)
        self.channel.send(Start(launch.chunks, Rules.GLUONISH, False, False, 1), file)
        threading.Thread(target=self._serve, args=(theirs,), daemon=True).start()

    def _serve(self, connection: Any) -> None:
        with connection, contextlib.suppress(EOFError, OSError):
            worker_process._serve(Channel(connection))

    def has_ended(self) -> bool:
        return False


def values(batches: Any) -> list[int]:
    return [int(x) for batch in batches for x in batch.asnumpy()]


@pytest.mark.parametrize("fresh", [False, True], ids=["same loader", "new loader"])
@pytest.mark.parametrize("thread_pool", [False, True], ids=["processes", "threads"])
def test_interrupt_anywhere_leaves_a_loader_that_gives_all_batches(
    thread_pool: bool, fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_service, "WorkerHandle", Worker)
    monkeypatch.setattr(worker_process, "_seed", lambda seed: None)

    def make() -> DataLoader:
        return DataLoader(VALUES, 2, num_workers=2, thread_pool=thread_pool, timeout=20)

    loader = make()
    assert values(loader) == VALUES
    other = iter(loader)

    def use() -> None:
        assert values(make() if fresh else loader) == VALUES

    place = 0
    for place in range(MOST):
        reached = interrupted_at(place, use, FILES)
        assert values(loader) == VALUES
        if not reached:
            break
    assert 20 < place < MOST - 1
    if fresh:
        assert values(other) == VALUES
