"""Automatic profiling with ``MXNET_PROFILER_AUTOSTART``.

The engine calls `start` when it is created, so the first operator is recorded. The trace is written
at exit to the file of `set_config`, ``profile.json`` by default, unless the program called
``dump(finished=True)``. Work that is pending at exit is missing.
"""

import atexit
import logging
import multiprocessing
import os
from functools import cache

from gluonish.core.config import MXNET_PROFILER_MODE
from gluonish.profiler import state

_LOG = logging.getLogger("gluonish")


@cache
def start() -> None:
    """Start the profiler, and write its trace at exit; once per process.

    Does nothing in processes of `multiprocessing`, which would all write the same file.
    """
    if multiprocessing.parent_process() is not None:
        return
    everything = MXNET_PROFILER_MODE.value == 1
    state.set_config(
        profile_all=everything,
        profile_imperative=everything,
        profile_memory=everything,
        profile_api=everything,
        continuous_dump=False,
    )
    state.set_state("run")
    atexit.register(_finish, os.getpid())


def _finish(pid: int) -> None:
    if os.getpid() != pid or state.was_finished():
        return
    state.set_state("stop")
    try:
        state.dump()
    except OSError as error:
        _LOG.warning("profiler: the trace cannot be written: %s", error)
