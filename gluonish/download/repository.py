"""The repository of published files that ``MXNET_GLUON_REPO`` names."""

import logging
from pathlib import Path
from urllib.parse import urlsplit

from gluonish.core.config import MXNET_GLUON_REPO
from gluonish.download.checked_file import check_sha1

__all__ = ["is_published", "published_url"]

_LOG = logging.getLogger("gluonish")


def published_url(path: str) -> str:
    """Return where a published file is: a URL, or a path where the repository is a folder.

    Args:
        path: The file in the repository, such as ``gluon/models/x.zip``.
    """
    base = MXNET_GLUON_REPO.value
    if urlsplit(base).scheme.lower() in ("http", "https", "file"):
        return base.rstrip("/") + "/" + path
    return str(Path(base).expanduser() / path)


def is_published(target: Path, sha1: str) -> bool:
    """Return whether a file is there and is the published one; another is told in the log.

    Args:
        target: The file.
        sha1: SHA-1 of the published one.
    """
    if not target.is_file():
        return False
    if check_sha1(target, sha1):
        return True
    _LOG.warning("%s is not what was published; fetching it again", target)
    return False
