"""Profiling a program that says nothing of it, where ``MXNET_PROFILER_AUTOSTART`` is set.

The engine calls `start` when it is made, so the first operator is seen. What was recorded is
written at exit to the file of `set_config`, ``profile.json`` by default, unless the program wrote
it itself with ``dump(finished=True)``. Work that nobody waited for before the exit is not there.
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
    """Have the profiler run from now on, and write at exit; once in a process.

    Not in a process that a program starts for its own purposes: all would write the one file.
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
