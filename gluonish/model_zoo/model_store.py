"""Pretrained weights: found in ``MXNET_HOME``, or fetched from the gluon repository and checked.

The repository holds ``gluon/models/{name}-{short hash}.zip`` with one `.params` file inside. The
published SHA-1 is that of the `.params` file, so a file that MXNet left in the same folder serves
as it is.
"""

import os
import re
from pathlib import Path

from gluonish.core.config import MXNET_HOME
from gluonish.core.errors import ArgumentError, DownloadError
from gluonish.core.files import path_text
from gluonish.gluon.download import (
    WrongArchiveError,
    exclusive,
    extract_members,
    is_published,
    obtain,
    published_url,
)
from gluonish.model_zoo.weight_hashes import WEIGHT_HASHES

__all__ = ["get_model_file", "models_folder", "purge", "short_hash", "weights_path", "weights_url"]

# Programs add models of their own: `model_store._model_sha1.update(...)`.
_model_sha1 = WEIGHT_HASHES

_SHORT_LENGTH = 8
# Of an archive, and of the file in it: the largest that was published has 575 MB.
_MAX_NBYTES = 2 << 30


def short_hash(name: str) -> str:
    """Return the first eight digits of the SHA-1 of a model's published weights.

    Args:
        name: Model name, such as ``resnet50_v1``.

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
    """Return the path of a model's weights; download them if they are missing or damaged.

    Args:
        name: Model name, such as ``resnet50_v1``.
        root: Folder of the weights, created if missing; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
        DownloadError: They cannot be downloaded, have the wrong SHA-1, or do not fit on the disk.
    """
    target = weights_path(name, root)
    if is_published(target, WEIGHT_HASHES[name]):
        return str(target)
    with exclusive(target):
        # Another process may have made it while this one waited.
        if not is_published(target, WEIGHT_HASHES[name]):
            _fetch_weights(name, target)
    return str(target)


def purge(root: str | os.PathLike[str] | None = None) -> None:
    """Delete all weights and unfinished downloads from the folder of the weights.

    Args:
        root: The folder; ``$MXNET_HOME/models`` by default.
    """
    folder = models_folder(root)
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.is_file() and (path.suffix == ".params" or _is_leftover(path.name)):
            path.unlink(missing_ok=True)


def models_folder(root: str | os.PathLike[str] | None = None) -> Path:
    """Return the path of the folder of the weights, which need not exist.

    Args:
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.
    """
    return (
        Path(MXNET_HOME.value) / "models"
        if root is None
        else Path(path_text(root, "root")).expanduser()
    )


def weights_path(name: str, root: str | os.PathLike[str] | None = None) -> Path:
    """Return the path where a model's published weights are stored, whether or not they exist.

    Args:
        name: Model name, such as ``resnet50_v1``.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
    """
    return models_folder(root) / f"{name}-{short_hash(name)}.params"


def weights_url(name: str) -> str:
    """Return where a model's weights are published: a URL, or a path if the repository is a folder.

    Args:
        name: Model name, such as ``resnet50_v1``.

    Raises:
        ArgumentError: No weights of that name were published.
    """
    return published_url(f"gluon/models/{name}-{short_hash(name)}.zip")


def _is_leftover(file_name: str) -> bool:
    match = re.fullmatch(r"(.+)-([0-9a-f]{8})\.zip\.part(\.json)?", file_name)
    return match is not None and WEIGHT_HASHES.get(match[1], "").startswith(match[2])


def _fetch_weights(name: str, target: Path) -> None:
    archive_name = f"{target.stem}.zip"
    url = weights_url(name)
    advice = (
        f"without a network put {target.name} with the SHA-1 {WEIGHT_HASHES[name]} into"
        f" {target.parent}, or set MXNET_GLUON_REPO to a mirror or to a folder that has"
        f" gluon/models/{archive_name}"
    )
    problem = ""
    # A wrong content may come from a part that an earlier attempt left: once more from the start.
    for _ in range(2):
        part = obtain(url, target.with_name(archive_name), advice=advice, max_nbytes=_MAX_NBYTES)
        try:
            extract_members(part, {target: WEIGHT_HASHES[name]}, _MAX_NBYTES)
            return
        except WrongArchiveError as error:
            problem = str(error)
        finally:
            part.unlink(missing_ok=True)
    raise DownloadError(f"get_model_file: {url}: {problem}; {advice}")
