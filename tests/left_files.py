"""A run of the tests fails if it leaves files in the repository; tests/conftest.py has its hooks.

Files that .gitignore names may come and go. The check needs no git, so it also works in a copy of
the tree without its history. With pytest-xdist the process that starts the others does it.
"""

import os
from fnmatch import fnmatch
from pathlib import Path

import pytest

_FILES = pytest.StashKey[set[str]]()
_LEFT = pytest.StashKey[list[str]]()


def ignored_names(root: Path) -> list[str]:
    """Return the names and patterns in .gitignore, which hold at any depth here."""
    file = root / ".gitignore"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [line.strip("/") for line in lines if line.strip() and not line.startswith("#")]


def files_below(root: Path) -> set[str]:
    """Return the files below a folder, relative to it, without those that are ignored."""
    patterns = [".git", *ignored_names(root)]
    found = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _matches(name, patterns)]
        found |= {
            os.path.relpath(os.path.join(folder, name), root)
            for name in names
            if not _matches(name, patterns)
        }
    return found


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Note which files there are before the first test."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[_FILES] = files_below(session.config.rootpath)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Have a run that passed fail if there are more files than before."""
    before = session.config.stash.get(_FILES, None)
    if before is None:
        return
    left = sorted(files_below(session.config.rootpath) - before)
    session.config.stash[_LEFT] = left
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the files that the run left."""
    for name in config.stash.get(_LEFT, []):
        terminalreporter.write_line(
            f"ERROR: the tests left {name} in the repository; write to tmp_path instead", red=True
        )
