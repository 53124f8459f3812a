"""Starts the ranks of an MPI job on this machine.

MPICH's launcher, Hydra, listens on a TCP port of all addresses for the rendezvous of ranks. Here
each rank has a private pair of connected sockets instead. The protocol is PMI 1.1: requests and
answers are lines of ``name=value``.

Each rank leads a process group. A signal to the launcher is forwarded to all ranks, whose handlers
can save their state; a second signal kills them. If a rank ends early, the others are terminated,
and no rank outlives the launcher.
"""

import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gluonish.core.config.environment import variables_with
from gluonish.core.errors import ArgumentError
from gluonish.core.operating_system import KILL, use_cores
from gluonish.tools.guard import (
    Guard,
    Signals,
    end_groups,
    end_with_parent,
    restore_terminal_signals,
    signal_group,
)

_KEY_SIZE, _VALUE_SIZE = 64, 1024  # MPICH splits longer values


class PMI:
    """The PMI server of a job.

    Args:
        size: Number of ranks.

    Attributes:
        joined: Ranks that have initialized MPI.
        left: Ranks that have finalized MPI.
        aborted: Exit status with which a rank aborted the job, or None.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._name = f"job_{secrets.token_hex(8)}"  # MPICH's names of shared memory contain it
        self._pairs = [socket.socketpair() for _ in range(size)]
        self._incomplete = [b""] * size
        # All ranks are on one host: they share memory, and open no ports.
        self._values = {"PMI_process_mapping": f"(vector,(0,1,{size}))"}
        self._waiting: set[int] = set()
        self.joined: set[int] = set()
        self.left: set[int] = set()
        self.aborted: int | None = None

    def variables(self, rank: int) -> dict[str, str]:
        """Return the environment variables of a rank."""
        return {
            "PMI_FD": str(self.descriptor(rank)),
            "PMI_RANK": str(rank),
            "PMI_SIZE": str(self._size),
            "MPI_LOCALRANKID": str(rank),
            "MPI_LOCALNRANKS": str(self._size),
        }

    def descriptor(self, rank: int) -> int:
        """Return the file descriptor that a rank inherits."""
        return self._pairs[rank][1].fileno()

    def started(self, rank: int) -> socket.socket:
        """Return the socket for the requests of a rank that was started."""
        ours, theirs = self._pairs[rank]
        theirs.close()
        return ours

    def receive(self, rank: int) -> bool:
        """Answer the requests of a rank; return False once the rank has closed its socket."""
        ours = self._pairs[rank][0]
        try:
            data = ours.recv(1 << 16)
        except OSError:  # the rank was killed before it read an answer
            return False
        *lines, self._incomplete[rank] = (self._incomplete[rank] + data).split(b"\n")
        for line in lines:
            request = dict(item.split("=", 1) for item in line.decode().split() if "=" in item)
            self._answer(rank, request)
        return bool(data)

    def close(self) -> None:
        """Close all sockets."""
        for pair in self._pairs:
            for each in pair:
                each.close()

    def _send(self, rank: int, text: str) -> None:
        try:
            self._pairs[rank][0].sendall(f"{text}\n".encode())
        except OSError:  # the rank has ended
            return

    def _answer(self, rank: int, request: dict[str, str]) -> None:
        answers: dict[str, Callable[[], str]] = {
            "init": lambda: "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": lambda: (
                f"cmd=maxes rc=0 kvsname_max=256 keylen_max={_KEY_SIZE} vallen_max={_VALUE_SIZE}"
            ),
            "get_appnum": lambda: "cmd=appnum rc=0 appnum=0",
            "get_my_kvsname": lambda: f"cmd=my_kvsname rc=0 kvsname={self._name}",
            "get_universe_size": lambda: f"cmd=universe_size rc=0 size={self._size}",
            "put": lambda: self._put(request),
            "get": lambda: self._get(request),
            "barrier_in": lambda: self._barrier(rank),
            "finalize": lambda: "cmd=finalize_ack rc=0",
            "abort": lambda: self._abort(request),
        }
        command = request.get("cmd", "")
        if command == "init":
            self.joined.add(rank)
        if command == "finalize":
            self.left.add(rank)
        answer = answers.get(command)
        text = answer() if answer else f"cmd={command}_result rc=-1 msg=not_supported"
        if text:
            self._send(rank, text)

    def _put(self, request: dict[str, str]) -> str:
        self._values[request.get("key", "")] = request.get("value", "")
        return "cmd=put_result rc=0 msg=success"

    def _get(self, request: dict[str, str]) -> str:
        value = self._values.get(request.get("key", ""))
        if value is None:
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
        return f"cmd=get_result rc=0 msg=success value={value}"

    def _barrier(self, rank: int) -> str:
        self._waiting.add(rank)
        if len(self._waiting) == self._size:
            for each in sorted(self._waiting):
                self._send(each, "cmd=barrier_out rc=0")
            self._waiting.clear()
        return ""

    def _abort(self, request: dict[str, str]) -> str:
        status = request.get("exitcode", "1")
        self.aborted = int(status) if status.lstrip("-").isdigit() else 1
        return ""


_POLL_S = 0.05
_PARTIAL_LINE_S = 0.2  # time until an incomplete line is printed
_GRACE_S = 60.0  # time for other ranks to end, after a signal and the end of the first rank
_DRAIN_S = 0.5  # time to read the last lines of output
# Seconds between SIGTERM and SIGKILL, for ranks and for processes that they left running.
_PATIENCE_S, _SHORT_PATIENCE_S = 3.0, 1.0


class _Output:
    """Prints the output of a rank line by line, so that lines of different ranks do not mix."""

    def __init__(self, target: BinaryIO, prefix: bytes) -> None:
        self._target, self._prefix = target, prefix
        self._incomplete = b""
        self._begins = True  # whether a new line begins
        self._since = 0.0

    def write(self, data: bytes) -> None:
        """Print complete lines; empty data is the end, and prints an incomplete line, too."""
        *lines, self._incomplete = (self._incomplete + data).split(b"\n")
        self._since = time.monotonic()
        for line in lines:
            self._print(line + b"\n")
        if not data:
            self.flush(0)

    def flush(self, after_s: float = _PARTIAL_LINE_S) -> None:
        """Print an incomplete line if nothing was added for ``after_s`` seconds."""
        if self._incomplete and time.monotonic() - self._since >= after_s:
            self._print(self._incomplete)
            self._incomplete = b""

    def _print(self, text: bytes) -> None:
        prefix = self._prefix if self._begins else b""
        self._begins = text.endswith(b"\n")
        try:
            self._target.write(prefix + text)
            self._target.flush()
        except (OSError, ValueError):  # the reader has ended
            return


class _Source(NamedTuple):
    """A pipe or socket of a rank to read from."""

    rank: int
    output: _Output | None  # None for the PMI socket


class LocalRanks:
    """A job of several processes on this host.

    Args:
        command: The command of each process.
        size: Number of processes.
        variables: Environment variables, in addition to those of this process.
        log_folder: Folder for the log file of each rank; None to print the output.
        prefix: Whether to begin each printed line with the rank.
        cores: The cores to which each rank is bound; None for no binding.
    """

    def __init__(
        self,
        command: Sequence[str],
        size: int,
        variables: Mapping[str, str],
        log_folder: str | None = None,
        prefix: bool = True,
        cores: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self._command, self._size, self._variables = command, size, variables
        self._log_folder, self._prefix, self._cores = log_folder, prefix, cores
        self._pmi = PMI(size)
        self._sources = selectors.DefaultSelector()
        self._outputs: list[_Output] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._status = 0  # exit status of the first rank that failed
        self._deadline: float | None = None  # when remaining ranks are terminated

    def run(self) -> int:
        """Start the processes and wait; return the exit status of the first one that failed."""
        with Signals() as signals:
            guard = None
            try:
                for rank in range(self._size):
                    self._start(rank)
                guard = Guard([process.pid for process in self._processes])
                self._follow(signals)
            finally:
                self._end()
                if guard is not None:
                    guard.dismiss()
            return 128 + signals.first if signals.first else self._status

    def _start(self, rank: int) -> None:
        process = self._spawn(rank)
        self._processes.append(process)
        self._sources.register(self._pmi.started(rank), selectors.EVENT_READ, _Source(rank, None))
        prefix = f"[{rank}] ".encode() if self._prefix else b""
        targets = (sys.stdout.buffer, sys.stderr.buffer)
        for pipe, target in zip((process.stdout, process.stderr), targets, strict=True):
            if pipe is not None:
                output = _Output(target, prefix)
                self._outputs.append(output)
                self._sources.register(pipe, selectors.EVENT_READ, _Source(rank, output))

    def _spawn(self, rank: int) -> "subprocess.Popen[bytes]":
        """Return a new process.

        Raises:
            ArgumentError: The command cannot be run.
        """
        variables = {"RANK": str(rank), "DMLC_WORKER_ID": str(rank), "LOCAL_RANK": str(rank)}
        variables |= self._pmi.variables(rank)
        out: Any = subprocess.PIPE
        err: Any = subprocess.PIPE
        with ExitStack() as opened:
            if self._log_folder:
                log = Path(self._log_folder, f"rank.{rank}.log")
                out, err = opened.enter_context(log.open("wb")), subprocess.STDOUT
            try:
                return subprocess.Popen(
                    self._command,
                    stdin=None if rank == 0 and not sys.stdin.isatty() else subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**variables_with(""), **self._variables, **variables},
                    pass_fds=(self._pmi.descriptor(rank),),
                    preexec_fn=partial(self._prepare, rank, os.getpid()),
                )
            except OSError as error:
                program = self._command[0]
                advice = f"; write python {program}" if program.endswith(".py") else ""
                raise ArgumentError(
                    f"launch: expected a program that this host can run, got {program!r} "
                    f"({error.strerror}){advice}"
                ) from error

    def _prepare(self, rank: int, parent: int) -> None:
        """Set up a new process, before it runs the program."""
        os.setpgid(0, 0)
        end_with_parent(parent)
        restore_terminal_signals()
        if self._cores is not None:
            use_cores(self._cores[rank])

    def _follow(self, signals: Signals) -> None:
        """Serve ranks until all have ended."""
        forwarded = 0
        while any(process.poll() is None for process in self._processes):
            self._read(_POLL_S)
            if signals.count > forwarded:
                forwarded = signals.count
                self._forward(signals.first if forwarded == 1 else KILL)
            self._check_ends(bool(forwarded))
            if self._deadline is not None and time.monotonic() > self._deadline:
                return
        end = time.monotonic() + _DRAIN_S  # processes that ranks left running may keep pipes open
        while self._read(_POLL_S) and time.monotonic() < end:
            continue
        self._check_ends(bool(forwarded))

    def _forward(self, number: int) -> None:
        """Send a signal to all ranks; terminal signals are sent to their process groups."""
        for process in self._processes:
            if number in (signal.SIGTERM, signal.SIGHUP):
                process.send_signal(number)
            else:
                signal_group(process.pid, number)

    def _read(self, wait_s: float) -> bool:
        """Process output and requests of ranks; return whether there were any."""
        ready = self._sources.select(wait_s) if self._sources.get_map() else []
        for key, _ in ready:
            source: _Source = key.data
            if source.output is None:
                more = self._pmi.receive(source.rank)
            else:
                data = os.read(key.fd, 1 << 16)
                source.output.write(data)
                more = bool(data)
            if not more:
                self._sources.unregister(key.fileobj)
        for output in self._outputs:
            output.flush()
        return bool(ready)

    def _check_ends(self, signalled: bool) -> None:
        """Set the status and the deadline of the other ranks if a rank has ended early."""
        if self._deadline is not None:
            return
        ended = {r: p.returncode for r, p in enumerate(self._processes) if p.poll() is not None}
        failed = next((code for code in ended.values() if code), None)
        lost = (self._pmi.joined - self._pmi.left) & ended.keys()
        if self._pmi.aborted is not None:
            self._status = self._pmi.aborted or 1
        elif failed is not None:
            self._status = failed if failed > 0 else 128 - failed
            if failed < 0 and not signalled:
                self._report_signal(next(rank for rank, code in ended.items() if code), -failed)
        elif not lost:
            return
        self._deadline = time.monotonic() + (_GRACE_S if signalled else 0.0)

    @staticmethod
    def _report_signal(rank: int, number: int) -> None:
        name = {one.value: one.name for one in signal.Signals}.get(number, str(number))
        hint = {
            "SIGBUS": "; is /dev/shm full?",
            "SIGKILL": "; did the system run out of memory?",
        }.get(name, "")
        print(f"gluonish: launch: rank {rank} was ended by {name}{hint}", file=sys.stderr)

    def _end(self) -> None:
        """Terminate the remaining processes of a failed job, with all their children."""
        running = any(process.poll() is None for process in self._processes)
        if running or self._status or self._deadline is not None:
            groups = [process.pid for process in self._processes]
            end_groups(groups, _PATIENCE_S if running else _SHORT_PATIENCE_S)
        for process in self._processes:
            process.wait()
        while self._read(0):
            continue
        self._pmi.close()
        self._sources.close()
