"""Files of a Block: parameters by path or full name, and the structure as JSON.

``prefix-model.json`` has an object for each Block: its name, the attributes of its children by
name, and the children's objects, under keys of class name and depth-first index. The object of a
Block that ran as a graph also holds the graph.

An exported model has two files: its graph as JSON, and its parameters by name.
"""

import json
import operator
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeferredInitializationError,
    FileFormatError,
    ParameterError,
    nearest,
)
from gluonish.core.files import atomic_write, open_to_read, path_text, written_together
from gluonish.core.json_text import parse_json
from gluonish.gluon.block.protocols import BlockTree
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.arguments import ContextList, join_shapes
from gluonish.gluon.parameter.parameter_dict import bare_names
from gluonish.ndarray import NDArray, load, save
from gluonish.ndarray.array_writer import find_arrays, split_prefix
from gluonish.symbol import Symbol

_MOST_NAMES = 10  # in one message


def save_block(
    block: BlockTree,
    filename: str | os.PathLike[str],
    deduplicate: bool,
    **options: Any,
) -> None:
    """Write a Block's parameters under their paths; see `Block.save_parameters`."""
    paths = block._collect_params_with_prefix()
    if deduplicate:
        # As in MXNet: in the order of first occurrence, under the last path of each parameter.
        last = {id(parameter): path for path, parameter in paths.items()}
        paths = {path: paths[path] for path in last.values()}
    arrays = {}
    for path, parameter in paths.items():
        try:
            arrays[path] = parameter._reduce()
        except DeferredInitializationError as error:
            raise DeferredInitializationError(
                f"{_what(block)}: save_parameters: expected all shapes to be known, got "
                f"{parameter._full_name} at {path!r} of shape {parameter.shape}, whose layer was "
                "never called; call the network once, remove the layer, or set its "
                "in_units, in_channels and the like"
            ) from error
    save(filename, arrays, **options)


def load_block(
    block: BlockTree,
    filename: str | os.PathLike[str],
    ctx: ContextList | None,
    allow_missing: bool,
    ignore_extra: bool,
    cast_dtype: bool,
    dtype_source: str,
) -> None:
    """Load a Block's parameters from a file; see `Block.load_parameters`."""
    filename = path_text(filename, "load_parameters")
    loaded = load(filename, mmap=False)
    if not isinstance(loaded, dict):
        if loaded:
            raise ArgumentTypeError(
                f"{_what(block)}: load_parameters: expected arrays with names in "
                f"{filename!r}, got a list of {len(loaded)}; save a dict"
            )
        loaded = {}
    how = ctx, allow_missing, ignore_extra, cast_dtype, dtype_source
    load_arrays(block, loaded, filename, *how, donated=True)


def load_arrays(
    block: BlockTree,
    loaded: dict[str, NDArray],
    filename: str | None,
    ctx: ContextList | None,
    allow_missing: bool,
    ignore_extra: bool,
    cast_dtype: bool,
    dtype_source: str,
    donated: bool = False,
) -> None:
    """Load a Block's parameters from arrays by path or full name; see `Block.load_parameters`.

    ``filename`` is for messages. The caller does not use ``donated`` arrays again, so they need
    not be copied.
    """
    casting = {"cast_dtype": cast_dtype, "dtype_source": dtype_source, "donated": donated}
    source = "the dict" if filename is None else repr(filename)
    try:
        _fill(block, loaded, source, ctx, allow_missing, ignore_extra, **casting)
    except (ArgumentError, ParameterError) as error:
        where = "" if source in str(error) else f" (from {source})"
        raise type(error)(f"{_what(block)}: {error}{where}") from error


def _what(block: BlockTree) -> str:
    return f"{type(block).__name__} {block.name}"


