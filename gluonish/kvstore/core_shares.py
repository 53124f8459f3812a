"""share_cores: CPU devices that train together share the cores between their teams of threads.

Each device's compute lane runs kernels on a team of OpenMP's threads, as many as there are cores.
Two devices at work would have twice as many threads as cores, and each kernel would wait for
threads that have no core. So each device's team gets its part of them, as long as whoever asked for
that, a Trainer or a Module, is there; then the team is what it was.
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
    """What one owner gave the teams of its devices."""

    __slots__ = ("threads",)

    def __init__(self, threads: int) -> None:
        self.threads = threads


# For each engine the share of each team whose size was set, the last owner's. There is no lock: a
# worker sets its team to the share that it finds when it comes to it, so that the last one counts.
_shares: weakref.WeakKeyDictionary[Engine, dict[Lane, _Share]] = weakref.WeakKeyDictionary()


def share_cores(contexts: Sequence[Context], owner: object) -> None:
    """Divide OpenMP's threads among CPU devices that are about to compute at the same time.

    Each device's worker gets a share, until devices are divided again or the last owner is deleted.
    If a device has several workers (``MXNET_CPU_WORKER_NTHREADS``), or work runs in the calling
    thread, the number of threads stays that of ``OMP_NUM_THREADS``.

    Args:
        contexts: The devices; those that are not CPUs are ignored.
        owner: Object that lets them compute at the same time, such as a Trainer.
    """
    lanes = {device_of(x).lane for x in contexts if not x.is_gpu and not x.is_host_buffer}
    if MXNET_CPU_WORKER_NTHREADS.value > 1 or not lanes:
        return
    whole = openmp.team().threads()
    engine = current_engine()
    share = _Share(max(1, whole // len(lanes)))
    shares = _shares.setdefault(engine, {})
    if len(lanes) == 1:
        lanes.intersection_update(shares)
    for lane in lanes:
        previous = shares.get(lane)
        shares[lane] = share
        if previous is None or previous.threads != share.threads:
            _push_resize(engine, lane, shares, whole)
    if lanes and share.threads != whole:
        end = weakref.finalize(owner, _end_soon, weakref.ref(engine), share, whole)
        end.atexit = False


def _end_soon(engine: weakref.ref[Engine], share: _Share, whole: int) -> None:
    """Have a thread end a share: its owner may end where a lock of the engine is held."""
    with contextlib.suppress(RuntimeError):  # the interpreter is about to exit
        _thread.start_new_thread(_end, (engine, share, whole))


def _end(engine: weakref.ref[Engine], share: _Share, whole: int) -> None:
    """Give teams that still have this share all threads again."""
    found = engine()
    if found is None:
        return
    shares = _shares.get(found, {})
    with contextlib.suppress(OperatorError):  # it was shut down
        for lane in [lane for lane, held in tuple(shares.items()) if held is share]:
            if shares.get(lane) is share:  # a step, up to the call
                shares.pop(lane)
                _push_resize(found, lane, shares, whole)


def _push_resize(engine: Engine, lane: Lane, shares: dict[Lane, _Share], whole: int) -> None:
    resize = partial(_resize, shares, lane, whole, threading.get_ident())
    engine.push(resize, [], [], lane, 0, "share_cores")


def _resize(shares: dict[Lane, _Share], lane: Lane, whole: int, caller: int) -> None:
    """Set the team of a worker; an engine without workers runs this in the caller, which keeps."""
    share = shares.get(lane)
    if threading.get_ident() != caller:
        openmp.team().set_threads(whole if share is None else share.threads)
