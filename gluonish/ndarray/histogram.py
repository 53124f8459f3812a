"""``nd.histogram``."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.contrib.histogram import HISTOGRAM
from gluonish.ops.registry import apply


def histogram(
    a: NDArray,
    bins: int | NDArray = 10,
    range: Sequence[float] | None = None,  # noqa: A002  # named by MXNet
) -> Sequence[Any]:
    """Compute a histogram: the number of elements in each bin, and the bin edges.

    Args:
        a: Any shape.
        bins: Number of bins of equal width, or an ascending array of their edges.
        range: Lower edge of the first and upper edge of the last bin, for a number of bins. By
            default the minimum and maximum of ``a``, widened by 0.5 on each side if they are equal;
            the counts are float32 then, as in MXNet.

    Returns:
        Counts, (edges - 1,), and edges, (edges,); a tuple by default, a list with a range or edges.

    Raises:
        ArgumentError: There is no range, and ``a`` is empty or not finite.
        OperatorError: ``bins`` and ``range`` are inconsistent.
    """
    if isinstance(bins, NDArray):
        found: list[Any] = apply(HISTOGRAM, (a, bins), {"bin_cnt": None, "range": None})
        return found
    args = {"bin_cnt": bins, "range": _extremes(a) if range is None else range}
    found = apply(HISTOGRAM, (a,), HISTOGRAM.schema.parse("histogram", args))
    return found if range is not None else tuple(x.astype("float32") for x in found)


def _extremes(a: NDArray) -> tuple[float, float]:
    values = a.asnumpy()
    if not values.size:
        raise ArgumentError("histogram: expected elements or a range, got an empty array")
    low, high = float(values.min()), float(values.max())
    if not low - low == high - high == 0:
        raise ArgumentError(f"histogram: expected finite elements or a range, got {low} to {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)
