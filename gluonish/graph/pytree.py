"""Pytrees: nested lists, tuples and dicts of arrays, flattened and regrouped."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

# A leaf is None; a container is a pair of its type (list or tuple) or a dict's `Keys`, and the
# structures of its items; everything else is a Constant.
Structure = Any


class Keys(NamedTuple):
    """The keys of a dict, in order."""

    keys: tuple[Any, ...]


class Constant(NamedTuple):
    """A leaf that is not an array; its type distinguishes 1 from True and 1.0."""

    kind: type
    value: Any


def flatten(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Structure]:
    """Return the leaves of a pytree, in order, and its structure.

    Args:
        value: A leaf, a list, tuple or dict of pytrees, or anything else, which is a constant.
        is_leaf: Function that returns whether a value is a leaf.
    """
    if is_leaf(value):
        return [value], None
    kind: Any = type(value)
    if kind is dict:
        kind = Keys(tuple(value))
        value = value.values()
    elif not isinstance(value, list | tuple):
        return [], Constant(kind, value)
    leaves: list[Any] = []
    inner: list[Structure] = []
    for item in value:
        if is_leaf(item):  # here, as most items are, and calls take time
            leaves.append(item)
            inner.append(None)
            continue
        found, structure = flatten(item, is_leaf)
        leaves += found
        inner.append(structure)
    return leaves, (kind, tuple(inner))


def in_lists(structure: Structure) -> Structure:
    """Return a structure with lists in place of tuples."""
    if structure is None or isinstance(structure, Constant):
        return structure
    kind, inner = structure
    return (kind if isinstance(kind, Keys) else list), tuple(map(in_lists, inner))


def numbered(structure: Structure) -> Any:
    """Return a structure in MXNet's form: lists of 0 for an array, and -1 for a constant."""
    if structure is None:
        return 0
    if isinstance(structure, Constant):
        return -1
    return [numbered(item) for item in structure[1]]


def from_numbers(form: Any) -> Structure:
    """Return the structure of MXNet's form (see `numbered`), where n > 0 is a list of n arrays."""
    if isinstance(form, int):
        return (list, (None,) * form) if form > 0 else None
    return list, tuple(map(from_numbers, form))


def regroup(leaves: Sequence[Any], structure: Structure) -> Any:
    """Return the pytree with a structure and leaves."""
    return _build(iter(leaves), structure)


def _build(leaves: Iterator[Any], structure: Structure) -> Any:
    if structure is None:
        return next(leaves)
    if isinstance(structure, Constant):
        return structure.value
    kind, inner = structure
    items = [_build(leaves, item) for item in inner]
    if kind is list:
        return items
    if isinstance(kind, Keys):
        return dict(zip(kind.keys, items, strict=True))
    make = getattr(kind, "_make", tuple)  # of a named tuple
    return make(items)
