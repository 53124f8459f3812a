"""Pretrained weights of torchvision, in the place of MXNet's that cannot be downloaded.

Listed are the networks whose outputs with torchvision's weights equal those of torchvision, with
images prepared in the same way. Left out are bottleneck ResNets (their strides are in the other
convolution), MobileNet v2 (MXNet's last layer has no bias) and Inception v3 (its images are
prepared otherwise).
torchvision's file names have the first eight digits of the SHA-256.

References:
    torchvision 0.29.1, models/*.py: the weights ``IMAGENET1K_V1``.
"""

import hashlib
from pathlib import Path

from gluonish.core.config import MXNET_GLUON_OTHER_SOURCES
from gluonish.core.errors import DownloadError
from gluonish.core.loading import load
from gluonish.gluon.download import (
    OtherSource,
    disk_full_error,
    obtain_elsewhere,
    tell_source,
)

_ADDRESS = "https://download.pytorch.org/models/"
_DIFFERENCE = (
    "weights that were trained otherwise, by which outputs differ from those of MXNet's weights"
)
_SHORT_LENGTH = 8
# torchvision's largest file here has 575 MB.
_MAX_NBYTES = 2 << 30


def _torchvision(file_name: str) -> OtherSource:
    digits = file_name.removesuffix(".pth").rpartition("-")[2]
    return OtherSource("torchvision", _ADDRESS + file_name, digits)


TORCHVISION: dict[str, OtherSource] = {
    "alexnet": _torchvision("alexnet-owt-7be5be79.pth"),
    "densenet121": _torchvision("densenet121-a639ec97.pth"),
    "densenet161": _torchvision("densenet161-8d451a50.pth"),
    "densenet169": _torchvision("densenet169-b2777c0a.pth"),
    "densenet201": _torchvision("densenet201-c1103571.pth"),
    "resnet18_v1": _torchvision("resnet18-f37072fd.pth"),
    "resnet34_v1": _torchvision("resnet34-b627a593.pth"),
    "squeezenet1.0": _torchvision("squeezenet1_0-b66bff10.pth"),
    "squeezenet1.1": _torchvision("squeezenet1_1-b8a52dc0.pth"),
    "vgg11": _torchvision("vgg11-8a719046.pth"),
    "vgg11_bn": _torchvision("vgg11_bn-6002323d.pth"),
    "vgg13": _torchvision("vgg13-19584684.pth"),
    "vgg13_bn": _torchvision("vgg13_bn-abd245e5.pth"),
    "vgg16": _torchvision("vgg16-397923af.pth"),
    "vgg16_bn": _torchvision("vgg16_bn-6c64b313.pth"),
    "vgg19": _torchvision("vgg19-dcbb9e9d.pth"),
    "vgg19_bn": _torchvision("vgg19_bn-c79401a0.pth"),
}


def converted_weights(name: str, folder: Path) -> Path | None:
    """Return the path of weights that were converted before; None without or if switched off.

    Args:
        name: Name of the network, such as ``resnet18_v1``.
        folder: Folder of the weights.
    """
    source = TORCHVISION.get(name)
    if source is None or not MXNET_GLUON_OTHER_SOURCES.value:
        return None
    for path in sorted(folder.glob(f"{_stem(name, source)}-{'[0-9a-f]' * _SHORT_LENGTH}.params")):
        with path.open("rb") as file:
            sha1 = hashlib.file_digest(file, "sha1").hexdigest()
        if sha1.startswith(path.stem[-_SHORT_LENGTH:]):
            return path
    return None


def tell(name: str, path: Path) -> None:
    """Log a warning that weights are those of another source.

    Args:
        name: Name of the network.
        path: Path of the weights.
    """
    tell_source(path.name, TORCHVISION[name], _DIFFERENCE)


def fetch(name: str, target: Path, error: DownloadError) -> Path:
    """Download weights from another source, convert them, and return the path of the file.

    Args:
        name: Name of the network, such as ``resnet18_v1``.
        target: Path of MXNet's file, in whose folder the weights are written; the caller owns its
            lock.
        error: The error of MXNet's repository.

    Raises:
        DownloadError: There is no other source, they are switched off, or they failed, too.
    """
    source = TORCHVISION.get(name)
    sources = [] if source is None else [source]
    written: list[Path] = []

    def convert(part: Path) -> None:
        assert source is not None
        foreign = load(f"{__package__}.foreign")
        conversion = foreign.import_weights(name, part)
        try:
            path, _ = foreign.save_conversion(conversion, _stem(name, source), target.parent)
        except OSError as problem:
            raise disk_full_error(problem, target) or problem from problem
        written.append(path)

    obtain_elsewhere(
        f"weights of {name}",
        sources,
        target.with_name(_stem(name, source) if source else name),
        error,
        convert,
        _MAX_NBYTES,
    )
    return written[0]


def is_leftover(file_name: str) -> bool:
    """Whether a file is an unfinished download of another source's weights."""
    stem = file_name.removesuffix(".json").removesuffix(".part")
    return stem != file_name and any(
        stem == _stem(name, source) for name, source in TORCHVISION.items()
    )


def _stem(name: str, source: OtherSource) -> str:
    """Return the beginning of the file name of converted weights; their SHA-1 follows."""
    return f"{name}-{source.name}"
