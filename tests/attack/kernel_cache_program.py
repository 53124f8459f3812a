"""The folder of compiled kernels on a full disk, and with another user: prints what went wrong.

    python -m tests.attack.kernel_cache_program disk|users FOLDER

`test_kernel_cache.py` runs it; ``disk`` in a mount namespace of its own, as it fills one. A kernel
must be compiled and right whatever the folder does, and what is found there must be this user's.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_HOME
from gluonish.kernels.compiler import compile as compiler
from gluonish.kernels.compiler import compile_kernel, disk_cache, is_compiled
from tests.attack.disks import fill
from tests.attack.processes import forked

OTHER = 54321
FREE = (0, 1, 4096, 6000, 8192, 12_288, 16_384, 40_000)
SOURCE = """
def body(begin, end, words):
    x = f32(words[0])
    for i in range(begin, end):
        x[i] = x[i] * float32({factor})
"""


def wrong_result(factor: int) -> str:
    """Compile a kernel, or take it from the folder, and run it; return what is wrong."""
    compiler._kernels.clear()
    x = np.arange(64, dtype=np.float32)
    source = SOURCE.format(factor=factor)
    try:
        is_compiled(source)
        compile_kernel(source)(x.size, np.array([x.ctypes.data], np.int64))
    except BaseException as error:
        return f"raised {error!r}"
    return "" if (x == np.arange(64) * factor).all() else "wrong numbers"


def kept() -> list[str]:
    """Return the names of the kept kernels, and of what else is in their folder."""
    folder = Path(MXNET_HOME.value) / "kernels"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def is_complete(name: str) -> bool:
    key = bytes.fromhex(name.removesuffix(".bin"))
    return disk_cache.find(key) is not None


def after(what: str, factor: int) -> list[str]:
    """Use a kernel, and return what is wrong with it and the folder."""
    problems = [wrong_result(factor)]
    for name in kept():
        if not name.endswith(".bin"):
            problems.append(f"left {name}")
        elif not is_complete(name):
            problems.append(f"a part of a kernel: {name}")
    return [f"{what}: {problem}" for problem in problems if problem]


def on_a_full_disk(disk: Path) -> tuple[int, list[str]]:
    """Fill a disk to some bytes, let files be short only, take its inodes, make it read-only."""
    problems, tried = [], 0
    for folder_is_there in (False, True):
        for free in FREE:
            home = disk / f"home-{folder_is_there}-{free}"
            MXNET_HOME_scope(home)
            if folder_is_there:
                problems += after("an empty disk", 2)
            fill(disk, free)
            tried += 1
            problems += after(f"{free} bytes free", 3)
            (disk / "fill").unlink()
            problems += after("a disk that is free again", 3)
            if not kept():
                problems.append("nothing is kept on a disk that is free again")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (0, 1, 100, 4096):
        MXNET_HOME_scope(disk / f"limited-{most}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        tried += 1
        problems += after(f"files of at most {most} bytes", 4)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    MXNET_HOME_scope(disk / "read-only")
    problems += after("an empty disk", 5)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for factor in (5, 6):
        tried += 1
        problems += after("a read-only disk", factor)
    return tried, problems


_scopes: list[Any] = []


def MXNET_HOME_scope(home: Path) -> None:  # it is the variable's name
    """Have the files of a user elsewhere."""
    scope = MXNET_HOME.override(str(home))
    scope.__enter__()
    _scopes.append(scope)
    disk_cache._reported.clear()


def as_other(run: Callable[[], list[str]]) -> list[str]:
    """Return what a function says in a process of another user."""

    def become_and_run() -> list[str]:
        os.setgroups([])
        os.setgid(OTHER)
        os.setuid(OTHER)
        return run()

    said, status = forked(become_and_run)
    return [f"it ended with {status}"] if status else said


def digest(factor: int) -> bytes:
    return compiler._digest((SOURCE.format(factor=factor), *sorted(compiler._FASTMATH)))


def planted(path: Path) -> None:
    """Put a file where a kernel is kept, whole but of other code."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    key = bytes.fromhex(path.stem)
    with MXNET_HOME.override(str(path.parents[1])):
        disk_cache.save(key, b"not our code")


def of_two_users(folder: Path) -> tuple[int, list[str]]:
    """Let a user and root use one folder, in turns and with each other's files in it."""
    problems, tried = [], 0
    for first in ("root", "other"):
        for mode in (0o700, 0o755, 0o775, 0o777, 0o1777):
            home = folder / f"{first}-{mode:o}"
            home.mkdir()
            if first == "other":
                os.chown(home, OTHER, OTHER)
            home.chmod(mode)
            MXNET_HOME_scope(home)
            what = f"{first} first, a home of mode {mode:o}"
            for turn in (0, 1):
                if (turn == 0) == (first == "root"):
                    problems += [f"root: {one}" for one in own_or_nothing(what)]
                else:
                    problems += [
                        f"other: {one}" for one in as_other(lambda what=what: own_or_nothing(what))
                    ]
                tried += 1
    for owner in (OTHER, 0):
        for part in ("file", "folder", "link to a folder", "link to a file"):
            home = folder / f"planted-{owner}-{part.replace(' ', '-')}"
            home.mkdir()
            home.chmod(0o777)
            tried += 1
            problems += with_planted(home, owner, part)
    return tried, problems


def own_or_nothing(what: str) -> list[str]:
    """Use kernels in a folder that may be another user's."""
    problems = [f"{what}: {one}" for one in (wrong_result(7), wrong_result(7)) if one]
    found = disk_cache.find(digest(7)) is not None
    path = disk_cache.path_of(digest(7))
    if found and path.stat().st_uid != os.geteuid():
        problems.append(f"{what}: took another user's kernel")
    return problems


def with_planted(home: Path, owner: int, part: str) -> list[str]:
    """Put a kernel of one user where the other looks for his."""
    user: Callable[[Callable[[], list[str]]], list[str]] = as_other if owner == 0 else _here
    path = home / "kernels" / f"{digest(8).hex()}.bin"
    planted(path)
    real = path
    if "link" in part:
        real = path.parent.rename(home / "elsewhere") / path.name
    for made in (real, real.parent):
        os.chown(made, owner, owner)
    if part == "file":  # in a folder of who uses it
        os.chown(path.parent, OTHER if owner == 0 else 0, -1)
    elif part == "link to a folder":
        path.parent.symlink_to(real.parent)
    elif part == "link to a file":
        path.parent.mkdir(mode=0o700)
        path.symlink_to(real)
        if owner == 0:
            os.chown(path.parent, OTHER, OTHER)
    MXNET_HOME_scope(home)

    def use() -> list[str]:
        problems = [wrong_result(8)]
        if disk_cache.find(digest(8)) == b"not our code":
            problems.append("took what another user has put there")
        return problems

    return [f"a {part} of {owner}: {one}" for one in user(use) if one]


def _here(run: Callable[[], list[str]]) -> list[str]:
    return run()


def main(part: str, folder: Path) -> None:
    MXNET_HOME_scope(folder / "warm")
    assert not wrong_result(9)  # all is imported now
    tried, problems = on_a_full_disk(folder) if part == "disk" else of_two_users(folder)
    sys.stdout.write(json.dumps({"tried": tried, "problems": problems}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
