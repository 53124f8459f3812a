"""FullyConnected as one product, which adds to the bias that stands in the output already."""

from types import ModuleType
from typing import Any

from gluonish.kernels.cupy.gemm import multiply

__all__ = ["fully_connected"]


def fully_connected(
    xp: ModuleType,
    out: Any,
    data: Any,
    weight: Any,
    bias: Any = None,
    *,
    num_hidden: int,
    **_: Any,
) -> None:
    """Fill ``out`` with the data times the transposed weight, plus the bias.

    16-bit results are rounded once, with the bias in them.
    """
    rows = out.size // num_hidden
    product = out.reshape(rows, num_hidden)
    if bias is not None:
        product[...] = bias.reshape(num_hidden)
    inputs = data.reshape(rows, weight.shape[1])
    multiply(xp, product, inputs, weight.T, accumulate=bias is not None)
