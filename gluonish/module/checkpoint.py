"""Checkpoints: a network in ``prefix-symbol.json``, its parameters in ``prefix-0001.params``."""

import logging
from collections.abc import Mapping

from gluonish.core.errors import FileFormatError
from gluonish.core.files import written_together
from gluonish.ndarray import NDArray
from gluonish.ndarray import load as load_arrays
from gluonish.ndarray import save as save_arrays
from gluonish.ndarray.array_writer import find_arrays, split_prefix
from gluonish.symbol import Symbol
from gluonish.symbol import load as load_symbol

__all__ = ["load_checkpoint", "load_params", "save_checkpoint", "split_params"]

Params = dict[str, NDArray]
_KINDS = ("arg", "aux")


def save_checkpoint(
    prefix: str,
    epoch: int,
    symbol: Symbol | None,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray],
    remove_amp_cast: bool = True,
) -> None:
    """Save a network and its parameters after an epoch.

    Args:
        prefix: Files are ``prefix-symbol.json`` and ``prefix-0003.params`` for epoch 3. If it ends
            with ``.safetensors`` or ``.npz``, the parameters are saved in that format, in a file
            with that ending.
        epoch: Number of the epoch.
        symbol: The network; None saves parameters only.
        arg_params: Weights by name, stored as ``arg:name``.
        aux_params: Auxiliary states by name, stored as ``aux:name``.
        remove_amp_cast: Whether to leave out casts that mixed precision inserted.
    """
    arrays = {
        f"{kind}:{name}": values
        for kind, params in zip(_KINDS, (arg_params, aux_params), strict=True)
        for name, values in params.items()
    }
    stem, ending = split_prefix(prefix)
    filename = f"{stem}{_number(epoch)}{ending}"
    symbol_file = f"{stem}-symbol.json"
    with written_together(symbol_file, filename):
        if symbol is not None:
            symbol.save(symbol_file, remove_amp_cast)
        save_arrays(filename, arrays)
    logging.info('Saved checkpoint to "%s"', filename)


def load_params(prefix: str, epoch: int) -> tuple[Params, Params]:
    """Load the parameters that `save_checkpoint` saved.

    Args:
        prefix: The prefix passed to `save_checkpoint`, with or without an ending.
        epoch: The epoch passed to `save_checkpoint`.

    Returns:
        Dict of weights and dict of auxiliary states, by name.

    Raises:
        MissingFileError: The file does not exist.
        FileFormatError: The arrays' names do not start with ``arg:`` or ``aux:``.
    """
    filename = find_arrays(prefix, _number(epoch))
    arrays = load_arrays(filename)
    if not arrays:
        logging.warning("Params file '%s' is empty", filename)
        return {}, {}
    if not isinstance(arrays, dict):
        raise FileFormatError(
            f"load_params: expected arrays with names in {filename!r}, got {len(arrays)} without"
        )
    return split_params(arrays, filename)


def split_params(arrays: Mapping[str, NDArray], filename: str) -> tuple[Params, Params]:
    """Split the arrays of a file into weights and auxiliary states.

    Args:
        arrays: Arrays by name.
        filename: Path of the file, for error messages.

    Raises:
        FileFormatError: A name starts with neither ``arg:`` nor ``aux:``.
    """
    found: dict[str, Params] = {kind: {} for kind in _KINDS}
    for key, values in arrays.items():
        kind, _, name = key.partition(":")
        if kind not in found or not name:
            raise FileFormatError(
                f"load_params: expected names arg:... and aux:... in {filename!r}, got {key!r}; "
                "read it with nd.load"
            )
        found[kind][name] = values
    return found["arg"], found["aux"]


def load_checkpoint(prefix: str, epoch: int) -> tuple[Symbol, Params, Params]:
    """Load the network and the parameters that `save_checkpoint` saved.

    Args:
        prefix: The prefix passed to `save_checkpoint`, with or without an ending.
        epoch: The epoch passed to `save_checkpoint`.

    Returns:
        The Symbol, the dict of weights and the dict of auxiliary states.

    Raises:
        MissingFileError: A file does not exist.
        FileFormatError: A file is damaged or of another kind.
    """
    symbol = load_symbol(f"{split_prefix(prefix)[0]}-symbol.json")
    return (symbol, *load_params(prefix, epoch))


def _number(epoch: int) -> str:
    return f"-{epoch:04d}"
