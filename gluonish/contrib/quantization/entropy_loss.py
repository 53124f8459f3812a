"""The warning that entropy calibration loses more than naive calibration does.

Naive ranges hold all values of the calibration data. Those of least relative entropy cut the
largest ones off, for finer steps; what that costs a network depends on it.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.contrib.quantization.collectors import Histogram
from gluonish.contrib.quantization.parameters import quantize_parameters
from gluonish.core.context import Context
from gluonish.ndarray import NDArray
from gluonish.ndarray.creation import zeros
from gluonish.symbol import Symbol

__all__ = ["FirstBatches", "naive_ranges", "warn_of_histograms", "warn_of_outputs"]

Ranges = Mapping[str, tuple[float, float]]

# Networks are compared on the first batches, up to this size.
_MAX_BYTES = 32 << 20


def naive_ranges(histograms: Mapping[str, Histogram]) -> dict[str, tuple[float, float]]:
    """Return the minimum and maximum of each output.

    Args:
        histograms: Histograms, as `LayerHistogramCollector` collects them.
    """
    return {name: (float(found[2]), float(found[3])) for name, found in histograms.items()}


class FirstBatches:
    """The first batches of calibration data that have the shapes of the first one, copied."""

    def __init__(self) -> None:
        self.batches: list[list[NDArray]] = []
        self._nbytes = 0

    def add(self, batch: Sequence[NDArray]) -> None:
        """Copy a batch, if there is room for it.

        Args:
            batch: Its arrays.
        """
        nbytes = sum(x.size * np.dtype(x.dtype).itemsize for x in batch)
        same = not self.batches or [x.shape for x in batch] == [x.shape for x in self.batches[0]]
        if same and (not self.batches or self._nbytes + nbytes <= _MAX_BYTES):
            self.batches.append([x.copy() for x in batch])
            self._nbytes += nbytes


def warn_of_outputs(
    what: str,
    symbol: Symbol,
    quantized: tuple[Symbol, Symbol],
    arrays: Mapping[str, NDArray],
    data_names: Sequence[str],
    first_batches: FirstBatches,
    context: Context,
) -> None:
    """Warn if a network quantized by entropy has a larger error than one by minimum and maximum.

    Args:
        what: Name of the calling function.
        symbol: The original graph.
        quantized: The graphs quantized by entropy, and naively.
        arrays: Parameters and auxiliary states of the original graph, by name.
        data_names: Names of the variables that are inputs.
        first_batches: Batches of the calibration data.
        context: Device to run on.
    """

    def run(graph: Symbol) -> list[Any]:
        return list(_outputs(graph, arrays, data_names, first_batches.batches, context))

    expected = run(symbol)
    entropy, naive = (_relative_error(run(graph), expected) for graph in quantized)
    _warn(what, "outputs", entropy, naive)


def warn_of_histograms(what: str, histograms: Mapping[str, Histogram], found: Ranges) -> None:
    """Warn if the values in histograms lose more in ranges found by entropy than in all of theirs.

    Args:
        what: Name of the calling function.
        histograms: Histograms, as `LayerHistogramCollector` collects them.
        found: The ranges found by entropy.
    """

    def error(ranges: Ranges) -> float:
        noise = [_noise(histograms[name], ranges[name]) for name in histograms]
        return math.sqrt(sum(noise) / len(noise)) if noise else 0.0

    _warn(what, "values of layers", error(found), error(naive_ranges(histograms)))


def _warn(what: str, of: str, entropy: float, naive: float) -> None:
    first, second = (f"{100 * error:.3g}" for error in (entropy, naive))
    if entropy > naive and first != second:  # NaN is no more than anything
        warnings.warn(
            f"{what}: expected entropy calibration to lose no more than naive, got {of} with a "
            f"relative error of {first} % on the calibration data, against {second} %; use "
            "calib_mode 'naive'",
            UserWarning,
            stacklevel=5,
        )


def _relative_error(found: Iterable[Any], expected: Sequence[Any]) -> float:
    noise = sum(float(np.square(x - y).sum()) for x, y in zip(found, expected, strict=True))
    signal = sum(float(np.square(y).sum()) for y in expected)
    return math.sqrt(noise / signal) if signal else math.nan


def _outputs(
    graph: Symbol,
    arrays: Mapping[str, NDArray],
    data_names: Sequence[str],
    batches: Sequence[Sequence[NDArray]],
    context: Context,
) -> Iterable[Any]:
    """Yield each output of a graph for each batch, as float64."""
    every = {**arrays, **quantize_parameters(graph, arrays)}
    every |= dict(zip(data_names, batches[0], strict=False))
    every |= _missing(graph, every, context)
    args = {name: every[name] for name in graph.list_arguments()}
    states = {name: every[name] for name in graph.list_auxiliary_states()}
    executor = graph.bind(context, args, grad_req="null", aux_states=states)
    inputs = set(args)
    for batch in batches:
        pairs = zip(data_names, batch, strict=False)
        given: Any = {name: x for name, x in pairs if name in inputs}
        for output in executor.forward(**given):
            yield output.asnumpy().astype(np.float64)


def _missing(graph: Symbol, every: Mapping[str, NDArray], context: Context) -> dict[str, NDArray]:
    """Return zeros for the variables without values, such as labels."""
    names = graph.list_arguments()
    if all(name in every for name in names):
        return {}
    shapes, _, _ = graph.infer_shape(**{n: every[n].shape for n in names if n in every})
    pairs = zip(names, shapes, strict=True)
    return {name: zeros(shape, ctx=context) for name, shape in pairs if name not in every}


def _noise(histogram: Histogram, ends: tuple[float, float]) -> float:
    """Return the squared error of a histogram's values in bytes, divided by their squares."""
    counts, edges, low = histogram[:3]
    values = (np.asarray(edges[:-1], np.float64) + edges[1:]) / 2
    limit = max(map(abs, ends))
    first, last = (0, 255) if low >= 0 else (-127, 127)
    step = limit / last or 1.0
    made = np.clip(np.rint(values / step), first, last) * step
    signal = float((counts * values**2).sum())
    return float((counts * (made - values) ** 2).sum()) / signal if signal else 0.0
