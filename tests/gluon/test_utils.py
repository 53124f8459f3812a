from pathlib import Path

import pytest

from gluonish.core.errors import DownloadError
from gluonish.gluon import utils


def test_file_takes_the_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("1")
    (tmp_path / "old").write_text("2")
    utils.replace_file(tmp_path / "new", tmp_path / "old")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "1")]


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"replace_file: expected to move .*nope"):
        utils.replace_file(tmp_path / "nope", tmp_path / "old")


def test_every_name_is_there() -> None:
    assert all(hasattr(utils, name) for name in utils.__all__)