def _fill(
    block: BlockTree,
    loaded: dict[str, NDArray],
    source: str,
    ctx: ContextList | None,
    allow_missing: bool,
    ignore_extra: bool,
    **casting: Any,
) -> None:
    """Assign arrays to parameters of the same name."""
    known = block._collect_params_with_prefix()
    if any(name not in known for name in loaded):
        loaded = dict(loaded)
        _fit_layers(block, "", loaded)
    if any(name not in known for name in loaded):
        full_names = dict(block.collect_params().items())
        restored = _full_names(block.prefix, full_names, loaded)
        # Older files and exported models have full names.
        if not any("." in name for name in loaded) or any(name in full_names for name in restored):
            known, loaded = full_names, restored
    if not allow_missing:
        _check_complete(known, loaded, source)
    if not ignore_extra:
        _check_known(known, loaded, source)
    _check_shapes(known, loaded, source)
    for name, values in loaded.items():
        if name in known:
            known[name]._load_init(values, ctx, **casting)


def _fit_layers(block: BlockTree, start: str, loaded: dict[str, NDArray]) -> None:
    """Convert arrays of recurrent layers to the form that the layers have, in place."""
    fit = getattr(block, "_fit_arrays", None)
    if fit is not None:
        fit(start, loaded)
    for name, child in block._children.items():
        _fit_layers(child, f"{start}{name}.", loaded)


def _full_names(
    prefix: str, known: Collection[str], loaded: dict[str, NDArray]
) -> dict[str, NDArray]:
    """Return arrays under full names, with the block's prefix added where it is missing."""
    restored = {}
    for name, values in bare_names(loaded).items():
        prefixed = prefix + name
        restored[name if prefixed not in known and name in known else prefixed] = values
    return restored


def _check_complete(known: dict[str, Parameter], loaded: Collection[str], source: str) -> None:
    """Raise an error if a parameter is missing from the arrays under all of its names."""
    present = {id(known[name]) for name in loaded if name in known}
    missing = {id(p): name for name, p in reversed(known.items()) if id(p) not in present}
    if missing:
        names = [*reversed(missing.values())]
        # The label of a symbolic program is an input, and files contain no inputs.
        label = any(name.endswith("_label") for name in names)
        advice = ", or name it in input_names" if label else ""
        raise ParameterError(
            f"load_parameters: expected {source} to contain {_quoted(names)}, got {len(loaded)} "
            f"other arrays{_nearest(names, loaded)}; set allow_missing=True to skip missing "
            f"ones{advice}"
        )


def _check_known(known: dict[str, Parameter], loaded: Collection[str], source: str) -> None:
    extra = [name for name in loaded if name not in known]
    if extra:
        raise ArgumentError(
            f"load_parameters: expected only parameters of the Block in {source}, got "
            f"{_quoted(extra)}{_nearest(extra, known)}; set ignore_extra=True to ignore them"
        )


def _check_shapes(known: dict[str, Parameter], loaded: dict[str, NDArray], source: str) -> None:
    """Raise an error for arrays of wrong shapes, before any parameter is set."""
    wrong = []
    for name, values in loaded.items():
        shape = known[name].shape if name in known else None
        if shape and join_shapes(shape, values.shape) is None:
            called = known[name].name
            wrong.append(f"{name!r} of {called}: expected shape {shape}, got {values.shape}")
    if wrong:
        raise ParameterError(
            f"load_parameters: {_listed(wrong)}, in {source}; create the layers in the sizes of "
            "the file, or remove those arrays and set allow_missing=True"
        )


def _quoted(names: list[str]) -> str:
    return _listed([repr(name) for name in names])


def _listed(items: list[str]) -> str:
    """Format the first items for a message, with the number of the remaining ones."""
    shown = ", ".join(items[:_MOST_NAMES])
    more = len(items) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _nearest(names: list[str], others: Iterable[str]) -> str:
    """Return a hint that lists the names most similar to the first of ``names``."""
    hint = nearest(names[0], others)
    return hint if len(names) == 1 or not hint else hint.replace("nearest", f"nearest {names[0]!r}")


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
    """Add entries for a Block and all Blocks in it to the JSON object of its parent."""
    entry = parent[_key(block, numbers)] = {"orig_name": block.name, **block._describe_graph()}
    entry["children"] = _children(block)
    for child in block._children.values():
        _describe(child, entry, numbers)


