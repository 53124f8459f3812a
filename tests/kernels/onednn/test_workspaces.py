import threading

import pytest

from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.kernels.onednn import Backend, workspaces
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.workspaces import Workspace, Workspaces

LARGE = 1 << 21  # bytes: more than a thread has of its own
THREADS = 4
TIMEOUT_S = 20


@pytest.mark.parametrize("kept", [1, 2])
def test_as_many_large_buffers_are_kept_as_was_said(
    kept: int, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspaces, "_devices", [])
    engine = Engine(backend.engine.api, workspaces=kept)
    everybody = threading.Barrier(THREADS, timeout=TIMEOUT_S)
    starts = []

    def job() -> None:
        thread = engine.thread()
        starts.append(thread.reserve(LARGE))
        everybody.wait()
        thread.run(())

    for thread in (threads := [threading.Thread(target=job) for _ in range(THREADS)]):
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert len(set(starts)) == THREADS
    assert engine.workspaces.nbytes == kept * LARGE


def test_each_device_has_large_buffers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspaces, "_devices", [device_of(cpu(0)), device_of(cpu(1))])
    kept = Workspaces(1)
    for workspace in [Workspace(LARGE) for _ in range(3)]:
        kept.release(workspace)
    assert kept.nbytes == 2 * LARGE


def test_a_buffer_that_is_too_small_is_replaced() -> None:
    kept = Workspaces(1)
    kept.release(Workspace(LARGE))
    assert kept.acquire(2 * LARGE).nbytes == 2 * LARGE
    assert kept.nbytes == 0
