"""share_cores: divide the cores among the OpenMP teams of CPU devices that train together.

Each device's compute lane runs kernels on a team of OpenMP threads, one for each core. Two busy
devices would have twice as many threads as cores, and kernels would wait for threads without a
core. So each device's team gets a share of the threads while the owner, a Trainer or a Module, is
alive.
"""

import _thread
import contextlib
import threading
import weakref
from collections.abc import Sequence
from functools import partial

from gluonish.core.config import MXNET_CPU_WORKER_NTHREADS
from gluonish.core.context import Context
from gluonish.core.device import Lane, device_of
from gluonish.core.errors import OperatorError
from gluonish.engine import current_engine
from gluonish.kernels import openmp
from gluonish_engine import Engine


class _Share:
    """The number of OpenMP threads that an owner assigned to the team of each of its devices."""

    __slots__ = ("threads",)

    def __init__(self, threads: int) -> None:
        self.threads = threads


# For each engine, the share that the last owner assigned to each resized team. There is no lock: a
# worker reads the share when it resizes its team, so that the last assignment wins.
_shares: weakref.WeakKeyDictionary[Engine, dict[Lane, _Share]] = weakref.WeakKeyDictionary()


def share_cores(contexts: Sequence[Context], owner: object) -> None:
    """Divide OpenMP's threads among CPU devices that compute in parallel.

    Each device's worker gets a share, until the next division or until the last owner is deleted.
    If a device has several workers (``MXNET_CPU_WORKER_NTHREADS``), or work runs in the calling
    thread, the number of threads stays that of ``OMP_NUM_THREADS``.

    Args:
        contexts: The devices; devices other than CPUs are ignored.
        owner: Object that uses the devices in parallel, such as a Trainer.
    """
    lanes = {device_of(x).lane for x in contexts if not x.is_gpu and not x.is_host_buffer}
    if MXNET_CPU_WORKER_NTHREADS.value > 1 or not lanes:
        return
    total = openmp.team().threads()
    engine = current_engine()
    share = _Share(max(1, total // len(lanes)))
    shares = _shares.setdefault(engine, {})
    if len(lanes) == 1:
        lanes.intersection_update(shares)
    for lane in lanes:
        previous = shares.get(lane)
        shares[lane] = share
        if previous is None or previous.threads != share.threads:
            _push_resize(engine, lane, shares, total)
    if lanes and share.threads != total:
        finalizer = weakref.finalize(owner, _release_async, weakref.ref(engine), share, total)
        finalizer.atexit = False


def _release_async(engine: weakref.ref[Engine], share: _Share, total: int) -> None:
    """Release a share in another thread: the owner may be deleted while an engine lock is held."""
    with contextlib.suppress(RuntimeError):  # the interpreter is exiting
        _thread.start_new_thread(_release, (engine, share, total))


def _release(engine: weakref.ref[Engine], share: _Share, total: int) -> None:
    """Restore the full size of the teams that still use this share."""
    found = engine()
    if found is None:
        return
    shares = _shares.get(found, {})
    with contextlib.suppress(OperatorError):  # the engine was shut down
        for lane in [lane for lane, current in tuple(shares.items()) if current is share]:
            if shares.get(lane) is share:  # atomic with the pop
                shares.pop(lane)
                _push_resize(found, lane, shares, total)


def _push_resize(engine: Engine, lane: Lane, shares: dict[Lane, _Share], total: int) -> None:
    resize = partial(_resize, shares, lane, total, threading.get_ident())
    engine.push(resize, [], [], lane, 0, "share_cores")


def _resize(shares: dict[Lane, _Share], lane: Lane, total: int, caller: int) -> None:
    """Resize the team of a worker; in an engine without workers the caller's team is unchanged."""
    share = shares.get(lane)
    if threading.get_ident() != caller:
        openmp.team().set_threads(total if share is None else share.threads)
