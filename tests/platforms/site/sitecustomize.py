"""Makes Python on Linux behave as on another system, in this process and in all that it starts.

With this folder in PYTHONPATH and the variable EMULATED_SYSTEM, ``darwin`` or ``win32``: there is
no oneDNN, no libgomp, no fork, no ``/proc`` and no ``/dev/shm``; functions that the system lacks
are missing; and `gluonish.core.operating_system` finds that system. Other packages, and Python's
own library where it asks for the system's name, still find Linux.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import select
import socket
import sys
from typing import Any

SYSTEM = os.environ.get("EMULATED_SYSTEM", "")

_ON_LINUX_ONLY: dict[Any, tuple[str, ...]] = {
    os: ("memfd_create", "posix_fallocate", "pidfd_open", "sched_getaffinity", "sched_setaffinity"),
}
_ON_POSIX_ONLY: dict[Any, tuple[str, ...]] = {
    os: (
        *("fork", "forkpty", "register_at_fork", "sysconf", "sched_yield", "waitid"),
        *("killpg", "setsid", "setpgid", "getpgid", "mkfifo", "O_NOFOLLOW", "O_DIRECTORY"),
    ),
    select: ("poll", "epoll"),
    socket: ("AF_UNIX", "send_fds", "recv_fds"),
}
_HIDDEN_FOLDERS = ("/proc", "/dev/shm", "/sys/fs/cgroup")
_HIDDEN_LIBRARIES = ("dnnl", "gomp")
_MEMORY_NBYTES = 8 << 30


class _Loader(importlib.abc.Loader):
    """Executes a module, and something before and after it."""

    def __init__(self, loader, before, after):
        self._loader, self._before, self._after = loader, before, after

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        undo = self._before()
        try:
            self._loader.exec_module(module)
        finally:
            undo()
        self._after(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that differ between systems."""

    def find_spec(self, name, path, target=None):
        if name not in _CHANGED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader = _Loader(spec.loader, *_CHANGED[name])
        return spec


def _rename_system():
    before, sys.platform = sys.platform, SYSTEM

    def undo():
        sys.platform = before

    return undo


def _hide_locks():
    if SYSTEM != "win32":
        return _nothing
    before = sys.modules.get("fcntl")
    sys.modules["fcntl"] = None  # type: ignore[assignment]

    def undo():
        del sys.modules["fcntl"]
        if before is not None:
            sys.modules["fcntl"] = before

    return undo


def _nothing(_module=None):
    return None


def _replace_windows_functions(module):
    if SYSTEM == "win32":
        module.machine_nbytes = lambda: _MEMORY_NBYTES


_CHANGED = {
    "gluonish.core.operating_system": (_rename_system, _replace_windows_functions),
    "gluonish.core.files": (_hide_locks, _nothing),
}


def _is_hidden(path):
    return isinstance(path, str | bytes) and os.fsdecode(path).startswith(_HIDDEN_FOLDERS)


def _refuse(event, arguments):
    """Raise the error that the other system would raise."""
    if event in ("open", "os.listdir", "os.scandir"):
        if _is_hidden(arguments[0]):
            raise FileNotFoundError(2, "No such file or directory", arguments[0])
    elif event in ("os.fork", "os.forkpty"):
        raise OSError(f"expected no fork on {SYSTEM}")
    elif event == "ctypes.dlopen" and any(one in str(arguments[0]) for one in _HIDDEN_LIBRARIES):
        raise OSError(f"{arguments[0]}: there is no such library on {SYSTEM}")


def _connected_pair(*_):
    """Do what `socket.socketpair` does on Windows."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        left = socket.create_connection(server.getsockname())
        right = server.accept()[0]
    for end in (left, right):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return left, right


def _emulate():
    missing = [_ON_LINUX_ONLY, _ON_POSIX_ONLY] if SYSTEM == "win32" else [_ON_LINUX_ONLY]
    if SYSTEM == "win32":
        socket.socketpair = _connected_pair
    if SYSTEM == "darwin" and sys.version_info < (3, 13):
        missing.append({os: ("waitid",)})
    for modules in missing:
        for module, names in modules.items():
            for name in names:
                if hasattr(module, name):
                    delattr(module, name)
    sys.meta_path.insert(0, _Finder())
    sys.addaudithook(_refuse)


if SYSTEM:
    _emulate()
