"""Makes what the corpus runs in: a folder for each program, and two virtual environments.

They are kept in ``$GLUONISH_CORPUS`` (default ``~/.cache/gluonish-corpus``), and made again when
what they are made of changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.corpus.catalogue import FOR_MXNET, LIBRARIES, Program

CHECKOUT = Path(__file__).parents[2]


def folder() -> Path:
    """Where everything is kept."""
    return Path(os.environ.get("GLUONISH_CORPUS", Path.home() / ".cache" / "gluonish-corpus"))


def _call(*command: str | Path) -> None:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(map(str, command))} ended with status {done.returncode}:\n"
            f"{done.stderr[-3000:]}"
        )


def _kept(path: Path, made_of: str, make: list[list[str | Path]]) -> Path:
    """``path``, made by the commands unless it was made of the same before."""
    stamp = path / "made-of.sha256"
    digest = hashlib.sha256(made_of.encode()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == digest):
        shutil.rmtree(path, ignore_errors=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        for command in make:
            _call(*command)
        stamp.write_text(digest)
    return path


def _environment(name: str, requirements: tuple[str, ...]) -> Path:
    """The Python of a virtual environment that has ``requirements``."""
    path = folder() / name
    python = path / "bin" / "python"
    pip: list[str | Path] = [python, "-m", "pip", "install", "-q"]
    _kept(
        path,
        f"{sys.version} {requirements}",
        [[sys.executable, "-m", "venv", path], [*pip, *requirements]],
    )
    return python


def mxnet_python() -> Path:
    """The Python that has MXNet 1.9.1."""
    pinned = {requirement.split("=")[0].split("<")[0] for requirement in FOR_MXNET}
    others = tuple(one for one in LIBRARIES if one.split("<")[0] not in pinned)
    return _environment("mxnet", (*FOR_MXNET, *others))


def gluonish_python() -> Path:
    """The Python that has this checkout."""
    return _environment("gluonish", ("-e", str(CHECKOUT), *LIBRARIES))


def program_path(program: Program) -> Path:
    """The folder that has the program's packages, without their dependencies."""
    path = folder() / "programs" / program.cases
    install: list[str | Path] = [
        gluonish_python(),
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        path,
    ]
    return _kept(
        path, f"{sys.version_info[:2]} {program.packages}", [[*install, *program.packages]]
    )
