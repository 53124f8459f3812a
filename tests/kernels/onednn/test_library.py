import sys
from pathlib import Path

import pytest

from gluonish.kernels.onednn.api import locate


def test_the_wheels_library_is_found() -> None:
    location = locate()
    assert location.path is not None
    assert Path(location.path).name == "libdnnl.so.3"
    assert location.reason == ""


def test_a_named_file_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.so"
    file.touch()
    assert locate(str(file)).path == str(file)


def test_a_named_file_that_is_missing_is_the_reason(tmp_path: Path) -> None:
    location = locate(str(tmp_path / "gone.so"))
    assert location.path is None
    assert "gone.so" in location.reason


def test_without_the_wheel_the_reason_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "lib/python3.11/site-packages")])
    location = locate()
    assert location.path is None
    assert "pip install onednn-cpu-gomp" in location.reason


def test_a_user_installation_beside_site_packages_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    file = tmp_path / "lib/libdnnl.so.3"
    file.touch()
    monkeypatch.setattr(sys, "path", [str(packages)])
    assert locate().path == str(file)
