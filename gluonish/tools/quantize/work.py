"""Implements ``gluonish quantize``: reads networks and data, quantizes, compares, plots errors."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gluonish.contrib.quantization import LayerError, layer_errors, quantize_net_v2
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.tools.demo import new_figure, save_figure
from gluonish.tools.table import table

_ROW_INCHES, _MARGIN_INCHES = 0.26, 1.2
_MOST_INCHES = 60.0


def draw(layers: Sequence[LayerError], path: str) -> None:
    """Plot a bar for each layer's signal-to-noise ratio, with the first layer on top.

    Args:
        layers: The result of `layer_errors`.
        path: The PNG file to write.
    """
    finite = [x.signal_to_noise_db for x in layers if math.isfinite(x.signal_to_noise_db)]
    most = max(finite, default=1.0)
    height = min(_MOST_INCHES, _MARGIN_INCHES + _ROW_INCHES * len(layers))
    figure = new_figure(9, height)
    axes = figure.add_subplot()
    ratios = [x.signal_to_noise_db if math.isfinite(x.signal_to_noise_db) else most for x in layers]
    colors = {"convolution": "#3b6ea8", "dense": "#b5652a"}
    rows = range(len(layers))
    axes.barh(rows, ratios, color=[colors.get(x.operator, "#8a8a8a") for x in layers])
    axes.set_yticks(rows, [x.name for x in layers], fontsize=7)
    axes.set_ylim(len(layers) - 0.4, -0.6)
    axes.set_xlabel("signal to noise (dB): higher is closer to the network in floating point")
    for row, layer in enumerate(layers):
        axes.text(ratios[row], row, f" {layer.max_error:.2g}", va="center", fontsize=6)
    axes.set_title("Layers of the quantized network, with the largest error of each", fontsize=9)
    axes.margins(x=0.08)
    axes.grid(axis="x", alpha=0.3)
    save_figure(figure, Path(path))


_HEAD = ("layer", "operator", "dtype", "range", "mean error", "max error", "SNR")


def _network(symbol: str, params: str, name: str) -> SymbolBlock:
    return SymbolBlock.imports(symbol, name, params)


def _data(path: str) -> Any:
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(f"{path}: expected an array as a .npy file, got {error}") from error
    if not isinstance(found, np.ndarray) or not found.ndim or not len(found):
        raise ArgumentError(f"{path}: expected an array of examples, got {type(found).__name__}")
    return found.astype(np.float32) if found.dtype == np.float64 else found


def convert(arguments: argparse.Namespace) -> tuple[str, str]:
    """Quantize a network, and return the paths of its new files.

    Args:
        arguments: Arguments of ``gluonish quantize convert``.
    """
    data, size = _data(arguments.data), max(1, arguments.batch_size)
    network = _network(arguments.symbol, arguments.params, arguments.input)
    quantized = quantize_net_v2(
        network,
        quantize_mode=arguments.quantize_mode,
        quantize_granularity="channel-wise" if arguments.channel_wise else "tensor-wise",
        exclude_layers=arguments.exclude,
        calib_data=_Batches(data, size),
        calib_mode=arguments.mode,
    )
    written: tuple[str, str] = quantized.export(arguments.output)
    return written


class _Batches:
    """Batches of an array, as calibration data.

    Args:
        data: Array of examples.
        size: Number of examples in a batch.

    Attributes:
        num_data: Number of examples.
    """

    def __init__(self, data: Any, size: int) -> None:
        self._data = data
        self._size = size
        self.num_data = len(data)

    def __iter__(self) -> Any:
        return (
            self._data[start : start + self._size] for start in range(0, self.num_data, self._size)
        )


def report(arguments: argparse.Namespace) -> list[LayerError]:
    """Return the layers' errors, and plot them if requested.

    Args:
        arguments: Arguments of ``gluonish quantize report``.
    """
    network = _network(arguments.symbol, arguments.params, arguments.input)
    symbol, params = arguments.quantized
    quantized = _network(symbol, params, arguments.input)
    data = _data(arguments.data)[: max(1, arguments.batch_size)]
    found = layer_errors(network, quantized, data)
    if arguments.plot:
        draw(found, arguments.plot)
    return list(found)


def layer_table(found: Sequence[LayerError], width: int | None = None) -> str:
    """Return the layers' errors as lines of text.

    Args:
        found: The result of `layer_errors`.
        width: Columns of the terminal; None for any width.
    """
    return table([_HEAD, *map(_row, found)], width, right=range(3, len(_HEAD)))


def _row(layer: LayerError) -> tuple[str, ...]:
    ratio = layer.signal_to_noise_db
    return (
        *(layer.name, layer.operator, layer.dtype),
        f"{layer.low:.4g} .. {layer.high:.4g}",
        *(f"{layer.mean_error:.3g}", f"{layer.max_error:.3g}"),
        f"{ratio:.1f} dB" if math.isfinite(ratio) else "exact",
    )
