"""Classes that users name by a string: `mx.registry`."""

from gluonish.core.registry import (
    get_alias_func,
    get_create_func,
    get_register_func,
    get_registry,
)

__all__ = ["get_alias_func", "get_create_func", "get_register_func", "get_registry"]
