"""``gluonish launch``: runs a program in several processes, on this host or others.

The options are those of MXNet's ``tools/launch.py``. With MPICH, processes on this host are started
directly, as MPICH's launcher listens on a port that other machines can reach. Processes on other
hosts are started by mpiexec, through Slurm, ssh and others. Programs get the environment variables
of MXNet's launcher and of torchrun. Output lines are prefixed with the rank. If a rank ends early
and the others do not notice, the launcher reports an error.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gluonish.core.config import OMP_NUM_THREADS
from gluonish.core.config.environment import is_set
from gluonish.core.errors import (
    ArgumentError,
    DistributedError,
    MissingFileError,
    NotSupportedError,
)
from gluonish.core.operating_system import KILL, core_numbers, usable_cores
from gluonish.tools.guard import (
    Guard,
    Signals,
    end_with_parent,
    restore_terminal_signals,
    signal_group,
)
from gluonish.tools.local_ranks import LocalRanks

_ASKED_TO_END = (129, 130, 131, 143)  # by SIGHUP, Ctrl-C, SIGQUIT, SIGTERM
# Set by schedulers that assign hosts to the job; mpiexec reads them.
_SCHEDULERS = ("SLURM_JOB_ID", "PBS_NODEFILE", "PE_HOSTFILE", "LSB_HOSTS", "COBALT_NODEFILE")
# Translates variables of MPICH and OpenMPI to those of torchrun and MXNet.
_RANK = (
    "rank=${PMI_RANK:-${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-0}}}; "
    "export RANK=$rank DMLC_WORKER_ID=$rank "
    "LOCAL_RANK=${MPI_LOCALRANKID:-${OMPI_COMM_WORLD_LOCAL_RANK:-0}}; "
    'exec "$@"'
)


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``launch`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "launch",
        help="run a program in several processes, connected by dist_sync stores",
        description="Start N processes of a program, here or with mpiexec on other hosts. Stores "
        "made with kv.create('dist_sync') or Trainer(kvstore='dist_sync') connect them. A "
        "terminating signal, such as Ctrl-C, is forwarded to all of them. They have 60 seconds "
        "after the first one ends; a second signal kills them.",
        usage="gluonish launch -n N [options] COMMAND ...",
    )
    parser.add_argument("-n", "--num-workers", type=int, required=True, help="processes to start")
    parser.add_argument(
        *("-s", "--num-servers"),
        type=int,
        default=0,
        help="accepted: dist_sync needs no servers, those of dist_async run inside the processes",
    )
    parser.add_argument(
        *("-H", "--hostfile"), help="a file with one host in each line, `host` or `host:slots`"
    )
    parser.add_argument(
        "--launcher",
        choices=("local", "ssh", "mpi", "slurm", "sge", "yarn"),
        default="",
        help="how mpiexec reaches other hosts; by default it detects ssh, Slurm and SGE; local: "
        "all on this machine",
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable for all processes",
    )
    for name in ("--env-server", "--env-worker"):
        parser.add_argument(
            name, action="append", default=[], metavar="NAME:VALUE", help="the same as --env"
        )
    parser.add_argument(
        "--sync-dst-dir",
        metavar="DIR",
        help="copy this folder to DIR on all hosts of -H, by rsync and ssh, and start there",
    )
    parser.add_argument(
        "--p3", action="store_true", help="accepted: arrays are sent in chunks anyway"
    )
    parser.add_argument(
        "--standalone",
        action="store_true",
        help="all on this machine, with the cores divided among them",
    )
    parser.add_argument("--log-folder", help="write each rank's output to a file there")
    parser.add_argument(
        "--no-prefix", action="store_true", help="print lines without [rank] in front"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the shell command of mpiexec, without running it",
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND ...",
        help="the program and its arguments",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Start the processes, wait for them, and return the exit status of the job.

    Raises:
        ArgumentError: A number is invalid, or there is no command.
        NotSupportedError: The system cannot fork.
        MissingFileError: mpiexec, rsync or the host file does not exist.
        DistributedError: The folder cannot be copied to a host.
    """
    if not hasattr(os, "fork"):
        raise NotSupportedError(
            f"launch: expected a system that can fork processes, such as Linux or macOS, got "
            f"{sys.platform}; train in one process"
        )
    if not arguments.command:
        raise ArgumentError(
            "launch: expected a command, got none; gluonish launch -n 2 python x.py"
        )
    if arguments.num_workers < 1:
        raise ArgumentError(f"launch: expected -n of at least 1, got {arguments.num_workers}")
    copies = _copies(arguments)
    if arguments.dry_run:
        print(*map(shlex.join, [*copies, _command(arguments, "")]), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="gluonish-launch-") as folder:
        local = _runs_locally(arguments)
        command = [] if local else _command(arguments, folder)
        if arguments.log_folder:
            Path(arguments.log_folder).mkdir(parents=True, exist_ok=True)
        for each in copies:
            _run_copy(each)
        status = _local_ranks(arguments, folder).run() if local else _wait(command)
        return _judged(status, Path(folder))


