"""The files of an exported model: its graph as JSON, and its parameters by name."""

import operator
import os
from collections.abc import Collection, Mapping

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.files import path_text, written_together
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray, save
from gluonish.ndarray.array_writer import split_prefix
from gluonish.symbol import Symbol


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
