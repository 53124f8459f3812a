"""Pretrained weights: found in ``MXNET_HOME``, or fetched from the gluon repository and checked.

The repository holds ``gluon/models/{name}-{short hash}.zip`` with one `.params` file inside. The
published SHA-1 is that of the `.params` file, so a file that MXNet left in the same folder serves
as it is.
"""

import hashlib
import logging
import os
import re
import stat
import zipfile
import zlib
from pathlib import Path
from urllib.parse import urlsplit

from gluonish.core.config import MXNET_GLUON_REPO, MXNET_HOME
from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.core.files import atomic_write
from gluonish.download import check_sha1, disk_full_error, exclusive, obtain
from gluonish.model_zoo.weight_hashes import WEIGHT_HASHES

__all__ = ["get_model_file", "purge", "short_hash"]

_LOG = logging.getLogger("gluonish")
_SHORT_LENGTH = 8
# The largest published file has 575 MB.
_MAX_MEMBER_NBYTES = 2 << 30
_CHUNK_NBYTES = 1 << 20
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class _WrongContentError(Exception):
    """What was fetched is not what was published."""


def short_hash(name: str) -> str:
    """Return the first eight digits of the SHA-1 of a model's weights.

    Raises:
        ArgumentError: No weights of that name were published.
    """
    if name not in WEIGHT_HASHES:
        raise ArgumentError(
            f"short_hash: expected one of {', '.join(WEIGHT_HASHES)}, got {name!r};"
            f" pretrained model for {name} is not available"
        )
    return WEIGHT_HASHES[name][:_SHORT_LENGTH]


def get_model_file(name: str, root: str | os.PathLike[str] | None = None) -> str:
    """Return the path of a model's weights, fetched where they are missing or damaged.

    Args:
        name: Model name, such as ``resnet50_v1``.
        root: Folder of the weights, made if it is missing; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
        DownloadError: They cannot be fetched, are not what was published, or do not fit on the
            disk.
    """
    file_name = f"{name}-{short_hash(name)}"
    target = _folder(root) / f"{file_name}.params"
    if _is_valid(target, name):
        return str(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(target):
        # Another process may have made it while this one waited.
        if not _is_valid(target, name):
            _fetch_weights(name, target)
    return str(target)


def purge(root: str | os.PathLike[str] | None = None) -> None:
    """Remove all weights, and what unfinished downloads left, from the folder of the weights.

    Args:
        root: The folder; ``$MXNET_HOME/models`` by default.
    """
    folder = _folder(root)
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_file() and (path.suffix == ".params" or _is_leftover(path.name)):
            path.unlink(missing_ok=True)


def _folder(root: str | os.PathLike[str] | None) -> Path:
    return Path(MXNET_HOME.value) / "models" if root is None else Path(root).expanduser()


def _is_leftover(file_name: str) -> bool:
    match = re.fullmatch(r"(.+)-([0-9a-f]{8})\.zip\.part(\.json)?", file_name)
    return match is not None and WEIGHT_HASHES.get(match[1], "").startswith(match[2])


def _is_valid(target: Path, name: str) -> bool:
    if not target.is_file():
        return False
    if check_sha1(target, WEIGHT_HASHES[name]):
        return True
    _LOG.warning("get_model_file: %s is not what was published; fetching it again", target)
    return False


def _fetch_weights(name: str, target: Path) -> None:
    archive_name = f"{target.stem}.zip"
    url = _address(f"gluon/models/{archive_name}")
    advice = (
        f"without a network put {target.name} with the SHA-1 {WEIGHT_HASHES[name]} into"
        f" {target.parent}, or set MXNET_GLUON_REPO to a mirror or to a folder that has"
        f" gluon/models/{archive_name}"
    )
    problem = ""
    # A wrong content may come from a part that an earlier attempt left: once more from the start.
    for _ in range(2):
        part = obtain(url, target.with_name(archive_name), advice=advice)
        try:
            _extract(part, target, WEIGHT_HASHES[name])
            return
        except _WrongContentError as error:
            problem = str(error)
        finally:
            part.unlink(missing_ok=True)
    raise DownloadError(f"get_model_file: {url}: {problem}; {advice}")


def _address(path: str) -> str:
    base = MXNET_GLUON_REPO.value
    if urlsplit(base).scheme.lower() in ("http", "https", "file"):
        return base.rstrip("/") + "/" + path
    return str(Path(base).expanduser() / path)


def _extract(archive_path: Path, target: Path, sha1: str) -> None:
    """Take the one expected member out of the archive and check it before it gets its name."""
    try:
        with zipfile.ZipFile(archive_path) as archive:
            for info in archive.infolist():
                _check_member(info, archive_path)
            _write_member(archive, target, sha1)
    except _BROKEN_ZIP as error:
        raise _WrongContentError(f"expected a zip archive, got {error}") from error
    except OSError as error:
        full = disk_full_error(error, target)
        if full is None:
            raise
        raise full from error


def _write_member(archive: zipfile.ZipFile, target: Path, sha1: str) -> None:
    if target.name not in archive.namelist():
        raise _WrongContentError(f"expected {target.name} inside, got {archive.namelist()!r:.200}")
    digest = hashlib.sha1(usedforsecurity=False)
    with archive.open(target.name) as member, atomic_write(target) as file:
        while chunk := member.read(_CHUNK_NBYTES):
            digest.update(chunk)
            file.write(chunk)
        if digest.hexdigest() != sha1:
            raise _WrongContentError(f"expected the SHA-1 {sha1}, got {digest.hexdigest()}")


def _check_member(info: zipfile.ZipInfo, archive_path: Path) -> None:
    """Refuse an archive with a member that could leave its folder, be a link, or fill the disk.

    Only one member is ever taken, but an archive with such members is not the published one.
    """
    name = info.orig_filename.replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if name.startswith("/") or ".." in name.split("/") or ":" in name:
        got = f"{info.orig_filename!r}, which leaves its folder"
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        got = f"{info.orig_filename!r}, which is a link or a device"
    elif info.file_size > _MAX_MEMBER_NBYTES:
        got = f"{info.orig_filename!r} of {info.file_size} bytes"
    else:
        return
    raise DownloadError(f"get_model_file: expected plain members in {archive_path.name}, got {got}")
