import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_HOME
from gluonish.kernels.compiler import disk_cache

KEY = bytes(range(32))


as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> object:
    disk_cache._reported.clear()
    with MXNET_HOME.override(str(tmp_path)):
        yield


def test_what_is_kept_is_found() -> None:
    disk_cache.save(KEY, b"code")
    assert disk_cache.find(KEY) == b"code"


def test_another_key_finds_nothing() -> None:
    disk_cache.save(KEY, b"code")
    assert disk_cache.find(KEY[::-1]) is None


def test_a_renamed_file_is_not_taken() -> None:
    disk_cache.save(KEY, b"code")
    disk_cache.path_of(KEY).rename(disk_cache.path_of(KEY[::-1]))
    assert disk_cache.find(KEY[::-1]) is None


@pytest.mark.parametrize("place", [0, 20, 60, -1])
def test_a_changed_byte_is_seen(place: int) -> None:
    disk_cache.save(KEY, b"code" * 10)
    path = disk_cache.path_of(KEY)
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    assert disk_cache.find(KEY) is None


def test_a_file_that_others_may_write_is_not_taken() -> None:
    disk_cache.save(KEY, b"code")
    disk_cache.path_of(KEY).chmod(0o620)
    assert disk_cache.find(KEY) is None


def test_the_folder_is_the_users_own() -> None:
    disk_cache.save(KEY, b"code")
    assert disk_cache.path_of(KEY).parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_nothing_is_taken_from_a_folder_that_others_may_write(mode: int, caplog) -> None:
    disk_cache.save(KEY, b"code")
    disk_cache.path_of(KEY).parent.chmod(mode)
    assert disk_cache.find(KEY) is None
    assert disk_cache.find(KEY) is None
    assert caplog.text.count("nobody else can write to; no compiled kernel is read") == 1


def test_nothing_is_kept_in_a_folder_that_others_may_write() -> None:
    folder = disk_cache.path_of(KEY).parent
    folder.mkdir()
    folder.chmod(0o777)
    disk_cache.save(KEY, b"code")
    assert list(folder.iterdir()) == []


@as_root
def test_nothing_is_taken_from_or_kept_in_a_folder_of_another_user() -> None:
    disk_cache.save(KEY, b"code")
    os.chown(disk_cache.path_of(KEY).parent, 12345, 12345)
    assert disk_cache.find(KEY) is None
    disk_cache.save(KEY[::-1], b"code")
    assert not disk_cache.path_of(KEY[::-1]).exists()


@as_root
def test_a_file_of_another_user_is_not_taken() -> None:
    disk_cache.save(KEY, b"code")
    os.chown(disk_cache.path_of(KEY), 12345, 12345)
    assert disk_cache.find(KEY) is None


@as_root
def test_another_user_does_not_take_a_kernel_of_root() -> None:
    """Root's folder is safe in itself, but a user who trusts it would trust every other too."""
    with tempfile.TemporaryDirectory() as home, MXNET_HOME.override(home):
        disk_cache.save(KEY, b"code")
        for folder in (Path(home), disk_cache.path_of(KEY).parent):
            folder.chmod(0o755)
        disk_cache.path_of(KEY).chmod(0o644)
        assert found_by_another_user(home) == "b'gluonish' None\n"


@as_root
def test_another_user_compiles_where_roots_folder_is_closed_to_him() -> None:
    with tempfile.TemporaryDirectory() as home, MXNET_HOME.override(home):
        Path(home).chmod(0o755)
        disk_cache.save(KEY, b"code")
        pid = os.fork()
        if pid == 0:
            os.setgid(12345)
            os.setuid(12345)
            disk_cache.save(KEY, b"his code")
            found = (disk_cache.is_saved(KEY), disk_cache.find(KEY))
            os._exit(0 if found == (False, None) else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert disk_cache.find(KEY) == b"code"


def found_by_another_user(home: str) -> str:
    """Return the first bytes of the kept file as another user reads them, and what is found."""
    program = (
        "import os, sys\n"
        "from gluonish.kernels.compiler import disk_cache\n"
        "os.setgid(12345), os.setuid(12345)\n"
        f"print(disk_cache.path_of({KEY!r}).read_bytes()[:8], disk_cache.find({KEY!r}))\n"
    )
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root), str(root / "engine")])
    environment = os.environ | {"PYTHONPATH": paths, "MXNET_HOME": home}
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return result.stdout


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    disk_cache.save(KEY, b"code")
    folder = disk_cache.path_of(KEY).parent
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert disk_cache.find(KEY) is None


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    disk_cache.save(KEY, b"code")
    path = disk_cache.path_of(KEY)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert disk_cache.find(KEY) is None


def test_a_umask_that_lets_the_group_write_does_not_turn_it_off() -> None:
    former = os.umask(0o002)
    try:
        disk_cache.save(KEY, b"code")
    finally:
        os.umask(former)
    assert disk_cache.find(KEY) == b"code"


def test_the_oldest_files_go_when_a_folder_is_too_large() -> None:
    keys = [bytes([i]) * 32 for i in range(8)]
    for age, key in enumerate(keys):
        disk_cache.save(key, b"code" * 100)
        os.utime(disk_cache.path_of(key), (1e9 - age, 1e9 - age))
    folder = disk_cache.path_of(KEY).parent
    nbytes = disk_cache.path_of(keys[0]).stat().st_size
    disk_cache.bound(folder, 8 * nbytes)
    assert all(map(disk_cache.is_saved, keys))
    disk_cache.bound(folder, 6 * nbytes)
    assert [disk_cache.is_saved(key) for key in keys] == [True] * 3 + [False] * 5


def test_a_file_that_is_used_stays() -> None:
    disk_cache.save(KEY, b"code")
    path = disk_cache.path_of(KEY)
    os.utime(path, (1e9, 1e9))
    disk_cache.find(KEY)
    assert path.stat().st_mtime > 1.5e9


def test_a_folder_is_bounded_by_saves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "MAX_NBYTES", 20_000)
    monkeypatch.setattr(disk_cache, "_SAVES_PER_CLEANING", 4)
    for i in range(60):
        disk_cache.save(bytes([i]) * 32, b"code" * 500)
        files = [*disk_cache.path_of(KEY).parent.iterdir()]
        assert sum(path.stat().st_size for path in files) < 20_000 + 4 * 2200


WRITER = """
import sys
from gluonish.kernels.compiler import disk_cache
keys = [bytes([i]) * 32 for i in range(20)]
sys.stdin.readline()
wrong = 0
for _ in range(20):
    for key in keys:
        disk_cache.save(key, key * 300)
        wrong += disk_cache.find(key) not in (key * 300, None)
        wrong += disk_cache.find(key) is None
print(wrong)
"""


def test_processes_that_write_the_same_files_at_once_find_them_whole(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root), str(root / "engine")])
    environment = os.environ | {"PYTHONPATH": paths, "MXNET_HOME": str(tmp_path)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=120)[0] for writer in writers] == ["0\n"] * 3
    assert {path.suffix for path in (tmp_path / "kernels").iterdir()} == {".bin"}
