"""Parameters of a Block in files: by the attributes that lead to them, or by their full names."""

import os
from typing import TYPE_CHECKING, Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError, nearest
from gluonish.ndarray import NDArray, load, save
from gluonish.parameter import Parameter
from gluonish.parameter.parameter_dict import bare_names
from gluonish.parameter.placement import ContextList

if TYPE_CHECKING:
    from gluonish.block.block import Block

__all__ = ["load_block", "save_block"]


def save_block(block: "Block", filename: str | os.PathLike[str], deduplicate: bool) -> None:
    """Write a Block's parameters under their paths; see `Block.save_parameters`."""
    paths = block._collect_params_with_prefix()
    if deduplicate:
        # Where a parameter is first met, under the last of its paths: what MXNet writes.
        last = {id(parameter): path for path, parameter in paths.items()}
        paths = {path: paths[path] for path in last.values()}
    save(filename, {path: parameter._reduce() for path, parameter in paths.items()})


def load_block(
    block: "Block",
    filename: str | os.PathLike[str],
    ctx: ContextList | None,
    allow_missing: bool,
    ignore_extra: bool,
    **casting: Any,
) -> None:
    """Take a Block's parameters from a file of either naming; see `Block.load_parameters`."""
    source = os.fspath(filename)
    what = f"{type(block).__name__} {block.name}"
    loaded = load(filename)
    if not isinstance(loaded, dict):
        if loaded:
            raise ArgumentTypeError(
                f"{what}: load_parameters: expected arrays with names in {source!r}, got a list "
                f"of {len(loaded)}; save a dict"
            )
        loaded = {}
    try:
        _fill(block, loaded, source, ctx, allow_missing, ignore_extra, **casting)
    except (ArgumentError, ParameterError) as error:
        where = "" if repr(source) in str(error) else f" (from {source!r})"
        raise type(error)(f"{what}: {error}{where}") from error


def _fill(
    block: "Block",
    loaded: dict[str, NDArray],
    source: str,
    ctx: ContextList | None,
    allow_missing: bool,
    ignore_extra: bool,
    **casting: Any,
) -> None:
    """Put arrays of a file into the parameters that they belong to."""
    paths = block._collect_params_with_prefix()
    if any(name not in paths for name in loaded) and not any("." in name for name in loaded):
        names = _full_names(block, loaded)
        block.collect_params().load_dict(
            names, ctx, allow_missing, ignore_extra, filename=source, **casting
        )
        return
    if not allow_missing:
        _check_complete(paths, loaded, source)
    if not ignore_extra:
        _check_known(paths, loaded, source)
    for path, values in loaded.items():
        if path in paths:
            paths[path]._load_init(values, ctx, **casting)


def _full_names(block: "Block", loaded: dict[str, NDArray]) -> dict[str, NDArray]:
    """Return arrays under full names: the block's prefix goes before those that lack it."""
    known = block.collect_params().keys()
    restored = {}
    for name, values in bare_names(loaded).items():
        prefixed = block.prefix + name
        restored[name if prefixed not in known and name in known else prefixed] = values
    return restored


def _check_complete(paths: dict[str, Parameter], loaded: dict[str, NDArray], source: str) -> None:
    """Refuse a file that has a parameter under none of its paths."""
    present = {id(paths[path]) for path in loaded if path in paths}
    for path, parameter in paths.items():
        if id(parameter) not in present:
            raise ParameterError(
                f"load_parameters: expected {path!r} in {source!r}, got {len(loaded)} other arrays"
                f"{nearest(path, loaded)}; set allow_missing=True to go on without it"
            )


def _check_known(paths: dict[str, Parameter], loaded: dict[str, NDArray], source: str) -> None:
    for path in loaded:
        if path not in paths:
            raise ArgumentError(
                f"load_parameters: expected only parameters of the Block in {source!r}, got "
                f"{path!r}{nearest(path, paths)}; set ignore_extra=True to go on without it"
            )
