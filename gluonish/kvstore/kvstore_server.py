"""KVStoreServer: what MXNet runs in the server processes of its distributed stores."""

from typing import NoReturn

from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.kvstore.base import KVStoreBase

__all__ = ["KVStoreServer"]


class KVStoreServer:
    """The server side of a distributed store; stores of one process have none, so it cannot run.

    Args:
        kvstore: The store to serve.

    Raises:
        ArgumentTypeError: It is no store.
    """

    def __init__(self, kvstore: KVStoreBase) -> None:
        if not isinstance(kvstore, KVStoreBase):
            raise ArgumentTypeError(
                f"KVStoreServer: expected a KVStoreBase, got {type(kvstore).__name__}"
            )
        self.kvstore = kvstore

    def run(self) -> NoReturn:
        """Refused: no store here has workers in other processes.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            f"KVStoreServer: expected a distributed store, got {self.kvstore.type!r}, whose updates"
            " run in the process that pushes; use kvstore='device', or register a KVStoreBase of"
            " your own over mpi4py, which needs no servers"
        )
