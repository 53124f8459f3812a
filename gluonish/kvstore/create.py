"""create: creates a store by its name."""

import logging
from typing import Any

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    NotSupportedError,
    nearest,
)
from gluonish.kvstore.async_store import AsyncStore
from gluonish.kvstore.base import KVStoreBase
from gluonish.kvstore.distributed import channel
from gluonish.kvstore.foreign_stores import ALTERNATIVES
from gluonish.kvstore.kvstore import KINDS, KVStore
from gluonish.kvstore.nccl_exchange import NCCLExchange
from gluonish.kvstore.nccl_reduce import NCCLReduction
from gluonish.kvstore.nccl_team import find_nccl
from gluonish.kvstore.sync_store import SyncStore

# Names of synchronous distributed stores.
SYNCHRONOUS = ("dist", "dist_sync", "dist_device_sync", "dist_sync_device")
_LOG = logging.getLogger("gluonish")
_logged: list[str] = []  # warnings logged already


def create(name: str = "local") -> KVStore | Any:
    """Create a store by name.

    Args:
        name: ``"local"`` or ``"device"`` for the devices of one process (summing on the CPU, or on
            a device), ``"nccl"`` for GPUs; ``"dist_sync"``, ``"dist_device_sync"`` (which sums on
            GPUs with NCCL) or ``"dist_async"`` for the processes of `gluonish launch`; or the class
            name of a registered store. The case is ignored. Without NCCL, ``"nccl"`` falls back to
            a device store with a logged warning.

    Returns:
        A `KVStore`, or an object of the registered class.

    Raises:
        ArgumentError: There is no such store.
        ArgumentTypeError: ``name`` is not a str.
        NotSupportedError: Only MXNet has this store; the message names an alternative.

    Example:
        >>> import gluonish as mx
        >>> store = mx.kv.create("device")
        >>> store.init("weight", mx.nd.zeros(2))
        >>> store.push("weight", [mx.nd.array([1, 2]), mx.nd.array([10, 20])])  # two devices
        >>> out = mx.nd.zeros(2)
        >>> store.pull("weight", out)
        >>> out.tolist()
        [11.0, 22.0]
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"kvstore: expected a name, got {name!r}")
    kind = name.lower()
    registered = KVStoreBase.kv_registry.get(kind)
    if registered is not None:
        return registered()
    if kind in KINDS:
        return KVStore(kind)
    if kind == "nccl":
        return _nccl_store()
    if kind in SYNCHRONOUS:
        return _sync_store(kind)
    if kind == "dist_async":
        return AsyncStore(channel())
    if kind in ALTERNATIVES:
        raise NotSupportedError(
            f"kvstore: expected a store that gluonish has, got {name!r}; {ALTERNATIVES[kind]}"
        )
    raise _unknown(name)


def _sync_store(kind: str) -> SyncStore:
    """Return a synchronous store, which sums on GPUs if its name contains ``device``."""
    ranks = channel()
    if "device" not in kind:
        return SyncStore(kind, ranks)
    try:
        nccl = find_nccl()
    except DeviceError:
        nccl = None  # ranks agree in the first sum whether all have NCCL
    return SyncStore(kind, ranks, NCCLExchange(nccl, ranks))


def _nccl_store() -> KVStore:
    """Return a store that sums with NCCL, or a device store without NCCL."""
    try:
        return KVStore("nccl", NCCLReduction(find_nccl()))
    except DeviceError as error:
        if not _logged:
            _logged.append("nccl")
            _LOG.warning("%s; 'nccl' stores are 'device' stores here", error)
        return KVStore("device")


def _unknown(name: str) -> ArgumentError:
    known = sorted({*KINDS, *SYNCHRONOUS, "dist_async", "nccl", *KVStoreBase.kv_registry})
    return ArgumentError(
        f"kvstore: expected one of {', '.join(known)}, got {name!r}{nearest(name, known)}"
    )
