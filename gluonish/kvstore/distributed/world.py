"""World: the processes of an MPI job.

MPI starts at the first use, and ends with the process. From then on a failing rank ends the job, as
the others would wait for it forever: an uncaught exception aborts the job with its traceback, and a
rank that ends before the others raises an error there (`Rendezvous`).
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

from gluonish.core import shown_errors
from gluonish.core.config import (
    DMLC_NUM_WORKER,
    DMLC_ROLE,
    GLUONISH_LAUNCH_FOLDER,
    PMI_SIZE,
    RANK_COUNTS,
    launched_ranks,
)
from gluonish.core.config.environment import LoadEnvironment, get_variable
from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES

_DRAIN_S = 0.2  # until a launcher has forwarded the output

# Keep MPICH, by the library it was built with, from opening ports if shared memory is sufficient,
# or restrict them to the loopback interface.
_WITHOUT_PORTS = {
    "UCX_TLS": "self,sm",
    "FI_TCP_IFACE": "lo",
    "FI_SOCKETS_IFACE": "lo",
    "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE": "lo",
}

_LEAST_SHM_NBYTES, _SHM_NBYTES = 3 << 19, 64 << 20  # in /dev/shm, for two ranks

_worlds: list["World"] = []


def world() -> "World":
    """Return the job's processes; the first call starts MPI.

    Raises:
        NotSupportedError: mpi4py or MPI itself is not installed.
    """
    if not _worlds:
        _check_launch()
        new = World(_load_mpi())
        _check_size(new)
        if not _worlds:  # atomic with the append
            _worlds.append(new)
            new.abort_on_exception()
    return _worlds[0]


def joined() -> "World | None":
    """Return the job's processes if MPI was started and there are several; otherwise None."""
    return _worlds[0] if _worlds and _worlds[0].size > 1 else None


def _check_launch() -> None:
    role = DMLC_ROLE.value
    if role != "worker":
        raise NotSupportedError(
            f"kvstore: expected a worker process, got DMLC_ROLE={role} of MXNet's launcher; start "
            "the program with `gluonish launch`, which has the same options"
        )


def _check_size(world: "World") -> None:
    """Raise if MPI did not join all launched processes, which would then train separately."""
    requested = DMLC_NUM_WORKER.value
    if requested not in (0, world.size):
        raise _other_size(world.size, requested, DMLC_NUM_WORKER.name)
    for flag in RANK_COUNTS if world.size == 1 else ():
        if flag.value > 1:
            raise _other_size(world.size, flag.value, flag.name)


def _other_size(found: int, requested: int, variable: str) -> NotSupportedError:
    return NotSupportedError(
        f"kvstore: expected {requested} processes, by {variable}, got {found} that MPI joined; "
        f"start the program with `gluonish launch -n {requested} python ...` instead of torchrun, "
        "or with mpiexec or srun --mpi=pmi2 of the MPI that mpi4py was built for"
    )


def _all_ranks_are_local() -> bool:
    """Whether MPICH's launcher, or no launcher, has started all ranks on this host."""
    count = get_variable("MPI_LOCALNRANKS")
    return (count or "1") == str(launched_ranks())


def _environment_of_mpi() -> dict[str, str]:
    """Return the environment variables to set for MPICH on this host.

    Raises:
        NotSupportedError: There is not enough shared memory, without which MPICH would crash.
    """
    if not _all_ranks_are_local():
        return {}
    free = _free_shared_memory()
    needed = max(_LEAST_SHM_NBYTES, PMI_SIZE.value * _LEAST_SHM_NBYTES // 2)
    if PMI_SIZE.value > 1 and free < needed:
        raise NotSupportedError(
            f"kvstore: expected {needed / 2**20:.1f} MB of shared memory in /dev/shm for MPI, got "
            f"{free / 2**20:.1f} MB that can be written; remove files there, or enlarge it, as by "
            "docker run --shm-size"
        )
    if free >= _SHM_NBYTES:
        return _WITHOUT_PORTS
    return {**_WITHOUT_PORTS, "UCX_TLS": "self,sysv,cma"}  # UCX crashes in a full /dev/shm


def _free_shared_memory() -> int:
    """Return the number of writable bytes in /dev/shm."""
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
        # Without UCX_DEBUG_SIGNO UCX logs at SIGHUP, and the process continues.
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
            "kvstore: expected an MPI with thread support (MPI_THREAD_MULTIPLE), got "
            f"{MPI.Get_library_version().splitlines()[0]}; pip install mpich"
        )
    return MPI


class World:
    """The processes of an MPI job.

    Args:
        mpi: The module ``mpi4py.MPI``.

    Attributes:
        mpi: The module ``mpi4py.MPI``.
        rank: Rank of this process, from 0.
        size: Number of processes.
        values: Communicator for arrays.
        control: Communicator for rendezvous.
        traces: Communicator of the profiler.
        addresses: Host and process id of each rank, for messages.
    """

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.values = mpi.COMM_WORLD.Dup()
        self.control = mpi.COMM_WORLD.Dup()
        self.traces = mpi.COMM_WORLD.Dup()
        self.rank: int = self.control.rank
        self.size: int = self.control.size
        self.addresses: list[str] = self.control.allgather(f"{socket.gethostname()}:{os.getpid()}")

    def abort_on_exception(self) -> None:
        """Abort the job if an exception ends this process."""
        self._record("started")
        if self.size == 1:
            return
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # Lines of ranks must not be interleaved.
                stream.reconfigure(line_buffering=True, write_through=False)
        previous = sys.excepthook

        def abort_with(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            lines = [f"rank {self.rank} ({self.addresses[self.rank]}) ends the job:\n"]
            if shown_errors.is_default(previous):
                shown_errors.prepare(error)
                lines += traceback.format_exception(error)
            else:
                previous(kind, error, trace)
            sys.stderr.write("".join(lines))  # one write, so that lines of ranks do not mix
            self.abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

        sys.excepthook = abort_with

    def abort(self, status: int) -> None:
        """End all processes of the job with an exit status; the reason must be logged before."""
        self._record("failed")
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(_DRAIN_S)
        self.mpi.COMM_WORLD.Abort(status)

    def leave(self) -> None:
        """Record that this rank has ended together with the others."""
        self._record("ended")

    def _record(self, what: str) -> None:
        """Create a file for `gluonish launch`, which checks that all started ranks ended."""
        folder = GLUONISH_LAUNCH_FOLDER.value
        if folder and os.path.isdir(folder):  # missing on other hosts
            Path(folder, f"{what}.{self.rank}").touch()
