"""Atomic writes: all or nothing, whatever goes wrong."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gluonish.core.errors import NotSupportedError
from gluonish.core.files import atomic_write, local_path, written_together


def test_content_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    with atomic_write(target) as file:
        file.write(b"new")
        assert not target.exists()
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_path_may_be_a_string(tmp_path: Path) -> None:
    with atomic_write(str(tmp_path / "a")) as file:
        file.write(b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_an_error_leaves_the_old_content_and_no_temporary(
    tmp_path: Path, error: type[BaseException]
) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    def fail() -> None:
        with atomic_write(target) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_full_disk_at_fsync_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    target = tmp_path / "a"
    with pytest.raises(OSError, match=r"No space left.*a'"), atomic_write(target) as file:
        file.write(b"x")
    assert list(tmp_path.iterdir()) == []


def test_file_size_limit_leaves_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    program = (
        "import resource, signal, sys\n"
        "from gluonish.core.files import atomic_write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    with atomic_write(sys.argv[1]) as file:\n"
        "        file.write(bytes(100_000))\n"
        "except OSError as error:\n"
        "    sys.exit(7)\n"
    )
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), str(root / "engine")])
    result = subprocess.run(
        [sys.executable, "-c", program, str(target)],
        env=os.environ | {"PYTHONPATH": paths},
        timeout=60,
        check=False,
    )
    assert result.returncode == 7
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_existing_permissions_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(0o640)
    with atomic_write(target) as file:
        file.write(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_written_through(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(real)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_device_is_not_replaced() -> None:
    with atomic_write(os.devnull) as file:
        file.write(b"gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_missing_folder_names_the_target(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match=r"existing folder, got '.*missing/a'"),
        atomic_write(tmp_path / "missing" / "a"),
    ):
        pass


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path / "d") as file:
        file.write(b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["d"]


def test_a_long_name_fits(tmp_path: Path) -> None:
    target = tmp_path / ("я" * 127)
    with atomic_write(target) as file:
        file.write(b"x")
    assert target.read_bytes() == b"x"


@pytest.mark.parametrize("path", ["/a/b", "file:///a/b", Path("/a/b")], ids=str)
def test_a_local_path_has_no_protocol(path: str | Path) -> None:
    assert local_path(path, "X") == "/a/b"


def test_a_path_of_another_protocol_is_refused() -> None:
    with pytest.raises(NotSupportedError, match=r"X: expected a local path, .*no client for s3"):
        local_path("s3://bucket/a", "X")


def write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_files_that_are_written_together_appear_together(tmp_path: Path) -> None:
    with written_together(tmp_path / "graph", tmp_path / "arrays"):
        for name in ("graph", "arrays"):
            write(tmp_path / name, "new")
            assert not (tmp_path / name).exists()
    assert texts(tmp_path) == {"graph": "new", "arrays": "new"}
    write(tmp_path / "graph", "alone")
    assert texts(tmp_path) == {"graph": "alone", "arrays": "new"}


def test_a_scope_in_another_belongs_to_that(tmp_path: Path) -> None:
    with written_together(tmp_path / "a", tmp_path / "b"):
        with written_together(tmp_path / "a"):
            write(tmp_path / "a", "new")
        assert not (tmp_path / "a").exists()
    assert texts(tmp_path) == {"a": "new"}


def test_other_files_are_written_at_once_meanwhile(tmp_path: Path) -> None:
    """A signal's handler may save its own, and read it again, while a model is saved."""
    with written_together(tmp_path / "a", tmp_path / "b"):
        write(tmp_path / "a", "new")
        write(tmp_path / "c", "other")
        with written_together(tmp_path / "d", tmp_path / "e"):
            write(tmp_path / "d", "other")
        assert texts(tmp_path) | {"c": "other", "d": "other"} == texts(tmp_path)
        assert not (tmp_path / "a").exists()
        write(tmp_path / "b", "new")
    assert texts(tmp_path) == {"a": "new", "b": "new", "c": "other", "d": "other"}


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()])
def test_an_error_leaves_all_that_are_written_together(
    tmp_path: Path, error: BaseException
) -> None:
    for name in ("graph", "arrays"):
        write(tmp_path / name, "old")

    def fail() -> None:
        with written_together(tmp_path / "graph", tmp_path / "arrays"):
            write(tmp_path / "graph", "new")
            with atomic_write(tmp_path / "arrays") as file:
                file.write(b"n")
                raise error

    with pytest.raises(type(error)):
        fail()
    assert texts(tmp_path) == {"graph": "old", "arrays": "old"}
    write(tmp_path / "graph", "after")
    assert texts(tmp_path) == {"graph": "after", "arrays": "old"}


# Writes a pair and ends, without anything that tidies up, before the change of a number.
ENDING = """
import os, sys
from pathlib import Path
from gluonish.core.files import atomic_write, written_together

folder, graph, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def watch(event, arguments):
    global left
    if event in ("os.rename", "os.remove") and str(folder) in str(arguments[0]):
        left -= 1
        if left == 0:
            os._exit(9)

sys.addaudithook(watch)
with written_together(folder / "graph", folder / "arrays"):
    for name, text in (("graph", graph), ("arrays", "new")):
        with atomic_write(folder / name) as file:
            file.write(text.encode())
"""


@pytest.mark.parametrize("graph", ["old", "new"])
def test_a_process_that_ends_leaves_no_two_that_do_not_belong_together(
    graph: str, tmp_path: Path
) -> None:
    seen = []
    for at in range(1, 20):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        for name in ("graph", "arrays"):
            write(folder / name, "old")
        program = [sys.executable, "-c", ENDING, str(folder), graph, str(at)]
        code = subprocess.run(program, timeout=60, check=False).returncode
        seen.append(
            tuple(
                (folder / name).read_text() if (folder / name).exists() else None
                for name in ("graph", "arrays")
            )
        )
        if code == 0:
            break
        assert code == 9
    # Where the graph is the same, it is never missing.
    gone = {(None, "old"), (None, "new")} if graph == "new" else {("old", "new")}
    assert set(seen) == {("old", "old"), (graph, "new"), *gone}
