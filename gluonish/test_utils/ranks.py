"""Run a function or a program on several ranks, for tests of distributed code."""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gluonish.core.errors import ArgumentError, DistributedError
from gluonish.core.operating_system import KILL
from gluonish.test_utils import rank_process
from gluonish.test_utils.rank_process import Call, Outcome

_LAUNCH = """\
import json, sys
sys.path[:] = json.loads(sys.argv.pop(1))
from gluonish.tools.cli import main
sys.exit(main())
"""
_CALL = "from gluonish.test_utils.rank_process import run; run()"
_END_S = 5.0  # between SIGTERM and SIGKILL
_SHOWN = 4000  # characters of the ranks' output to show in messages


class Job(NamedTuple):
    """The result of a command that ran in several processes.

    Attributes:
        status: Exit status.
        lines: Lines of the standard output, sorted, because the order of the ranks varies.
        errors: Content of standard error.
    """

    status: int
    lines: list[str]
    errors: str


def run_on_ranks(
    function: Callable[..., Any],
    n: int,
    *args: Any,
    timeout_s: float = 60.0,
    variables: Mapping[str, str] | None = None,
) -> list[Any]:
    """Call a function in ``n`` processes that can communicate through a distributed KVStore.

    Each process, started as by `gluonish launch`, imports the function's module, calls the function
    and ends; ``mx.kv.create("dist_sync")`` in it joins the processes. Each has one compute thread,
    and their output goes to standard output and error here.

    Args:
        function: A function at the top level of a module in a file.
        n: Number of processes.
        *args: Arguments of the function, the same in each process; anything that can be pickled.
        timeout_s: Seconds after which all processes are ended.
        variables: Environment variables, in addition to this process's.

    Returns:
        A list of what the function returned in each process, by rank.

    Raises:
        ArgumentError: The function is not at the top level of a module in a file.
        DistributedError: A process did not return in time, or ended without a result.
        Exception: The first error of a process, with its rank and traceback as notes.
    """
    name = getattr(function, "__qualname__", repr(function))
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or file is None or not name.isidentifier():
        raise ArgumentError(
            "run_on_ranks: expected a function at the top level of a module in a file, which other "
            f"processes can import, got {name}"
        )
    with tempfile.TemporaryDirectory(prefix="gluonish-ranks-") as folder:
        call = Call(module.__name__, os.path.abspath(file), name, pickle.dumps(args))
        Path(folder, "call").write_bytes(pickle.dumps(tuple(call)))
        # The launcher sets RANK in the environment of each process.
        program = ["/bin/sh", "-c", 'exec "$0" "$@" "$RANK"', sys.executable]
        command = [*program, "-c", _CALL, folder]
        job = run_command(command, n, timeout_s=timeout_s, variables=variables, name=name)
        outcomes = {rank: rank_process.read_outcome(Path(folder), rank) for rank in range(n)}
    sys.stdout.write("".join(f"{line}\n" for line in job.lines))
    sys.stderr.write(job.errors)
    return _values(outcomes, job, name)


def _values(outcomes: Mapping[int, Outcome | None], job: Job, name: str) -> list[Any]:
    """Return the ranks' results, or raise the first exception."""
    failed = [(x.ended_s, rank, x) for rank, x in outcomes.items() if x is not None and x.trace]
    if failed:
        _, rank, outcome = min(failed, key=lambda item: item[:2])
        error = outcome.error()
        error.add_note(f"on rank {rank} of {len(outcomes)}:\n{outcome.trace}")
        raise error
    missing = [rank for rank, outcome in outcomes.items() if outcome is None]
    if missing or job.status:
        raise DistributedError(
            f"run_on_ranks: expected {name} to return on {len(outcomes)} ranks, got status "
            f"{job.status}, and nothing of ranks {missing}; they wrote:\n{job.errors[-_SHOWN:]}"
        )
    return [outcome.value() for outcome in outcomes.values() if outcome is not None]


def run_command(
    command: Sequence[str],
    n: int,
    *,
    timeout_s: float = 60.0,
    variables: Mapping[str, str] | None = None,
    name: str = "the command",
) -> Job:
    """Run a command in several processes, and wait until they end.

    Args:
        command: Program and arguments; Python finds the modules that this process can import.
        n: Number of processes.
        timeout_s: Seconds after which all processes are ended.
        variables: Environment variables, in addition to this process's.
        name: Description for messages.

    Raises:
        DistributedError: The command did not end in time.
    """
    with subprocess.Popen(
        launch_command(command, n, timeout_s, variables or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # starts a process group, which `_end` ends
    ) as process:
        try:
            out, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            errors = _end(process)
            raise DistributedError(
                f"run_on_ranks: expected {name} to end on {n} ranks within {timeout_s:g} s, got "
                f"no end; they wrote:\n{errors[-_SHOWN:]}"
            ) from None
        except BaseException:
            _end(process)
            raise
    return Job(process.returncode, sorted(out.splitlines()), errors)


def launch_command(
    command: Sequence[str], n: int, timeout_s: float, variables: Mapping[str, str]
) -> list[str]:
    """Return the command of the launcher that runs ``command`` in ``n`` processes."""
    paths = [path for path in sys.path if path]
    environment = {
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        # Shorter than the time-out, so that missing ranks are reported by name.
        "GLUONISH_DISTRIBUTED_TIMEOUT": str(max(0.1, timeout_s / 3)),
        **variables,
    }
    settings = [arg for item in environment.items() for arg in ("--env", "=".join(item))]
    launch = [sys.executable, "-c", _LAUNCH, json.dumps(paths), "launch", "--no-prefix"]
    return [*launch, "-n", str(n), *settings, *command]


def _end(process: "subprocess.Popen[str]") -> str:
    """End a launcher and its child processes; return their standard error."""
    for number in (signal.SIGTERM, KILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_END_S)[1]
    return ""