def load_model(block: BlockTree, prefix: str | os.PathLike[str]) -> None:
    """Load structure and parameters from files; see `Block.load`."""
    stem, _ = split_prefix(path_text(prefix, "prefix"))
    path = f"{stem}-model.json"
    with open_to_read(path, f"{type(block).__name__}.load") as file:
        text = file.read()
    content = parse_json(text, path, "the JSON of a network")
    found = list(_matches(block, content, count(), path))
    for inner, entry in found:
        names = dict(zip(_children(inner).values(), entry["children"].values(), strict=True))
        inner._rename_children(names)
    block.load_parameters(find_arrays(path_text(prefix, "prefix"), "-model"))
    for inner, entry in found:
        _rename(inner, entry["orig_name"])
        if entry.get("hybridized") is True:
            inner._rehybridize()


def _rename(block: BlockTree, name: str) -> None:
    """Rename a Block, and update the prefix in the keys of its parameters."""
    block._name = name
    block._params._replace_prefix(block._prefix, f"{name}_")


def _fits(block: BlockTree, names: list[Any]) -> bool:
    """Whether a Block's children match those in a file, in order.

    A child that a program added to `_children` directly, under a name that may contain a counter,
    is matched by its index.
    """
    keys = list(_children(block).values())
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(keys):
        return False
    return len(names) == len(keys) and all(
        name == key or not (hasattr(block, key) or key.isdigit())
        for name, key in zip(names, keys, strict=True)
    )


def _matches(
    block: BlockTree, parent: Any, numbers: Iterator[int], path: str
) -> Iterator[tuple[BlockTree, dict[str, Any]]]:
    """Yield every Block with its object in a file.

    Raises:
        FileFormatError: The file belongs to another network.
    """
    key = _key(block, numbers)
    objects = parent.items() if isinstance(parent, dict) else ()
    keys = [name for name, value in objects if isinstance(value, dict)]
    if key not in keys:
        raise FileFormatError(
            f"{path}: expected the key {key!r} of {block.name}, got {keys!r:.200}"
        )
    entry = parent[key]
    children = entry.get("children")
    attributes = list(children.values()) if isinstance(children, dict) else [None]
    expected = list(_children(block).values())
    if not isinstance(entry.get("orig_name"), str) or not _fits(block, attributes):
        raise FileFormatError(
            f"{path}: expected a name, and children {expected!r:.200} in the key {key!r}, got "
            f"{entry.get('orig_name')!r:.80} and {attributes!r:.200}"
        )
    yield block, entry
    for child in block._children.values():
        yield from _matches(child, entry, numbers, path)


def values_by_name(
    parameters: Mapping[str, Parameter], auxiliary: Collection[str]
) -> dict[str, NDArray]:
    """Return parameters' values on the CPU under names with the prefix ``arg:`` or ``aux:``."""
    return {
        f"{'aux' if name in auxiliary else 'arg'}:{name}": parameter._reduce()
        for name, parameter in parameters.items()
    }


def write_model(
    what: str,
    symbol: Symbol,
    parameters: dict[str, NDArray],
    path: str | os.PathLike[str],
    epoch: int,
    remove_amp_cast: bool,
) -> tuple[str, str]:
    """Write the Symbol and parameters of an exported model, and return the file names."""
    try:
        stem, ending = split_prefix(path_text(path, "export"))
        number = operator.index(int(epoch) if isinstance(epoch, float) else epoch)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what}: expected a path and a whole number, got {path!r} and {epoch!r}"
        ) from error
    symbol_file, params_file = f"{stem}-symbol.json", f"{stem}-{number:04d}{ending}"
    with written_together(symbol_file, params_file):
        symbol.save(symbol_file, remove_amp_cast)
        save(params_file, parameters)
    return symbol_file, params_file
