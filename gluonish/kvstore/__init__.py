"""Stores that sum the gradients of several devices or processes."""

from gluonish.kvstore.base import KVStoreBase
from gluonish.kvstore.create import create
from gluonish.kvstore.example_store import TestStore
from gluonish.kvstore.foreign_stores import BytePS, Horovod
from gluonish.kvstore.kvstore import KVStore
from gluonish.kvstore.kvstore_server import KVStoreServer

__all__ = ["BytePS", "Horovod", "KVStore", "KVStoreBase", "KVStoreServer", "TestStore", "create"]
