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
from gluonish.kernels.numba import openmp
from gluonish_engine import Engine

__all__ = ["share_cores"]


class _Share:
    """What one owner gave the teams of its devices."""

    __slots__ = ("threads",)

    def __init__(self, threads: int) -> None:
        self.threads = threads


# Guards the shares, so that teams get their sizes in the same order. Who takes it again halfway, in
# a handler or a destructor, shares out in between: what it interrupted is the last.
_lock = threading.RLock()

# For each engine the share of each team whose size was set, the last owner's.
_shares: weakref.WeakKeyDictionary[Engine, dict[Lane, _Share]] = weakref.WeakKeyDictionary()


def share_cores(contexts: Sequence[Context], owner: object) -> None:
    """Divide the threads of OpenMP between CPU devices, which are about to work at the same time.

    A team's size is its worker's. It holds until devices are shared out anew, or the last owner
    ends. Where a device has several workers (``MXNET_CPU_WORKER_NTHREADS``), or work runs in the
    calling thread, teams keep the size that ``OMP_NUM_THREADS`` gives them.

    Args:
        contexts: The devices; those that are no CPU play no part.
        owner: Who has them work together.
    """
    lanes = {device_of(x).lane for x in contexts if not x.is_gpu and not x.is_host_buffer}
    if MXNET_CPU_WORKER_NTHREADS.value > 1 or not lanes:
        return
    whole = openmp.team().threads()
    engine = current_engine()
    share = _Share(max(1, whole // len(lanes)))
    with _lock:
        shares = _shares.setdefault(engine, {})
        if len(lanes) == 1:
            lanes.intersection_update(shares)
        for lane in lanes:
            previous = shares.get(lane)
            shares[lane] = share
            if previous is None or previous.threads != share.threads:
                _push_resize(engine, lane, share.threads)
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
    with _lock, contextlib.suppress(OperatorError):  # it was shut down
        shares = _shares.get(found, {})
        for lane in [lane for lane, held in shares.items() if held is share]:
            del shares[lane]
            _push_resize(found, lane, whole)


def _push_resize(engine: Engine, lane: Lane, threads: int) -> None:
    resize = partial(_resize, threads, threading.get_ident())
    engine.push(resize, [], [], lane, 0, "share_cores")


def _resize(threads: int, caller: int) -> None:
    """Set the team of a worker; an engine without workers runs this in the caller, which keeps."""
    if threading.get_ident() != caller:
        openmp.team().set_threads(threads)
