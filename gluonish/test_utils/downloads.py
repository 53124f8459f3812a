"""Downloads: files by URL, archives, and published image models."""

import bz2
import os
import shutil
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import gluonish.gluon.download as transfers
from gluonish.core.errors import FileFormatError, GluonishError
from gluonish.core.files import atomic_write

PathLike = str | os.PathLike[str]
ModelInfo = Mapping[str, Mapping[str, str]]

_MODELS = "http://data.mxnet.io/models"
_MODEL_PATHS = {
    "imagenet1k-inception-bn": ("imagenet/inception-bn/Inception-BN", "0126"),
    "imagenet1k-resnet-18": ("imagenet/resnet/18-layers/resnet-18", "0000"),
    "imagenet1k-resnet-34": ("imagenet/resnet/34-layers/resnet-34", "0000"),
    "imagenet1k-resnet-50": ("imagenet/resnet/50-layers/resnet-50", "0000"),
    "imagenet1k-resnet-101": ("imagenet/resnet/101-layers/resnet-101", "0000"),
    "imagenet1k-resnet-152": ("imagenet/resnet/152-layers/resnet-152", "0000"),
    "imagenet1k-resnext-50": ("imagenet/resnext/50-layers/resnext-50", "0000"),
    "imagenet1k-resnext-101": ("imagenet/resnext/101-layers/resnext-101", "0000"),
    "imagenet1k-resnext-101-64x4d": ("imagenet/resnext/101-layers/resnext-101-64x4d", "0000"),
    "imagenet11k-resnet-152": ("imagenet-11k/resnet-152/resnet-152", "0000"),
    "imagenet11k-place365ch-resnet-152": ("imagenet-11k-place365-ch/resnet-152", "0000"),
    "imagenet11k-place365ch-resnet-50": ("imagenet-11k-place365-ch/resnet-50", "0000"),
}


def download(
    url: str,
    fname: PathLike | None = None,
    dirname: PathLike | None = None,
    overwrite: bool = False,
    retries: int = 5,
) -> str:
    """Download a file, and return its path.

    Args:
        url: An ``http://``, ``https://`` or ``file://`` URL, or a local path.
        fname: Path to save to; by default the last part of the URL.
        dirname: Folder of ``fname``, created if missing; the working folder by default.
        overwrite: Whether to download the file even if it exists.
        retries: Number of attempts, at least one.

    Raises:
        ArgumentError: ``retries`` is negative, or there is no file name.
        DownloadError: The file cannot be downloaded.
    """
    target = Path(os.fspath(fname) if fname is not None else url.rsplit("/", 1)[-1])
    if dirname is not None:
        target = Path(dirname) / target
    attempts_after_first = retries - 1 if retries > 0 else retries
    return transfers.download(url, target, overwrite, retries=attempts_after_first)


def download_model(
    model_name: str, dst_dir: PathLike = "./", meta_info: ModelInfo | None = None
) -> tuple[str | None, int]:
    """Download a published model: its graph and its parameters.

    Args:
        model_name: Name of the model, such as ``"imagenet1k-resnet-18"``.
        dst_dir: Folder for the files, created if missing.
        meta_info: Dict from model name to a dict with the URLs ``symbol`` and ``params``; by
            default MXNet's model gallery.

    Returns:
        The path of the files without ``-symbol.json`` and ``-0000.params``, and the epoch, 0; None
        instead of the path for an unknown model.

    Raises:
        DownloadError: A file cannot be downloaded.
    """
    known: ModelInfo = _gallery() if meta_info is None else dict(meta_info)
    if model_name not in known:
        return None, 0
    prefix = os.path.join(dst_dir, model_name)
    download(known[model_name]["symbol"], f"{prefix}-symbol.json")
    download(known[model_name]["params"], f"{prefix}-0000.params")
    return prefix, 0


def _gallery() -> dict[str, dict[str, str]]:
    return {
        name: {
            "symbol": f"{_MODELS}/{path}-symbol.json",
            "params": f"{_MODELS}/{path}-{epoch}.params",
        }
        for name, (path, epoch) in _MODEL_PATHS.items()
    }


def get_zip_data(data_dir: PathLike, url: str, data_origin_name: str) -> None:
    """Download a zip archive, unless it exists, and extract it.

    Args:
        data_dir: Folder for the archive and its files.
        url: URL of the archive.
        data_origin_name: File name of the archive.

    Raises:
        DownloadError: The archive cannot be downloaded.
        FileFormatError: The file is not a zip archive, or would extract outside the folder.
    """
    unzip(Path(download(url, data_origin_name, data_dir)), Path(data_dir))


def get_bz2_data(data_dir: PathLike, data_name: str, url: str, data_origin_name: str) -> None:
    """Download and decompress a bzip2 file, unless the decompressed file exists.

    Args:
        data_dir: Folder for the file.
        data_name: Name of the decompressed file.
        url: URL of the compressed file.
        data_origin_name: File name of the compressed file, which is deleted afterwards.

    Raises:
        DownloadError: The file cannot be downloaded.
        FileFormatError: The file is not a bzip2 file.
    """
    target = Path(data_dir) / data_name
    if target.exists():
        return
    packed = Path(download(url, data_origin_name, data_dir))
    try:
        with bz2.open(packed) as source, atomic_write(target) as file:
            shutil.copyfileobj(source, file)
    except (OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # for example, the disk is full
            raise
        raise FileFormatError(
            f"get_bz2_data: expected a bzip2 file at {packed}, got {error}"
        ) from error
    packed.unlink()


def unzip(archive_path: Path, folder: Path) -> None:
    """Extract an archive into a folder; each file appears when it is complete.

    Args:
        archive_path: Path of the archive.
        folder: The folder.

    Raises:
        DownloadError: There is not enough space on the disk.
        FileFormatError: The file is not a zip archive, or a member is a link or would be outside
            the folder.
        OSError: A file cannot be written.
    """
    try:
        with zipfile.ZipFile(archive_path) as archive:
            members = archive.infolist()
            for info in members:
                _check_member(info, archive_path)
            packed = sum(member.compress_size for member in members)
            if packed > archive_path.stat().st_size:
                raise zipfile.BadZipFile("files that overlap")
            folder.mkdir(parents=True, exist_ok=True)
            transfers.check_free_space(
                folder / archive_path.name, sum(m.file_size for m in members)
            )
            for info in members:
                _unpack_member(archive, info, folder / info.filename)
    except (*transfers.BROKEN_ARCHIVE, OSError) as error:
        # Decompressors raise an OSError without errno for damaged data.
        if isinstance(error, GluonishError) or getattr(error, "errno", None) is not None:
            raise
        raise FileFormatError(
            f"get_zip_data: expected a zip archive at {archive_path}, got {error}"
        ) from error


def _unpack_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> None:
    if info.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, atomic_write(target) as file:
        shutil.copyfileobj(source, file)


def _check_member(info: zipfile.ZipInfo, archive_path: Path) -> None:
    name = info.orig_filename.replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)
    leaves = name.startswith("/") or ".." in name.split("/") or ":" in name
    if not info.filename or leaves or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise FileFormatError(
            f"get_zip_data: expected regular files inside {archive_path}, got {name!r}"
        )
