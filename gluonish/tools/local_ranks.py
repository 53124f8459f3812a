"""Ranks on this machine, which meet as MPI's processes do.

MPICH's own launcher, Hydra, listens on a TCP port of all addresses for that. Here each rank has a
pair of connected sockets instead, which nobody else can reach. The protocol is PMI 1.1: lines of
``name=value``, of which the answers depend on what all ranks have put.

Each rank is the leader of a group of its own. A signal to the launcher goes on to all ranks, whose
handlers can save something; the second one kills. A rank that ends without the others takes them
with it, and none of them outlives the launcher.
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
from gluonish.tools.guard import Guard, end_groups, end_with_parent, signal_group
from gluonish.tools.signals import Signals, restore_terminal_signals

_KEY_SIZE, _VALUE_SIZE = 64, 1024  # MPICH cuts what it puts to fit


class PMI:
    """Answers the ranks of a job.

    Args:
        size: Number of ranks.

    Attributes:
        joined: Ranks that have started MPI.
        left: Those of them that have ended it.
        aborted: Exit status by which a rank ended the job; None if none did.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._name = f"job_{secrets.token_hex(8)}"  # MPICH names shared memory by it
        self._pairs = [socket.socketpair() for _ in range(size)]
        self._incomplete = [b""] * size
        # All ranks are on one host: they share memory, and open no ports.
        self._values = {"PMI_process_mapping": f"(vector,(0,1,{size}))"}
        self._waiting: set[int] = set()
        self.joined: set[int] = set()
        self.left: set[int] = set()
        self.aborted: int | None = None

    def variables(self, rank: int) -> dict[str, str]:
        """Return what a rank needs to know in its environment."""
        return {
            "PMI_FD": str(self.descriptor(rank)),
            "PMI_RANK": str(rank),
            "PMI_SIZE": str(self._size),
            "MPI_LOCALRANKID": str(rank),
            "MPI_LOCALNRANKS": str(self._size),
        }

    def descriptor(self, rank: int) -> int:
        """Return the descriptor that a rank inherits."""
        return self._pairs[rank][1].fileno()

    def started(self, rank: int) -> socket.socket:
        """Return the socket on which a rank, which has been started, sends its requests."""
        ours, theirs = self._pairs[rank]
        theirs.close()
        return ours

    def receive(self, rank: int) -> bool:
        """Answer the requests of a rank; False once its socket is closed."""
        ours = self._pairs[rank][0]
        try:
            data = ours.recv(1 << 16)
        except OSError:  # it was killed with an answer unread
            return False
        *lines, self._incomplete[rank] = (self._incomplete[rank] + data).split(b"\n")
        for line in lines:
            words = dict(word.split("=", 1) for word in line.decode().split() if "=" in word)
            self._answer(rank, words)
        return bool(data)

    def close(self) -> None:
        """Close all sockets."""
        for pair in self._pairs:
            for each in pair:
                each.close()

    def _send(self, rank: int, text: str) -> None:
        try:
            self._pairs[rank][0].sendall(f"{text}\n".encode())
        except OSError:  # it has ended
            return

    def _answer(self, rank: int, words: dict[str, str]) -> None:
        answers: dict[str, Callable[[], str]] = {
            "init": lambda: "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": lambda: (
                f"cmd=maxes rc=0 kvsname_max=256 keylen_max={_KEY_SIZE} vallen_max={_VALUE_SIZE}"
            ),
            "get_appnum": lambda: "cmd=appnum rc=0 appnum=0",
            "get_my_kvsname": lambda: f"cmd=my_kvsname rc=0 kvsname={self._name}",
            "get_universe_size": lambda: f"cmd=universe_size rc=0 size={self._size}",
            "put": lambda: self._put(words),
            "get": lambda: self._get(words),
            "barrier_in": lambda: self._barrier(rank),
            "finalize": lambda: "cmd=finalize_ack rc=0",
            "abort": lambda: self._abort(words),
        }
        command = words.get("cmd", "")
        if command == "init":
            self.joined.add(rank)
        if command == "finalize":
            self.left.add(rank)
        known = answers.get(command)
        text = known() if known else f"cmd={command}_result rc=-1 msg=not_supported"
        if text:
            self._send(rank, text)

    def _put(self, words: dict[str, str]) -> str:
        self._values[words.get("key", "")] = words.get("value", "")
        return "cmd=put_result rc=0 msg=success"

    def _get(self, words: dict[str, str]) -> str:
        value = self._values.get(words.get("key", ""))
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

    def _abort(self, words: dict[str, str]) -> str:
        status = words.get("exitcode", "1")
        self.aborted = int(status) if status.lstrip("-").isdigit() else 1
        return ""


