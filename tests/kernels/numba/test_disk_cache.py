from pathlib import Path

import pytest

from gluonish.core.config import MXNET_HOME
from gluonish.kernels.numba import disk_cache

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> object:
    with MXNET_HOME.override(str(tmp_path)):
        yield


def test_what_is_kept_is_found() -> None:
    disk_cache.keep(KEY, b"code")
    assert disk_cache.find(KEY) == b"code"


def test_another_key_finds_nothing() -> None:
    disk_cache.keep(KEY, b"code")
    assert disk_cache.find(KEY[::-1]) is None


def test_a_renamed_file_is_not_taken() -> None:
    disk_cache.keep(KEY, b"code")
    disk_cache.path_of(KEY).rename(disk_cache.path_of(KEY[::-1]))
    assert disk_cache.find(KEY[::-1]) is None


@pytest.mark.parametrize("place", [0, 20, 60, -1])
def test_a_changed_byte_is_seen(place: int) -> None:
    disk_cache.keep(KEY, b"code" * 10)
    path = disk_cache.path_of(KEY)
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    assert disk_cache.find(KEY) is None


def test_a_file_that_others_may_write_is_not_taken() -> None:
    disk_cache.keep(KEY, b"code")
    disk_cache.path_of(KEY).chmod(0o620)
    assert disk_cache.find(KEY) is None


def test_the_folder_is_the_users_own() -> None:
    disk_cache.keep(KEY, b"code")
    assert disk_cache.path_of(KEY).parent.stat().st_mode & 0o777 == 0o700
