"""Block.save and Block.load: a network's structure as JSON beside its parameters.

``prefix-model.json`` has an object for each Block: its name, its children by name with the
attributes that lead to them, and the children's own objects, under keys of class name and a number
that counts Blocks depth first. One that ran as a graph also holds that graph.
"""

import json
import os
from collections.abc import Iterator
from itertools import count
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.core.files import atomic_write, open_to_read, path_text, written_together
from gluonish.core.json_text import parse_json
from gluonish.gluon.block.protocols import BlockTree
from gluonish.ndarray.array_writer import find_arrays, split_prefix

__all__ = ["load_model", "save_model"]


def save_model(block: BlockTree, prefix: str | os.PathLike[str]) -> None:
    """Write a Block's structure and parameters; see `Block.save`."""
    content: dict[str, Any] = {}
    _describe(block, content, count())
    stem, ending = split_prefix(path_text(prefix, "prefix"))
    structure, parameters = f"{stem}-model.json", f"{stem}-model{ending}"
    with written_together(structure, parameters):
        with atomic_write(structure) as file:
            file.write(json.dumps(content).encode())
        block.save_parameters(parameters)


def _key(block: BlockTree, numbers: Iterator[int]) -> str:
    return f"{type(block).__name__.lower()}{next(numbers)}"


def _children(block: BlockTree) -> dict[str, str]:
    return {child.name: name for name, child in block._children.items()}


def _describe(block: BlockTree, parent: dict[str, Any], numbers: Iterator[int]) -> None:
    """Enter a Block and all Blocks in it into the object of its parent."""
    own = parent[_key(block, numbers)] = {"orig_name": block.name, **block._describe_graph()}
    own["children"] = _children(block)
    for child in block._children.values():
        _describe(child, own, numbers)


def load_model(block: BlockTree, prefix: str | os.PathLike[str]) -> None:
    """Take structure and parameters from files; see `Block.load`."""
    stem, _ = split_prefix(path_text(prefix, "prefix"))
    path = f"{stem}-model.json"
    with open_to_read(path, f"{type(block).__name__}.load") as file:
        text = file.read()
    content = parse_json(text, path, "the JSON of a network")
    found = list(_matches(block, content, count(), path))
    for part, own in found:
        told = dict(zip(_children(part).values(), own["children"].values(), strict=True))
        part._rename_children(told)
    block.load_parameters(find_arrays(path_text(prefix, "prefix"), "-model"))
    for part, own in found:
        _rename(part, own["orig_name"])
        if own.get("hybridized") is True:
            part._hybridize_again()


def _rename(block: BlockTree, name: str) -> None:
    """Give a Block another name, also in the keys of its parameters."""
    block._name = name
    block._params._replace_prefix(block._prefix, f"{name}_")


def _fits(block: BlockTree, names: list[Any]) -> bool:
    """Whether a Block's children are those of a file, in order.

    A child that a program entered into `_children` itself, under a name that may be made of others
    which count on, is known by its place.
    """
    own = list(_children(block).values())
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(own):
        return False
    return len(names) == len(own) and all(
        name == key or not (hasattr(block, key) or key.isdigit())
        for name, key in zip(names, own, strict=True)
    )


def _matches(
    block: BlockTree, parent: Any, numbers: Iterator[int], path: str
) -> Iterator[tuple[BlockTree, dict[str, Any]]]:
    """Give every Block with its object in a file.

    Raises:
        FileFormatError: The file is that of another network.
    """
    key = _key(block, numbers)
    objects = parent.items() if isinstance(parent, dict) else ()
    others = [name for name, value in objects if isinstance(value, dict)]
    own = parent[key] if key in others else {}
    if key not in others:
        raise FileFormatError(
            f"{path}: expected the key {key!r} of {block.name}, got {others!r:.200}"
        )
    children = own.get("children")
    attributes = list(children.values()) if isinstance(children, dict) else [None]
    expected = list(_children(block).values())
    if not isinstance(own.get("orig_name"), str) or not _fits(block, attributes):
        raise FileFormatError(
            f"{path}: expected a name, and children {expected!r:.200} in the key {key!r}, got "
            f"{own.get('orig_name')!r:.80} and {attributes!r:.200}"
        )
    yield block, own
    for child in block._children.values():
        yield from _matches(child, own, numbers, path)
