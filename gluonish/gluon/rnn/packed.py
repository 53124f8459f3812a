"""One vector of the parameters of a recurrent layer, as in MXNet 2.0, or separate arrays."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from gluonish.core.errors import ParameterError
from gluonish.ndarray import NDArray, array
from gluonish.ops.recurrent.layout import (
    Weights,
    layer_dims,
    parameter_count,
    split_parameters,
    vector_dims,
)

VECTOR = "rnn_param"


class _Layer(Protocol):
    """The sizes of a recurrent layer."""

    _mode: str
    _num_layers: int
    _dir: int
    _hidden_size: int
    _projection_size: int | None
    _is_packed: bool


def _sizes(layer: _Layer) -> tuple[str, int, int, int, int | None]:
    return (
        layer._mode,
        layer._num_layers,
        layer._dir,
        layer._hidden_size,
        layer._projection_size,
    )


def packed_size(layer: _Layer, inputs: int) -> int:
    """Return the length of a layer's vector of parameters, for a number of input features."""
    return parameter_count(layer_dims(*_sizes(layer), inputs))


def _runs(layer: _Layer) -> Iterator[tuple[str, str]]:
    """Yield the name of each layer and direction, and that of its cell, in the vector's order."""
    for i in range(layer._num_layers):
        for side in "lr"[: layer._dir]:
            yield f"{side}{i}", f"_unfused.{i}.{side}_cell" if layer._dir == 2 else f"_unfused.{i}"


def fit_arrays(layer: _Layer, start: str, loaded: dict[str, NDArray]) -> None:
    """Convert the arrays of a layer in a file to the form that the layer has, in place.

    Args:
        layer: The layer.
        start: Beginning of the names of its arrays, empty or ending in a dot.
        loaded: Arrays by name.

    Raises:
        ParameterError: A vector's length is not that of the layer's parameters.
    """
    if layer._is_packed and start + VECTOR not in loaded:
        _join(layer, start, loaded)
    elif not layer._is_packed and start + VECTOR in loaded:
        _split(layer, start, loaded)


def _split(layer: _Layer, start: str, loaded: dict[str, NDArray]) -> None:
    values = loaded.pop(start + VECTOR).asnumpy()
    dims = vector_dims(*_sizes(layer), values.size) if values.ndim == 1 else None
    if dims is None:
        raise ParameterError(
            f"load_parameters: expected {start}{VECTOR} to be a vector of the parameters of "
            f"{layer!r}, got shape {values.shape}"
        )
    for (_, cell), weights in zip(_runs(layer), split_parameters(values, dims), strict=True):
        for name, found in _labelled(weights):
            loaded[f"{start}{cell}.{name}"] = array(found, dtype=values.dtype)


def _labelled(weights: Weights) -> Iterator[tuple[str, Any]]:
    products = ("i2h", "h2h", "h2r")
    for product in products:
        if getattr(weights, product) is not None:
            yield f"{product}_weight", getattr(weights, product)
    yield "i2h_bias", weights.i2h_bias
    yield "h2h_bias", weights.h2h_bias


def _join(layer: _Layer, start: str, loaded: dict[str, NDArray]) -> None:
    """Join separate arrays, if there are any, under the names of MXNet 1.x."""
    weights = ("i2h_weight", "h2h_weight", *(["h2r_weight"] if layer._projection_size else []))
    names = [
        (f"{start}{cell}.{name}", f"{start}{run}_{name}")
        for kinds in (weights, ("i2h_bias", "h2h_bias"))
        for run, cell in _runs(layer)
        for name in kinds
    ]
    for column in zip(*names, strict=True):
        if all(name in loaded for name in column):
            values = [loaded.pop(name).asnumpy() for name in column]
            joined = np.concatenate([x.ravel() for x in values])
            loaded[start + VECTOR] = array(joined, dtype=joined.dtype)
            return
