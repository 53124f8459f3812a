"""The repository of published files at ``MXNET_GLUON_REPO``."""

import logging
from pathlib import Path
from urllib.parse import urlsplit

from gluonish.core.config import MXNET_GLUON_REPO
from gluonish.gluon.download.checked_file import check_sha1

_LOG = logging.getLogger("gluonish")


def published_url(path: str) -> str:
    """Return the URL of a file of the model repository, or its path if the repository is local.

    Args:
        path: Path of the file in the repository, such as ``gluon/models/x.zip``.
    """
    base = MXNET_GLUON_REPO.value
    if urlsplit(base).scheme.lower() in ("http", "https", "file"):
        return base.rstrip("/") + "/" + path
    return str(Path(base).expanduser() / path)


def is_published(target: Path, sha1: str) -> bool:
    """Whether a file exists and has the published SHA-1; a different file is logged.

    Args:
        target: Path of the file.
        sha1: The published SHA-1, in hexadecimal digits.
    """
    if not target.is_file():
        return False
    if check_sha1(target, sha1):
        return True
    _LOG.warning("%s does not have the published SHA-1; downloading it again", target)
    return False
