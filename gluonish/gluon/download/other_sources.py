"""Files from other sources than MXNet's repository, if that does not serve them."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from gluonish.core.config import MXNET_GLUON_OTHER_SOURCES
from gluonish.core.errors import DownloadError, GluonishError
from gluonish.gluon.download.checked_file import obtain

_LOG = logging.getLogger("gluonish")
_OFF = "MXNET_GLUON_OTHER_SOURCES=0 leaves it at MXNet's repository"


class OtherSource(NamedTuple):
    """A place where a file can be downloaded.

    Attributes:
        name: Who publishes it.
        url: URL of the file.
        sha256: First digits of its SHA-256; empty if the content is checked otherwise.
    """

    name: str
    url: str
    sha256: str = ""


def obtain_elsewhere(
    what: str,
    sources: Sequence[OtherSource],
    target: Path,
    error: DownloadError,
    accept: Callable[[Path], object],
    max_nbytes: int,
) -> OtherSource:
    """Download a file that MXNet's repository did not serve from the first source that does.

    Args:
        what: The file, for messages.
        sources: The sources, in order.
        target: Path of the file, beside which it is downloaded; the caller owns its lock.
        error: The error of MXNet's repository.
        accept: Checks and uses the downloaded file, which is deleted then, unless it was renamed;
            raises an error if the content is wrong.
        max_nbytes: Maximum size in bytes.

    Returns:
        The source that served the file.

    Raises:
        DownloadError: There is no other source, or ``MXNET_GLUON_OTHER_SOURCES`` is 0, or all
            failed; the message begins with that of ``error``.
    """
    if not sources or not MXNET_GLUON_OTHER_SOURCES.value:
        raise error
    problems = []
    for source in sources:
        _LOG.warning("download: no %s from MXNet's repository; trying %s", what, source.url)
        part: Path | None = None
        try:
            part = obtain(source.url, target, max_nbytes=max_nbytes)
            _check_sha256(part, source)
            accept(part)
            return source
        except GluonishError as problem:
            problems.append(f"{source.name}: {problem}")
        finally:
            if part is not None:
                part.unlink(missing_ok=True)
    raise DownloadError(f"{error}; other sources failed, too: {'; '.join(problems)}") from error


def tell_source(what: str, source: OtherSource, difference: str) -> None:
    """Log a warning that another source served a file.

    Args:
        what: The file.
        source: The source.
        difference: How its content differs from that of MXNet's repository.
    """
    _LOG.warning("%s is from %s (%s): %s; %s", what, source.name, source.url, difference, _OFF)


def _check_sha256(path: Path, source: OtherSource) -> None:
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if not got.startswith(source.sha256):
        raise DownloadError(
            f"download: expected {source.url} to have a SHA-256 that begins with {source.sha256}, "
            f"got {got}"
        )
