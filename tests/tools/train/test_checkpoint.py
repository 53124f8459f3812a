"""Checkpoints: complete or not there, whatever moment the process ended at."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.core.files import atomic_write
from gluonish.tools.train.checkpoint import Checkpoints, Record


class Killed(BaseException):
    """Stands for SIGKILL: nothing that runs afterwards may touch the disk."""


def entry(epoch: int) -> dict[str, Any]:
    return {"epoch": epoch, "lr": 0.1, "training": {"loss": 1 / epoch}, "validation": {}}


def record(epoch: int) -> Record:
    return Record(epoch, {"lr": 0.1}, [entry(i + 1) for i in range(epoch)])


def save(checkpoints: Checkpoints, epoch: int, content: bytes) -> None:
    def write(number: int) -> None:
        for path in (checkpoints.params_path(number), checkpoints.states_path(number)):
            with atomic_write(path) as file:
                file.write(path.suffix.encode() + content)

    checkpoints.save(record(epoch), write)


def test_what_was_saved_is_read(tmp_path: Path) -> None:
    checkpoints = Checkpoints(str(tmp_path / "new" / "net"))
    save(checkpoints, 1, b"a")
    save(checkpoints, 2, b"b")
    assert checkpoints.newest() == 2
    assert checkpoints.read(2) == record(2)
    assert checkpoints.read(1) == record(1)


def test_nothing_is_newest_before_the_first(tmp_path: Path) -> None:
    assert Checkpoints(str(tmp_path / "net")).newest() is None


def test_saving_an_epoch_supersedes_later_ones(tmp_path: Path) -> None:
    checkpoints = Checkpoints(str(tmp_path / "net"))
    for epoch in (1, 2, 3):
        save(checkpoints, epoch, b"a")
    save(checkpoints, 2, b"b")
    assert checkpoints.newest() == 2


def test_a_kill_at_any_operation_leaves_a_complete_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epoch 2 is there, and now saved again with other content: before, between and after."""
    seen = set()
    for after in range(200):
        checkpoints = Checkpoints(str(tmp_path / f"{after}" / "net"))
        save(checkpoints, 1, b"old")
        save(checkpoints, 2, b"old")
        calls = 0

        def counted(operation: Any, limit: int = after) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal calls
                if calls >= limit:
                    raise Killed
                calls += 1
                return operation(*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            for name in ("fsync", "open", "replace", "unlink"):
                patch.setattr(os, name, counted(getattr(os, name)))
            try:
                save(checkpoints, 2, b"new")
            except Killed:
                killed = True
            else:
                killed = False
        newest = checkpoints.newest()
        assert newest in (1, 2)
        checkpoints.read(newest)
        stored = checkpoints.params_path(newest).read_bytes()
        assert stored in ((b".paramsold",) if newest == 1 else (b".paramsold", b".paramsnew"))
        seen.add((newest, stored))
        with checkpoints.held():
            assert not list(checkpoints.prefix.parent.glob(".*.tmp"))
        if not killed:
            break
    else:
        pytest.fail("saving has no end")
    assert seen == {(2, b".paramsold"), (1, b".paramsold"), (2, b".paramsnew")}


@pytest.mark.parametrize("ending", [".params", ".states"])
def test_a_checkpoint_with_another_file_is_not_complete(tmp_path: Path, ending: str) -> None:
    checkpoints = Checkpoints(str(tmp_path / "net"))
    save(checkpoints, 1, b"a")
    save(checkpoints, 2, b"a")
    (tmp_path / f"net-0002{ending}").write_bytes(b"another")
    assert checkpoints.newest() == 1
    with pytest.raises(FileFormatError, match=rf"net-0002\{ending}.*got another file"):
        checkpoints.read(2)
    (tmp_path / f"net-0002{ending}").unlink()
    assert checkpoints.newest() == 1
    with pytest.raises(MissingFileError, match=rf"net-0002\{ending}"):
        checkpoints.read(2)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "1", '{"format": 2}', "[" * 100_000, '{"format": 1, "epoch": 1, "files": 3}'],
    ids=["empty", "list", "cut", "number", "other-format", "deep", "no-files"],
)
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    checkpoints = Checkpoints(str(tmp_path / "net"))
    save(checkpoints, 1, b"a")
    (tmp_path / "net-0001.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"net-0001\.json"):
        checkpoints.read(1)
    assert checkpoints.newest() is None


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": 2},
        {"options": []},
        {"history": [1]},
        {"history": [entry(1), entry(2)]},
        {"files": {"/etc/passwd": {"nbytes": 1, "sha256": ""}}},
    ],
    ids=["epoch", "options", "history", "longer-history", "files"],
)
def test_a_record_with_other_content_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    checkpoints = Checkpoints(str(tmp_path / "net"))
    save(checkpoints, 1, b"a")
    path = tmp_path / "net-0001.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FileFormatError, match="expected"):
        checkpoints.read(1)


def test_two_trainings_cannot_write_to_one_prefix(tmp_path: Path) -> None:
    prefix = str(tmp_path / "net")
    with (
        Checkpoints(prefix).held(),
        pytest.raises(ArgumentError, match="no other training writes to, got"),
        Checkpoints(prefix).held(),
    ):
        pass
    with Checkpoints(prefix).held():
        pass


def test_files_of_others_stay(tmp_path: Path) -> None:
    others = [tmp_path / ".other-0001.params.0123456789abcdef.tmp", tmp_path / ".net-mine.tmp"]
    for path in others:
        path.write_bytes(b"")
    ours = tmp_path / ".net-0001.params.0123456789abcdef.gluonish.tmp"
    ours.write_bytes(b"")
    with Checkpoints(str(tmp_path / "net")).held():
        assert all(path.exists() for path in others)
        assert not ours.exists()


def test_a_prefix_without_a_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match="--model-prefix: expected the beginning of a name"):
        Checkpoints("")
