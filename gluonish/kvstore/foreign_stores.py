"""Horovod and BytePS: stores of other libraries, which gluonish does not use."""

from gluonish.core.errors import NotSupportedError
from gluonish.kvstore.base import KVStoreBase

__all__ = ["ALTERNATIVES", "BytePS", "Horovod"]

ALTERNATIVES = {
    "p3": "use 'dist_sync', which sends large arrays in chunks, too",
    "horovod": "use 'device' for the GPUs of one machine, or 'dist_sync' for several processes",
    "byteps": "use 'device' for the GPUs of one machine, or 'dist_sync' for several processes",
}


class _ForeignStore(KVStoreBase):
    """A store whose library gluonish does not use; it cannot be created."""

    def __init__(self) -> None:
        name = type(self).__name__
        raise NotSupportedError(
            f"kvstore: expected a store that gluonish has, got {name!r}; "
            f"{ALTERNATIVES[name.lower()]}"
        )

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Return False: these stores do not update weights."""
        return False

    @property
    def local_rank(self) -> int:
        """Index of this process among those of its machine."""
        raise self._missing("local_rank")


class Horovod(_ForeignStore):
    """MXNet 2.0's store over Horovod; creating it raises a NotSupportedError."""


class BytePS(_ForeignStore):
    """MXNet 2.0's store over BytePS; creating it raises a NotSupportedError."""
