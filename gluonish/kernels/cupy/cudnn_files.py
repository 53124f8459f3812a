"""Plans of cuDNN on disk, in the folder ``cudnn`` of MXNET_HOME, with one file for each.

A file's name is the digest of all that a plan depends on: device, driver, cuDNN, frontend and
problem. Files are used only as far as `gluonish.kernels.compiler.disk_cache` trusts them; a plan
that the frontend does not load is built again.
"""

import hashlib
import logging
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gluonish.core.config import GLUONISH_CUDNN_CACHE
from gluonish.kernels.compiler import disk_cache

_LOG = logging.getLogger("gluonish")
_VERSION = 1  # of the files' content
_FOLDER = "cudnn"


@cache
def _front_end_version() -> str:
    """Return the frontend's version, which its extension does not know."""
    try:
        return version("nvidia-cudnn-frontend")
    except PackageNotFoundError:
        return ""


def key_of(xp: Any, front_end: Any, device: int, problem: Any) -> bytes:
    """Return the key of a problem's file."""
    runtime = xp.cuda.runtime
    properties = runtime.getDeviceProperties(device)
    parts = (
        *(_VERSION, properties["name"], properties["multiProcessorCount"]),
        *(runtime.driverGetVersion(), front_end.backend_version_string()),
        *(_front_end_version(), repr(problem)),
    )
    return hashlib.sha256(repr(parts).encode()).digest()


def load(front_end: Any, handle: Any, key: bytes, errors: tuple[Any, ...]) -> Any:
    """Return a graph with the saved plan; None without one.

    Args:
        handle: A handle whose stream has nothing else to do: the frontend captures its first run.
        errors: What the frontend raises for content that it cannot load.
    """
    content = disk_cache.find(key, _FOLDER)
    if content is None:
        return None
    kind = front_end.data_type.FLOAT
    try:
        with handle.lock:
            graph = front_end.pygraph(
                intermediate_data_type=kind, compute_data_type=kind, handle=handle.raw
            )
            graph.deserialize(handle.raw, list(content))  # the frontend asks for integers
    except errors as error:
        reason = " ".join(str(error).split())
        _LOG.warning("cuDNN: a saved plan does not load, and is built again: %.300s", reason)
        return None
    return graph


def is_saved(key: bytes) -> bool:
    """Whether a file exists for a key, and may be read; `load` may still reject it."""
    return GLUONISH_CUDNN_CACHE.value and disk_cache.is_saved(key, _FOLDER)


def save(graph: Any, key: bytes, errors: tuple[Any, ...]) -> None:
    """Save the plan of a graph, if the frontend can."""
    if not GLUONISH_CUDNN_CACHE.value:
        return
    try:
        content = bytes(graph.serialize())
    except errors as error:
        _LOG.debug("cuDNN: a plan cannot be saved: %.300s", error)
        return
    disk_cache.save(key, content, _FOLDER)
