"""_contrib_calibrate_entropy: the quantization threshold of least information loss.

References:
    S. Migacz, 8-bit Inference with TensorRT, GPU Technology Conference 2017.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.quantization.ranges import RANGE, complete_ranges
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.host import to_host

_NAME = "_contrib_calibrate_entropy"
_SMALL = 1e-4  # moved from nonempty bins to each empty bin, so that logarithms are finite


def _infer(hist: Spec, hist_edges: Spec, *, num_quantized_bins: int) -> tuple[Spec, Spec]:
    bins = hist.size
    if len(hist.shape) != 1 or hist_edges.shape != (bins + 1,):
        raise OperatorError(
            f"{_NAME}: expected hist (bins,) and hist_edges (bins + 1,), got {hist.shape} and "
            f"{hist_edges.shape}"
        )
    if not is_floating(hist_edges.dtype):
        raise OperatorError(f"{_NAME}: expected floating edges, got {hist_edges.dtype.name}")
    if not 1 <= num_quantized_bins <= bins:
        raise OperatorError(
            f"{_NAME}: expected num_quantized_bins from 1 to the {bins} bins of hist, got "
            f"{num_quantized_bins}"
        )
    return RANGE, RANGE


def _smooth(shares: Any) -> Any | None:
    """Move a small share from nonempty bins to empty bins; return None if too few are nonempty."""
    empty = shares == 0
    nonempty = shares.size - int(empty.sum())
    if not nonempty:
        return None
    loss = _SMALL * (shares.size - nonempty) / nonempty
    if loss >= 1:
        return None
    return shares + _SMALL * empty - loss * ~empty


def _quantized(sliced: Any, reference: Any, bins: int) -> Any:
    """Merge a distribution into ``bins`` bins, and spread them over the nonempty source bins."""
    merged = sliced.size // bins
    starts = np.arange(bins) * merged
    sums = np.add.reduceat(sliced, starts)
    used = np.add.reduceat((reference != 0).astype(np.float64), starts)
    means = np.where(used > 0, sums / np.where(used > 0, used, 1), 0)
    lengths = np.full(bins, merged)
    lengths[-1] = sliced.size - starts[-1]
    return np.where(reference != 0, np.repeat(means, lengths), 0)


def _divergence(reference: Any, other: Any) -> float:
    """Return the Kullback-Leibler divergence of ``reference`` from ``other`` in nats."""
    p, q = _smooth(reference), _smooth(other)
    if p is None or q is None:
        return float("inf")
    p, q = p / p.sum(), q / q.sum()
    return float((p * np.log(p / q)).sum())


def _kernel(
    xp: ModuleType, out: Any, hist: Any, hist_edges: Any, *, num_quantized_bins: int
) -> None:
    counts = to_host(xp, hist).astype(np.float64)
    edges = to_host(xp, hist_edges).astype(np.float64)
    middle, half = counts.size // 2, num_quantized_bins // 2
    best = (float("inf"), float(edges[-1]))
    for reach in range(half, middle + 1):
        start, stop = middle - reach, min(middle + reach + 1, counts.size)
        sliced = counts[start:stop]
        reference = sliced.copy()
        reference[0] += counts[:start].sum()
        reference[-1] += counts[stop:].sum()
        if sliced.size < num_quantized_bins:
            continue
        spread = _quantized(sliced, reference, num_quantized_bins)
        best = min(best, (_divergence(reference, spread), float(edges[stop])))
    out[0][...] = best[1]
    out[1][...] = best[0]


CALIBRATE_ENTROPY = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Compute the threshold with the least relative entropy (information loss) when a\n"
            "histogram is quantized, and that entropy.\n\n"
            "The histogram is symmetric around 0, and is quantized to num_quantized_bins bins.\n\n"
            "Shapes: hist (bins,), hist_edges (bins + 1,), outputs (1,) and (1,)."
        ),
        inputs=("hist", "hist_edges"),
        schema=Schema(num_quantized_bins=integer(255)),
        outputs=2,
        output_names=("threshold", "divergence"),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=complete_ranges(None)),
    )
)
