"""KVStoreServer: the server process of MXNet's distributed stores."""

from typing import NoReturn

from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import default_repr
from gluonish.kvstore.base import KVStoreBase

__all__ = ["KVStoreServer"]


class KVStoreServer:
    """MXNet's server process of a distributed store, which gluonish does not need or run.

    ``dist_sync`` sums without servers, and the servers of ``dist_async`` are threads of the
    workers.

    Args:
        kvstore: The store.

    Raises:
        ArgumentTypeError: ``kvstore`` is not a store.
    """

    __repr__ = default_repr

    def __init__(self, kvstore: KVStoreBase) -> None:
        if not isinstance(kvstore, KVStoreBase):
            raise ArgumentTypeError(
                f"KVStoreServer: expected a KVStoreBase, got {type(kvstore).__name__}"
            )
        self.kvstore = kvstore

    def run(self) -> NoReturn:
        """Not available: no store has server processes.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            f"KVStoreServer: expected no server process, got one for {self.kvstore.type!r}; start "
            "workers only, with `gluonish launch`: servers of dist_async are threads of the workers"
        )
