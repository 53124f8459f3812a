"""The names of ``gluon.utils``, gathered from where they live."""

import os

from gluonish.block.hooks import HookHandle
from gluonish.clipping import clip_global_norm
from gluonish.core.errors import DownloadError
from gluonish.download import check_sha1, download
from gluonish.parameter import shape_is_known
from gluonish.split import split_and_load, split_data

__all__ = [
    "HookHandle",
    "check_sha1",
    "clip_global_norm",
    "download",
    "replace_file",
    "shape_is_known",
    "split_and_load",
    "split_data",
]


def replace_file(src: str | os.PathLike[str], dst: str | os.PathLike[str]) -> None:
    """Give a file another name, in place of what had it; others see the old file or the new one.

    Args:
        src: The file.
        dst: Its new path, on the same file system.

    Raises:
        DownloadError: if it cannot be moved; what stood at ``dst`` is as it was.
    """
    try:
        os.replace(src, dst)
    except OSError as error:
        raise DownloadError(
            f"replace_file: expected to move {os.fspath(src)!r} to {os.fspath(dst)!r}, got {error}"
        ) from error
