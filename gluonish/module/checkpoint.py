"""Checkpoints of a Module, and its weights on the CPU."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import written_together
from gluonish.initializer import InitDesc, Initializer
from gluonish.ndarray import NDArray, zeros
from gluonish.ndarray import load as load_arrays
from gluonish.ndarray import save as save_arrays
from gluonish.ndarray.array_writer import find_arrays, split_prefix
from gluonish.symbol import Symbol
from gluonish.symbol import load as load_symbol

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


class MissingWeightError(ArgumentError, RuntimeError):
    """Raised if a weight is missing in ``arg_params``; a RuntimeError, too, as in MXNet."""


class Weights:
    """Weights and auxiliary states on the CPU, by name.

    Attributes:
        arguments: The weights.
        auxiliary: The auxiliary states.
        stale: Whether the devices have newer values.
    """

    def __init__(
        self,
        arguments: Mapping[str, NDArray] | None = None,
        auxiliary: Mapping[str, NDArray] | None = None,
    ) -> None:
        self.arguments = dict(arguments or {})
        self.auxiliary = dict(auxiliary or {})
        self.stale = False


def first_values(
    arrays: Mapping[str, Sequence[NDArray]],
    given: Mapping[str, NDArray] | None,
    initializer: Initializer | Callable[..., Any] | None,
    attributes: Mapping[str, dict[str, Any]],
    *,
    allow_missing: bool,
) -> dict[str, NDArray]:
    """Return initial values: supplied values, and an initializer's values for other arrays.

    Random numbers are drawn in the order of sorted names, as in MXNet.

    Args:
        arrays: The arrays on the devices, by name.
        given: Supplied values by name; None initializes all.
        initializer: Called with an `InitDesc` and an array; None keeps the current values.
        attributes: Attributes of the network's variables.
        allow_missing: Whether ``given`` may lack some weights.

    Raises:
        ArgumentError: A weight is missing, or a shape differs.
    """
    found = {}
    for name in sorted(arrays):
        on_device = arrays[name][0]
        value = None if given is None else given.get(name)
        if value is not None:
            if value.shape != on_device.shape:
                raise ArgumentError(
                    f"init_params: expected {name} of shape {on_device.shape}, got {value.shape}"
                )
            found[name] = value.detach().astype(on_device.dtype).as_in_context(cpu())
            continue
        if given is not None and not allow_missing:
            raise MissingWeightError(
                f"init_params: expected {name} among the weights, got {sorted(given)}; pass "
                "allow_missing=True to initialize it"
            )
        if initializer is None:
            if given is None:
                raise ArgumentError(f"init_params: expected an initializer for {name}, got None")
            found[name] = on_device.detach().copyto(cpu())
            continue
        found[name] = zeros(on_device.shape, cpu(), on_device.dtype)
        initializer(InitDesc(name, attributes.get(name)), found[name])
    return {name: found[name].tostype(row[0].stype) for name, row in arrays.items()}
