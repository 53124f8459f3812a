"""Stores by name."""

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.kvstore.base import KVStoreBase
from gluonish.kvstore.kvstore import KINDS, KVStore

__all__ = ["check_name", "create"]

_DISTRIBUTED = ("dist", "dist_sync", "dist_async", "dist_device_sync", "dist_sync_device", "p3")
_ELSEWHERE = {
    "nccl": "use 'device', which adds up on the GPUs without NCCL",
    "horovod": "use 'device' for the GPUs of one machine",
    "byteps": "use 'device' for the GPUs of one machine",
}


def create(name: str = "local") -> KVStoreBase:
    """Create a store.

    Args:
        name: ``"local"``, ``"device"``, or the class name of a registered store; its case does not
            matter.

    Raises:
        ArgumentError: There is no such store.
        ArgumentTypeError: The name is no text.
        NotSupportedError: It is one of MXNet's that gluonish lacks; the message names another.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"kvstore: expected a name, got {name!r}")
    kind = name.lower()
    registered = KVStoreBase.kv_registry.get(kind)
    if registered is not None:
        return registered()
    if kind in KINDS:
        return KVStore(kind)
    if kind in _DISTRIBUTED:
        raise NotSupportedError(
            f"kvstore: expected a store of one process, got {name!r}; use 'device', or register a "
            "KVStoreBase of your own over mpi4py"
        )
    if kind in _ELSEWHERE:
        raise NotSupportedError(
            f"kvstore: expected a store that gluonish has, got {name!r}; {_ELSEWHERE[kind]}"
        )
    raise _unknown(name)


def check_name(name: str) -> None:
    """Refuse a name that no store of MXNet's or of the user's has, without making a store.

    Raises:
        ArgumentError: There is no such store.
    """
    names = {*KINDS, *KVStoreBase.kv_registry, *_DISTRIBUTED, *_ELSEWHERE}
    if name.lower() not in names:
        raise _unknown(name)


def _unknown(name: str) -> ArgumentError:
    known = sorted({*KINDS, *KVStoreBase.kv_registry})
    return ArgumentError(f"kvstore: expected one of {', '.join(known)}, got {name!r}")
