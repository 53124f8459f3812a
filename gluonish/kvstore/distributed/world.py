"""World: the processes that were started together, through MPI.

MPI starts at the first use, and ends with the process. From then on a rank that fails takes the
others with it, since they would wait for it for ever: an exception that nobody catches ends the job
with its traceback, and a rank that ends while others go on is an error there (`Meeting`).
"""

import io
import os
import socket
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from gluonish.core.config import (
    DMLC_NUM_WORKER,
    DMLC_ROLE,
    GLUONISH_LAUNCH_FOLDER,
    OMPI_COMM_WORLD_SIZE,
    PMI_SIZE,
    SLURM_STEP_NUM_TASKS,
    WORLD_SIZE,
)
from gluonish.core.config.environment import LoadEnvironment, get_variable
from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES

_DRAIN_S = 0.2  # until a launcher has passed on what was written

# What launchers tell a process of their number.
_SIZES = (WORLD_SIZE, PMI_SIZE, OMPI_COMM_WORLD_SIZE, SLURM_STEP_NUM_TASKS)

# Have MPICH open no port on any address where shared memory serves, or one that only this host
# reaches, by the library that it was built with.
_WITHOUT_PORTS = {
    "UCX_TLS": "self,sm",
    "FI_TCP_IFACE": "lo",
    "FI_SOCKETS_IFACE": "lo",
    "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": "lo",
}

_LEAST_ROOM_NBYTES, _ROOM_NBYTES = 3 << 19, 64 << 20  # in /dev/shm, of two ranks

_worlds: list["World"] = []


def world() -> "World":
    """Return the job's processes; starts MPI at the first call.

    Raises:
        NotSupportedError: mpi4py or MPI itself is not installed.
    """
    if not _worlds:
        _check_launch()
        made = World(_load_mpi())
        _check_size(made)
        if not _worlds:  # a step
            _worlds.append(made)
            made.watch()
    return _worlds[0]


def joined() -> "World | None":
    """Return the job's processes if MPI was started and there are several; otherwise None."""
    return _worlds[0] if _worlds and _worlds[0].size > 1 else None


def _check_launch() -> None:
    role = DMLC_ROLE.value
    if role != "worker":
        raise NotSupportedError(
            f"kvstore: expected to be a worker, got DMLC_ROLE={role}, a process of MXNet's own "
            "launcher; start the program with `gluonish launch`, which takes the same options"
        )


def _check_size(world: "World") -> None:
    """Refuse what would train so many times alone where processes were to train together."""
    wanted = DMLC_NUM_WORKER.value
    if wanted not in (0, world.size):
        raise _other_size(world.size, wanted, DMLC_NUM_WORKER.name)
    for flag in _SIZES if world.size == 1 else ():
        if flag.value > 1:
            raise _other_size(world.size, flag.value, flag.name)


def _other_size(found: int, wanted: int, variable: str) -> NotSupportedError:
    return NotSupportedError(
        f"kvstore: expected {wanted} processes, by {variable}, got {found} that MPI joined; start "
        f"the program with `gluonish launch -n {wanted} python ...` instead of torchrun and the "
        "like, or with mpiexec or srun --mpi=pmi2 of the MPI that mpi4py was built for"
    )


def _all_ranks_are_local() -> bool:
    """Whether MPICH's launcher, or none, has started all ranks on this host."""
    here = get_variable("MPI_LOCALNRANKS")
    return (here or "1") == str(max(1, *(flag.value for flag in _SIZES)))


def _environment_of_mpi() -> dict[str, str]:
    """Return what MPICH is to read when it starts on this host.

    Raises:
        NotSupportedError: There is no room for its shared memory, without which it would crash.
    """
    if not _all_ranks_are_local():
        return {}
    room = _shared_memory_room()
    needed = max(_LEAST_ROOM_NBYTES, PMI_SIZE.value * _LEAST_ROOM_NBYTES // 2)
    if PMI_SIZE.value > 1 and room < needed:
        raise NotSupportedError(
            f"kvstore: expected {needed / 2**20:.1f} MB of shared memory in /dev/shm for MPI, got "
            f"{room / 2**20:.1f} MB that can be written; remove files there, or make it larger, as "
            "by docker run --shm-size"
        )
    if room >= _ROOM_NBYTES:
        return _WITHOUT_PORTS
    return {**_WITHOUT_PORTS, "UCX_TLS": "self,sysv,cma"}  # UCX crashes in a full /dev/shm


def _shared_memory_room() -> int:
    """Return how many bytes can be written to /dev/shm."""
    if not os.access("/dev/shm", os.W_OK):
        return 0
    found = os.statvfs("/dev/shm")
    return found.f_bavail * found.f_frsize


def _load_mpi() -> Any:
    variables = _environment_of_mpi()
    try:
        import mpi4py

        mpi4py.rc.threads = True
        mpi4py.rc.thread_level = "multiple"
        # Without the other one UCX writes a log at SIGHUP, and the process goes on.
        with LoadEnvironment(**variables), LoadEnvironment(UCX_DEBUG_SIGNO="0"):
            from mpi4py import MPI
    except IMPORT_FAILURES as error:
        raise NotSupportedError(
            "kvstore: expected MPI for a store of several processes, got "
            f"{' '.join(str(error).split())}; "
            "pip install 'gluonish[dist]', which brings mpi4py and MPICH"
        ) from error
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise NotSupportedError(
            "kvstore: expected an MPI that several threads may call (MPI_THREAD_MULTIPLE), got "
            f"{MPI.Get_library_version().splitlines()[0]}; pip install mpich"
        )
    return MPI


class World:
    """The processes of a job.

    Args:
        mpi: The module ``mpi4py.MPI``.

    Attributes:
        mpi: The module.
        rank: Rank of this process, from 0.
        size: Number of processes.
        values: Communicator for arrays.
        words: Communicator for texts on which ranks agree.
        traces: Communicator of the profiler.
        places: Host and process id of each rank, for messages.
    """

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.values = mpi.COMM_WORLD.Dup()
        self.words = mpi.COMM_WORLD.Dup()
        self.traces = mpi.COMM_WORLD.Dup()
        self.rank: int = self.words.rank
        self.size: int = self.words.size
        self.places: list[str] = self.words.allgather(f"{socket.gethostname()}:{os.getpid()}")

    def watch(self) -> None:
        """End the whole job if an exception ends this process."""
        self._note("started")
        if self.size == 1:
            return
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # Lines of ranks stay whole.
                stream.reconfigure(line_buffering=True, write_through=False)
        before = sys.excepthook

        def ended_by(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            lines = [f"rank {self.rank} ({self.places[self.rank]}) ends the job:\n"]
            if before is sys.__excepthook__:
                lines += traceback.format_exception(kind, error, trace)
            else:
                before(kind, error, trace)
            sys.stderr.write("".join(lines))  # at once, so that lines of ranks do not mix
            self.abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

        sys.excepthook = ended_by

    def abort(self, status: int) -> None:
        """End all processes of the job at once; the reason must be logged before.

        Args:
            status: Exit status.
        """
        self._note("failed")
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(_DRAIN_S)
        self.mpi.COMM_WORLD.Abort(status)

    def leave(self) -> None:
        """Record that this rank has ended together with the others."""
        self._note("ended")

    def _note(self, what: str) -> None:
        """Tell `gluonish launch`, which looks whether all that started ended well."""
        folder = GLUONISH_LAUNCH_FOLDER.value
        if folder and os.path.isdir(folder):  # not on another host
            Path(folder, f"{what}.{self.rank}").touch()
