"""Save everything to a small disk that is full, or read-only; print what went wrong as JSON.

Run by ``test_full_disk.py`` in a mount namespace of its own: the disk goes with the process.
"""

import json
import subprocess
import sys
from pathlib import Path

from gluonish.core.errors import GluonishError
from tests.attack.disks import fill
from tests.attack.savers import SAVERS, STREAMING, TOGETHER, Saver

SMALL, LARGE = 4, 1500
# How many bytes are free when the large files are written.
FREE = (0, 4096, 40_000, 200_000)


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.name != "fill"}


def refused(saver: Saver, folder: Path) -> str:
    """Return what is wrong with how a saver fails, or nothing."""
    try:
        saver(folder, LARGE)
    except (GluonishError, OSError) as error:
        named = any(name in str(error) for name in (str(folder), *contents(folder)))
        return "" if named else f"an error that names no file: {error!r}"
    except Exception as error:  # all others are what the attack looks for
        return f"another error: {error!r}"
    return "no error"


def attack(name: str, saver: Saver, folder: Path, *, whole: bool) -> list[str]:
    """Fail a saver by all kinds of full disk, and by a read-only one."""
    saver(folder, SMALL)
    before = contents(folder)
    problems = []
    for free in (*FREE, None):
        if free is None:
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        else:
            fill(folder, free)
        problem = refused(saver, folder)
        if problem == "no error" and free:  # its files are that small
            problem = ""
            if whole:
                before = contents(folder)
        if list(folder.glob(".*")):
            problem = f"left {list(folder.glob('.*'))}"
        after = contents(folder)
        if whole and any(
            len(content) not in sizes(before, after, n) for n, content in after.items()
        ):
            problem = "a part of a file"
        elif name in TOGETHER and after != before:
            problem = "a part of the files"
        if problem:
            problems.append(f"{name}, {free} bytes free: {problem}")
        if free is None:
            subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
        else:
            (folder / "fill").unlink()
            saver(folder, SMALL)
            before = contents(folder)
    try:
        saver(folder, LARGE)
    except Exception as error:
        problems.append(f"{name} does not go on: {error!r}")
    for path in folder.iterdir():
        path.unlink()
    return problems


def sizes(before: dict[str, bytes], after: dict[str, bytes], name: str) -> set[int]:
    return {len(before[name])} if before.get(name) == after[name] else WHOLE[name]


WHOLE: dict[str, set[int]] = {}


def main(folder: Path) -> None:
    problems, tried = [], 0
    for name, saver in {**SAVERS, **STREAMING}.items():
        saver(folder, LARGE)
        WHOLE.clear()
        WHOLE.update({n: {len(content)} for n, content in contents(folder).items()})
        for path in folder.iterdir():
            path.unlink()
        problems += attack(name, saver, folder, whole=name in SAVERS)
        tried += len(FREE) + 1
    sys.stdout.write(json.dumps({"problems": problems, "tried": tried}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
