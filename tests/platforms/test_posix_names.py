import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(__file__).parent / "site"
# Names that some systems lack, and the modules that may use them: those with a test for the name,
# and those of commands that need fork, signals of POSIX or MPI.
_CORE = "core/operating_system.py"
_CONNECTION = "gluon/data/connection.py"
POSIX: dict[str, tuple[str, ...]] = {
    "fcntl": ("core/files.py",),
    "grp": (),
    "os.O_DIRECTORY": ("kernels/compiler/disk_cache.py",),
    "os.O_NOFOLLOW": ("core/files.py", "kernels/compiler/disk_cache.py"),
    "os.fork": ("tools/guard.py",),
    "os.killpg": ("tools/guard.py", "test_utils/ranks.py"),
    "os.memfd_create": ("gluon/data/shared_memory.py",),
    "os.name": (),
    "os.pidfd_open": (_CONNECTION,),
    "os.posix_fallocate": ("gluon/data/shared_memory.py",),
    "os.register_at_fork": (_CORE, "engine"),
    "os.sched_getaffinity": (_CORE,),
    "os.sched_setaffinity": (_CORE,),
    "os.sched_yield": (_CORE,),
    "os.setpgid": ("tools/launch.py", "tools/local_ranks.py"),
    "os.setsid": ("tools/guard.py",),
    "os.statvfs": ("kvstore/distributed/host_memory.py", "kvstore/distributed/world.py"),
    "os.sysconf": (_CORE,),
    "os.waitid": (_CORE,),
    "pwd": (),
    "resource": (),
    "select.poll": (_CONNECTION,),
    "signal.SIGHUP": ("tools/guard.py", "tools/local_ranks.py"),
    "signal.SIGKILL": (),
    "signal.SIGQUIT": ("tools/guard.py",),
    "signal.pthread_sigmask": (_CORE,),
    "socket.AF_UNIX": ("gluon/data/channel.py",),
    "socket.recv_fds": (_CONNECTION,),
    "socket.send_fds": (_CONNECTION, "gluon/data/dataloader.py"),
    "sys.platform": (_CORE, "tools/launch.py"),
    "termios": (),
}


def names(tree: ast.AST) -> set[str]:
    """Return imported modules, and attributes of names, in a module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
    return found


def test_names_that_some_systems_lack_are_used_where_they_are_asked_for() -> None:
    wrong = []
    for folder, prefix in ((ROOT / "gluonish", ""), (ROOT / "engine", "engine/")):
        for path in folder.rglob("*.py"):
            used = names(ast.parse(path.read_text("utf-8"))) & POSIX.keys()
            module = prefix + path.relative_to(folder).as_posix()
            wrong += [
                f"{module}: {name}"
                for name in used
                if module not in POSIX[name] and module.partition("/")[0] not in POSIX[name]
            ]
    assert not wrong, "\n".join(sorted(wrong))


def test_every_module_can_be_imported_on_windows() -> None:
    modules = []
    for path in sorted((ROOT / "gluonish").rglob("*.py")):
        name = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if not name.startswith(("gluonish.kernels.cupy", "gluonish.__main__")):
            modules.append(name.removesuffix(".__init__"))
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except Exception as error:\n"
        "        print(f'{name}: {error!r}')\n"
    )
    done = run("win32", "-W", "ignore", "-c", program, *modules)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def run(system: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    paths = [str(SITE), str(ROOT), str(ROOT / "engine")]
    environment = {
        **os.environ,
        "EMULATED_SYSTEM": system,
        "PYTHONPATH": os.pathsep.join(paths),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_emulated_system_lacks_what_the_real_one_lacks(system: str) -> None:
    program = (
        "import ctypes, os, gluonish as mx\n"
        "from gluonish.core import operating_system as here\n"
        "from gluonish.kernels import openmp\n"
        "print(here.WINDOWS, here.LINUX, mx.runtime.Features().is_enabled('MKLDNN'),\n"
        "      os.path.exists('/proc/x'), hasattr(os, 'memfd_create'))\n"
        "try:\n"
        "    open('/proc/self/status')\n"
        "except FileNotFoundError:\n"
        "    print('no /proc')\n"
    )
    done = run(system, "-c", program)
    first = f"{system == 'win32'} False False False False"
    assert done.stdout.splitlines() == [first, "no /proc"], done.stderr
