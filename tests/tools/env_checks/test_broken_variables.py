"""Checks fail when what they observe stops acting: here it is made to."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from gluonish.gluon.data import worker_handle
from gluonish.kernels.compiler import disk_cache
from gluonish.tools.env_checks import CHECKS, CheckFailedError, files, without_effect


def fails(name: str, message: str) -> None:
    with pytest.raises(CheckFailedError, match=f"^{name}: expected {message}"):
        CHECKS[name]()


def test_a_home_that_is_always_the_same_is_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(disk_cache, "path_of", lambda key, folder: tmp_path / key.hex())
    fails("MXNET_HOME", "one file in each of two homes")


def test_a_repository_that_is_always_the_same_is_found_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "check.txt"
    path.write_text("first")
    monkeypatch.setattr(files, "published_url", lambda name: str(path))
    fails("MXNET_GLUON_REPO", "each folder's file")


@pytest.mark.parametrize("name", ["MXNET_MP_WORKER_NTHREADS", "MXNET_MP_OPENCV_NUM_THREADS"])
def test_workers_that_ignore_their_numbers_are_found_out(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(worker_handle, name, SimpleNamespace(value=1))
    files._threads_of_worker.cache_clear()
    try:
        fails(name, "")
    finally:
        files._threads_of_worker.cache_clear()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["imported", "end"], "one log record about it"),
        (["imported", "TOLD", "TOLD", "end"], "one log record about it"),
        (["TOLD", "imported", "end"], "the record after the import"),
    ],
)
def test_a_log_that_says_it_never_or_twice_is_found_out(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], message: str
) -> None:
    flag = without_effect.flags_without_effect()[0]  # type: ignore[attr-defined]
    told = f"gluonish: {flag.name} is set. {flag.doc}"
    shown = tuple(told if line == "TOLD" else line for line in lines)
    monkeypatch.setattr(without_effect, "_log_with", lambda *, every_one_set: shown)
    fails(flag.name, message)
