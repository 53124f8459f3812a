"""A picture of the errors of a quantized network's layers."""

import math
from collections.abc import Sequence
from pathlib import Path

from gluonish.contrib.quantization import LayerError
from gluonish.tools.demo import new_figure, save_figure

_ROW_INCHES, _MARGIN_INCHES = 0.26, 1.2
_MOST_INCHES = 60.0


def draw(layers: Sequence[LayerError], path: str) -> None:
    """Draw a bar of each layer's signal-to-noise ratio, the first layer on top.

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
