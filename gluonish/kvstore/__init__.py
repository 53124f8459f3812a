"""Stores that combine the gradients of several devices."""

from gluonish.kvstore.base import KVStoreBase
from gluonish.kvstore.create import check_name, create
from gluonish.kvstore.kvstore import KVStore

__all__ = ["KVStore", "KVStoreBase", "check_name", "create"]
