"""share_cores: CPU devices that train together share the cores between their teams of threads.

Each device's compute lane runs kernels on a team of OpenMP's threads, as many as there are cores.
Two devices at work would have twice as many threads as cores, and each kernel would wait for
threads that have no core. So each device's team gets its part of them.
"""

import threading
import weakref
from collections.abc import Sequence
from functools import partial

from gluonish.core.config import MXNET_CPU_WORKER_NTHREADS
from gluonish.core.context import Context
from gluonish.core.device import Lane, device_of
from gluonish.engine import current_engine
from gluonish.kernels.numba import openmp
from gluonish_engine import Engine

__all__ = ["share_cores"]

# For each engine the threads of each team whose size was set; entries are replaced as a whole.
_shares: weakref.WeakKeyDictionary[Engine, dict[Lane, int]] = weakref.WeakKeyDictionary()


def share_cores(contexts: Sequence[Context]) -> None:
    """Divide the threads of OpenMP between CPU devices, which are about to work at the same time.

    A team's size is its worker's, so that it holds until devices are shared out anew. Where a
    device has several workers (``MXNET_CPU_WORKER_NTHREADS``), or work runs in the calling thread,
    teams keep the size that ``OMP_NUM_THREADS`` gives them.

    Args:
        contexts: The devices; those that are no CPU play no part.
    """
    lanes = {device_of(x).lane for x in contexts if not x.is_gpu and not x.is_host_buffer}
    if MXNET_CPU_WORKER_NTHREADS.value > 1 or not lanes:
        return
    threads = max(1, openmp.team().threads() // len(lanes))
    engine = current_engine()
    shares = _shares.setdefault(engine, {})
    for lane in lanes:
        if shares.get(lane) != threads and (len(lanes) > 1 or lane in shares):
            shares[lane] = threads
            resize = partial(_resize, threads, threading.get_ident())
            engine.push(resize, [], [], lane, 0, "share_cores")


def _resize(threads: int, caller: int) -> None:
    """Set the team of a worker; an engine without workers runs this in the caller, which keeps."""
    if threading.get_ident() != caller:
        openmp.team().set_threads(threads)
