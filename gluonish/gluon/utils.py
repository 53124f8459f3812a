"""The names of ``gluon.utils``, re-exported from their modules."""

import os

from gluonish.core.errors import DownloadError
from gluonish.gluon.block.hooks import HookHandle
from gluonish.gluon.block.nesting import brief_list as _brief_print_list  # noqa: F401  # programs
from gluonish.gluon.block.nesting import check_all_numpy as _check_all_np_ndarrays  # noqa: F401  # import
from gluonish.gluon.block.nesting import check_one_symbol_type as _check_same_symbol_type  # noqa: F401
from gluonish.gluon.block.nesting import indented as _indent  # noqa: F401  # them
from gluonish.gluon.data.split import split_and_load, split_data
from gluonish.gluon.download import check_sha1, download, published_url
from gluonish.gluon.parameter import shape_is_known
from gluonish.gluon.trainer.gradients import clip_global_norm
from gluonish.gluon.trainer.sharpness import SAM
from gluonish.gluon.trainer.weight_average import WeightAverage, update_batch_norm

__all__ = [
    "SAM",
    "HookHandle",
    "WeightAverage",
    "check_sha1",
    "clip_global_norm",
    "download",
    "replace_file",
    "shape_is_known",
    "split_and_load",
    "split_data",
    "update_batch_norm",
]


def replace_file(src: str | os.PathLike[str], dst: str | os.PathLike[str]) -> None:
    """Move a file to another path atomically, replacing an existing file.

    Args:
        src: The file.
        dst: Its new path, on the same file system.

    Raises:
        DownloadError: The file cannot be moved; an existing ``dst`` is unchanged.
    """
    try:
        os.replace(src, dst)
    except OSError as error:
        raise DownloadError(
            f"replace_file: expected to move {os.fspath(src)!r} to {os.fspath(dst)!r}, got {error}"
        ) from error


def _get_repo_url() -> str:
    """Return the URL of published models and datasets, with a trailing slash."""
    return published_url("")


def _get_repo_file_url(namespace: str, filename: str) -> str:
    """Return the URL of a published file.

    Args:
        namespace: The folder, such as ``gluon/dataset/mnist``.
        filename: The file name.
    """
    return published_url(f"{namespace}/{filename}")
