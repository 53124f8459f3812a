"""Stores that combine the gradients of several devices."""

from gluonish.kvstore.base import KVStoreBase
from gluonish.kvstore.create import create
from gluonish.kvstore.kvstore import KVStore

__all__ = ["KVStore", "KVStoreBase", "create"]