def _runs_locally(arguments: argparse.Namespace) -> bool:
    """Whether all processes run on this host, with an MPI that does not need mpiexec."""
    elsewhere = arguments.hostfile or arguments.launcher not in ("", "local")
    if elsewhere or not _is_hydra(_mpiexec()):
        return False
    requested = arguments.launcher == "local" or arguments.standalone
    return requested or not is_set(*_SCHEDULERS)


def _local_ranks(arguments: argparse.Namespace, folder: str) -> LocalRanks:
    cores = None
    if arguments.standalone:
        mine = core_numbers()
        share = max(1, len(mine) // arguments.num_workers)
        starts = [i * share % len(mine) for i in range(arguments.num_workers)]
        cores = [mine[start : start + share] for start in starts]
    return LocalRanks(
        _program(arguments),
        arguments.num_workers,
        _environment(arguments, folder),
        arguments.log_folder,
        not arguments.no_prefix,
        cores,
    )


def _program(arguments: argparse.Namespace) -> list[str]:
    """Return the command of each process."""
    command = list(arguments.command)
    if command[0] in ("python", "python3"):
        command[0] = sys.executable  # this interpreter has gluonish
    elif command[0] == "gluonish":
        command[:1] = [sys.executable, "-m", "gluonish"]
    return command


def _is_hydra(mpiexec: str) -> bool:
    """Whether a launcher is MPICH's."""
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    return "HYDRA" in version.stdout


def _command(arguments: argparse.Namespace, folder: str) -> list[str]:
    """Return the full command; ranks record a normal end in ``folder``."""
    variables = _environment(arguments, folder)
    return [
        *("env", *(f"{name}={value}" for name, value in variables.items())),
        *mpi_command(arguments, _mpiexec(), list(variables)),
    ]


def mpi_command(
    arguments: argparse.Namespace, mpiexec: str, exported: Sequence[str] = ()
) -> list[str]:
    """Return the command that starts the processes.

    Args:
        arguments: The parsed options.
        mpiexec: Path of the launcher, MPICH's or OpenMPI's.
        exported: Names of variables to export to other hosts.

    Raises:
        MissingFileError: There is no host file.
    """
    hydra = _is_hydra(mpiexec)
    command = [mpiexec, "-n", str(arguments.num_workers)]
    if arguments.hostfile:
        if not Path(arguments.hostfile).is_file():
            raise MissingFileError(f"launch: expected a host file, got {arguments.hostfile!r}")
        command += ["-f" if hydra else "--hostfile", arguments.hostfile]
        command += ["-wdir", arguments.sync_dst_dir] if arguments.sync_dst_dir else []
    if arguments.launcher in ("ssh", "slurm", "sge") and hydra:
        command += ["-launcher", arguments.launcher]
    if hydra:
        command += ["-genvlist", ",".join(exported)] if exported and arguments.hostfile else []
        if arguments.log_folder:
            pattern = os.path.join(arguments.log_folder, "rank.%r.log")
            command += ["-outfile-pattern", pattern, "-errfile-pattern", pattern]
        elif not arguments.no_prefix:
            command.append("-prepend-rank")
        if arguments.standalone:
            share = max(1, usable_cores() // arguments.num_workers)
            command += ["-bind-to", f"core:{share}"]
    else:
        for name in exported:
            command += ["-x", name]
        command += [] if arguments.no_prefix else ["--tag-output"]
        command += ["--output-filename", arguments.log_folder] if arguments.log_folder else []
        command += ["--oversubscribe", "--allow-run-as-root"]
    return [*command, "/bin/sh", "-c", _RANK, "sh", *_program(arguments)]


def _copies(arguments: argparse.Namespace) -> list[list[str]]:
    """Return the commands that copy this folder to all hosts, if any.

    Raises:
        MissingFileError: There is no host file.
    """
    if not arguments.sync_dst_dir or not arguments.hostfile:
        return []  # all processes run on this host
    path = Path(arguments.hostfile)
    if not path.is_file():
        raise MissingFileError(f"launch: expected a host file, got {arguments.hostfile!r}")
    lines = [line.partition("#")[0].split() for line in path.read_text().splitlines()]
    hosts = dict.fromkeys(line[0].partition(":")[0] for line in lines if line)
    target = arguments.sync_dst_dir.rstrip("/")
    return [["rsync", "-az", "--rsh", "ssh", "./", f"{host}:{target}/"] for host in hosts]


def _run_copy(command: Sequence[str]) -> None:
    try:
        status = subprocess.run(command, check=False).returncode
    except FileNotFoundError as error:
        raise MissingFileError("launch: expected rsync for --sync-dst-dir, got none") from error
    if status:
        raise DistributedError(
            f"launch: expected {shlex.join(command)} to copy the folder, got status {status}"
        )


def _mpiexec() -> str:
    """Return the path of mpiexec, preferably next to the Python interpreter."""
    local = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    found = local or shutil.which("mpiexec") or shutil.which("mpirun")
    if found is None:
        raise MissingFileError(
            "launch: expected mpiexec, got none next to Python or on PATH; "
            "pip install 'gluonish[dist]', which includes MPICH"
        )
    return found


def _environment(arguments: argparse.Namespace, folder: str) -> dict[str, str]:
    """Return the variables of all processes, in addition to those of this one."""
    workers = str(arguments.num_workers)
    variables = {
        "DMLC_ROLE": "worker",
        "DMLC_NUM_WORKER": workers,
        "DMLC_NUM_SERVER": str(arguments.num_servers),
        "WORLD_SIZE": workers,
    }
    if folder:
        variables["GLUONISH_LAUNCH_FOLDER"] = folder  # the folder does not exist on other hosts
    if arguments.standalone and not OMP_NUM_THREADS.value:
        cores = usable_cores()
        variables["OMP_NUM_THREADS"] = str(max(1, cores // arguments.num_workers))
    for item in (*arguments.env, *arguments.env_worker):
        name, mark, value = re.match(r"([^=:]*)([=:]?)(.*)", item, re.S).groups()  # type: ignore[union-attr]
        if mark:  # variables without a value are inherited anyway
            variables[name] = value
    return variables


def _wait(command: Sequence[str]) -> int:
    """Run mpiexec, forward signals to it, and terminate all ranks when this process ends.

    Schedulers and `timeout` end this process with SIGTERM, after which ranks would keep running.
    """
    parent = os.getpid()

    def prepare() -> None:
        os.setpgid(0, 0)  # otherwise Ctrl-C would be received twice
        end_with_parent(parent)
        restore_terminal_signals()

    with Signals() as signals:
        stdin = subprocess.DEVNULL if sys.stdin.isatty() else None
        process = subprocess.Popen(command, stdin=stdin, preexec_fn=prepare)
        guard = Guard([process.pid])
        forwarded = 0
        while True:
            try:
                status = process.wait(0.05)
                break
            except subprocess.TimeoutExpired:
                if signals.count > forwarded:
                    forwarded = signals.count
                    signal_group(process.pid, signals.first if forwarded == 1 else KILL)
        guard.dismiss()
        if signals.first:
            return 128 + signals.first
        return 128 - status if status < 0 else status


def _judged(status: int, folder: Path) -> int:
    """Return the job's exit status; print a message if a rank with a store ended unexpectedly.

    A rank that ends by `os._exit` or a signal ends the others; mpiexec then returns 0 or the number
    of a signal.
    """

    def ranks(what: str) -> set[int]:
        return {int(path.suffix[1:]) for path in folder.glob(f"{what}.*")}

    missing = sorted(ranks("started") - ranks("ended"))
    if not missing or ranks("failed") or status in _ASKED_TO_END:
        return status
    named = ", ".join(map(str, missing))
    print(
        f"gluonish: launch: expected all ranks to end together, got an early end of rank {named}; "
        "check for os._exit, signals and lack of memory",
        file=sys.stderr,
    )
    return status or 1
