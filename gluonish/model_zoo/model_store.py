"""The store of pretrained weights: locations and hashes of the files.

The repository holds ``gluon/models/{name}-{short hash}.zip`` with one `.params` file inside. The
published SHA-1 is the `.params` file's, so that MXNet's files in the same folder are used. If the
repository does not serve a file, torchvision's weights are converted, for networks that compute the
same with them.
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
from gluonish.model_zoo import other_weights

WEIGHT_HASHES: dict[str, str] = {
    "alexnet": "44335d1f0046b328243b32a26a4fbd62d9057b45",
    "densenet121": "f27dbf2dbd5ce9a80b102d89c7483342cd33cb31",
    "densenet161": "b6c8a95717e3e761bd88d145f4d0a214aaa515dc",
    "densenet169": "2603f878403c6aa5a71a124c4a3307143d6820e9",
    "densenet201": "1cdbc116bc3a1b65832b18cf53e1cb8e7da017eb",
    "inceptionv3": "ed47ec45a937b656fcc94dabde85495bbef5ba1f",
    "mobilenet0.25": "9f83e440996887baf91a6aff1cccc1c903a64274",
    "mobilenet0.5": "8e9d539cc66aa5efa71c4b6af983b936ab8701c3",
    "mobilenet0.75": "529b2c7f4934e6cb851155b22c96c9ab0a7c4dc2",
    "mobilenet1.0": "6b8c5106c730e8750bcd82ceb75220a3351157cd",
    "mobilenetv2_0.25": "ae8f9392789b04822cbb1d98c27283fc5f8aa0a7",
    "mobilenetv2_0.5": "aabd26cd335379fcb72ae6c8fac45a70eab11785",
    "mobilenetv2_0.75": "e2be7b72a79fe4a750d1dd415afedf01c3ea818d",
    "mobilenetv2_1.0": "36da4ff1867abccd32b29592d79fc753bca5a215",
    "resnet101_v1": "d988c13d6159779e907140a638c56f229634cb02",
    "resnet101_v2": "18e93e4f48947e002547f50eabbcc9c83e516aa6",
    "resnet152_v1": "671c637a14387ab9e2654eafd0d493d86b1c8579",
    "resnet152_v2": "f2695542de38cf7e71ed58f02893d82bb409415e",
    "resnet18_v1": "a0666292f0a30ff61f857b0b66efc0228eb6a54b",
    "resnet18_v2": "a81db45fd7b7a2d12ab97cd88ef0a5ac48b8f657",
    "resnet34_v1": "48216ba99a8b1005d75c0f3a0c422301a0473233",
    "resnet34_v2": "9d6b80bbc35169de6b6edecffdd6047c56fdd322",
    "resnet50_v1": "0aee57f96768c0a2d5b23a6ec91eb08dfb0a45ce",
    "resnet50_v2": "ecdde35339c1aadbec4f547857078e734a76fb49",
    "squeezenet1.0": "264ba4970a0cc87a4f15c96e25246a1307caf523",
    "squeezenet1.1": "33ba0f93753c83d86e1eb397f38a667eaf2e9376",
    "vgg11": "dd221b160977f36a53f464cb54648d227c707a05",
    "vgg11_bn": "ee79a8098a91fbe05b7a973fed2017a6117723a8",
    "vgg13": "6bc5de58a05a5e2e7f493e2d75a580d83efde38c",
    "vgg13_bn": "7d97a06c3c7a1aecc88b6e7385c2b373a249e95e",
    "vgg16": "e660d4569ccb679ec68f1fd3cce07a387252a90a",
    "vgg16_bn": "7f01cf050d357127a73826045c245041b0df7363",
    "vgg19": "ad2f660d101905472b83590b59708b71ea22b2e5",
    "vgg19_bn": "f360b758e856f1074a85abd5fd873ed1d98297c3",
}


# Programs add models: `model_store._model_sha1.update(...)`.
_model_sha1 = WEIGHT_HASHES

_SHORT_LENGTH = 8
# Maximum size of an archive and of its file; the largest published file has 575 MB.
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

    MXNet's repository (``MXNET_GLUON_REPO``) is asked first. If it does not serve them, the weights
    of torchvision are downloaded and converted, for networks in `other_weights.TORCHVISION`, and a
    warning says so: these were trained otherwise, so that outputs differ from those of MXNet's
    weights. ``MXNET_GLUON_OTHER_SOURCES=0`` switches that off.

    Args:
        name: Model name, such as ``resnet50_v1``.
        root: Folder of the weights, created if missing; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
        DownloadError: The weights cannot be downloaded, have the wrong SHA-1, or do not fit on the
            disk.
    """
    target = weights_path(name, root)
    if is_published(target, WEIGHT_HASHES[name]):
        return str(target)
    other = other_weights.converted_weights(name, target.parent)
    if other is None:
        with exclusive(target):
            other = _obtained(name, target)
    if other is None:
        return str(target)
    other_weights.tell(name, other)
    return str(other)


def _obtained(name: str, target: Path) -> Path | None:
    """Download a model's weights; return the path of those of another source, if it served them."""
    # Another process may have created a file while this one waited.
    if is_published(target, WEIGHT_HASHES[name]):
        return None
    other = other_weights.converted_weights(name, target.parent)
    if other is None:
        try:
            _fetch_weights(name, target)
        except DownloadError as error:
            other = other_weights.fetch(name, target, error)
    return other


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
    """Return the path of a model's published weights, which need not exist.

    Args:
        name: Model name, such as ``resnet50_v1``.
        root: Folder of the weights; ``$MXNET_HOME/models`` by default.

    Raises:
        ArgumentError: No weights of that name were published.
    """
    return models_folder(root) / f"{name}-{short_hash(name)}.params"


def weights_url(name: str) -> str:
    """Return the URL of a model's weights, or a path if the repository is a folder.

    Args:
        name: Model name, such as ``resnet50_v1``.

    Raises:
        ArgumentError: No weights of that name were published.
    """
    return published_url(f"gluon/models/{name}-{short_hash(name)}.zip")


def _is_leftover(file_name: str) -> bool:
    match = re.fullmatch(r"(.+)-([0-9a-f]{8})\.zip\.part(\.json)?", file_name)
    if match is None:
        return other_weights.is_leftover(file_name)
    return WEIGHT_HASHES.get(match[1], "").startswith(match[2])


def _fetch_weights(name: str, target: Path) -> None:
    archive_name = f"{target.stem}.zip"
    url = weights_url(name)
    advice = (
        f"without a network put {target.name} with the SHA-1 {WEIGHT_HASHES[name]} into"
        f" {target.parent}, or set MXNET_GLUON_REPO to a mirror or to a folder that has"
        f" gluon/models/{archive_name}"
    )
    problem = ""
    # Wrong content may come from a partial download of an earlier attempt: retry from the start.
    for _ in range(2):
        archive = obtain(url, target.with_name(archive_name), advice=advice, max_nbytes=_MAX_NBYTES)
        try:
            extract_members(archive, {target: WEIGHT_HASHES[name]}, _MAX_NBYTES)
            return
        except WrongArchiveError as error:
            problem = str(error)
        finally:
            archive.unlink(missing_ok=True)
    raise DownloadError(f"get_model_file: {url}: {problem}; {advice}")