_POLL_S = 0.05
_PARTIAL_LINE_S = 0.2  # until what has no end of line yet is printed
_GRACE_S = 60.0  # of other ranks, from the end of the first one after a signal
_DRAIN_S = 0.5  # for the last lines
# Between SIGTERM and SIGKILL, of ranks and of what they have left behind.
_PATIENCE_S, _SHORT_PATIENCE_S = 3.0, 1.0


class _Output:
    """Copies what a rank writes, line by line so that those of ranks do not mix."""

    def __init__(self, target: BinaryIO, prefix: bytes) -> None:
        self._target, self._prefix = target, prefix
        self._incomplete = b""
        self._begins = True  # a line
        self._since = 0.0

    def write(self, data: bytes) -> None:
        """Print lines that are complete; all that is left at the end, for which data is empty."""
        *lines, self._incomplete = (self._incomplete + data).split(b"\n")
        self._since = time.monotonic()
        for line in lines:
            self._print(line + b"\n")
        if not data:
            self.flush(0)

    def flush(self, after_s: float = _PARTIAL_LINE_S) -> None:
        """Print a part of a line that nothing has been added to for some time."""
        if self._incomplete and time.monotonic() - self._since >= after_s:
            self._print(self._incomplete)
            self._incomplete = b""

    def _print(self, text: bytes) -> None:
        prefix = self._prefix if self._begins else b""
        self._begins = text.endswith(b"\n")
        try:
            self._target.write(prefix + text)
            self._target.flush()
        except (OSError, ValueError):  # nobody reads it any more
            return


class _Source(NamedTuple):
    """What is read when there is something."""

    rank: int
    output: _Output | None  # None: the socket of PMI


class LocalRanks:
    """A job of several processes on this host.

    Args:
        command: What each of them runs.
        size: Number of processes.
        variables: Environment variables besides those of this process.
        log_folder: Where each rank's output goes, or None to print it.
        prefix: Whether each printed line begins with the rank.
        cores: The cores of each rank; None for all.
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
        self._status = 0  # of the first rank that failed
        self._deadline: float | None = None  # until which ranks may go on

    def run(self) -> int:
        """Start the processes and wait for them; the exit status of the first that failed."""
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
            ArgumentError: The command is no program that can be run.
        """
        known = {"RANK": str(rank), "DMLC_WORKER_ID": str(rank), "LOCAL_RANK": str(rank)}
        known |= self._pmi.variables(rank)
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
                    env={**variables_with(""), **self._variables, **known},
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
        """Do in a new process what comes before its program."""
        os.setpgid(0, 0)
        end_with_parent(parent)
        restore_terminal_signals()
        if self._cores is not None:
            os.sched_setaffinity(0, self._cores[rank])

    def _follow(self, signals: Signals) -> None:
        """Serve ranks until all have ended."""
        forwarded = 0
        while any(process.poll() is None for process in self._processes):
            self._read(_POLL_S)
            if signals.count > forwarded:
                forwarded = signals.count
                self._forward(signals.first if forwarded == 1 else signal.SIGKILL)
            self._check_ends(bool(forwarded))
            if self._deadline is not None and time.monotonic() > self._deadline:
                return
        end = time.monotonic() + _DRAIN_S  # what ranks left behind may keep pipes open
        while self._read(_POLL_S) and time.monotonic() < end:
            continue
        self._check_ends(bool(forwarded))

    def _forward(self, number: int) -> None:
        """Send a signal to all ranks; what a terminal sends to a group goes to their children."""
        for process in self._processes:
            if number in (signal.SIGTERM, signal.SIGHUP):
                process.send_signal(number)
            else:
                signal_group(process.pid, number)

    def _read(self, wait_s: float) -> bool:
        """Take what ranks write and ask; False if no more can come."""
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
        """Set the status, and how long the others may go on, where a rank has ended too early."""
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
        """End what is left of a job that failed, with all that ranks have started."""
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
