"""Where published files are, and whether one is there."""

import hashlib
import logging
from pathlib import Path

import pytest

from gluonish.core.config import MXNET_GLUON_REPO
from gluonish.gluon.download import is_published, published_url


@pytest.mark.parametrize(
    ("base", "wanted"),
    [
        ("https://a.org", "https://a.org/x/y.zip"),
        ("https://a.org/b/", "https://a.org/b/x/y.zip"),
        ("file:///tmp/c/", "file:///tmp/c/x/y.zip"),
        ("/tmp/c", "/tmp/c/x/y.zip"),
        ("/tmp/c/", "/tmp/c/x/y.zip"),
        ("~/c", str(Path.home() / "c/x/y.zip")),
    ],
)
def test_a_repository_is_an_address_or_a_folder(base: str, wanted: str) -> None:
    with MXNET_GLUON_REPO.override(base):
        assert published_url("x/y.zip") == wanted


def test_only_the_published_content_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.bin"
    digest = hashlib.sha1(b"abc").hexdigest()
    assert not is_published(path, digest)
    path.write_bytes(b"abc")
    assert is_published(path, digest)
    assert not caplog.records
    path.write_bytes(b"abd")
    with caplog.at_level(logging.WARNING, "gluonish"):
        assert not is_published(path, digest)
    assert "does not have the published SHA-1" in caplog.text
