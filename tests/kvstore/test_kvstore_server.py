"""KVStoreServer: there is nothing to serve."""

import pytest

from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.kvstore import KVStoreServer, create


def test_server_says_what_to_use_instead() -> None:
    server = KVStoreServer(create("local"))
    with pytest.raises(NotSupportedError, match=r"'local'; .*workers only.*gluonish launch"):
        server.run()


def test_what_is_no_store_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="KVStoreServer: expected a KVStoreBase, got str"):
        KVStoreServer("local")  # type: ignore[arg-type]
