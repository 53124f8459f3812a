"""oneDNN's elementwise kernels, concatenation and reductions.

Only a few are registered: generated kernels compute elementwise functions faster, and the library's
reductions are fast along innermost axes only. For NaN its relu returns 0, its exp infinity, and its
maximum the largest of the other numbers.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.onednn.api import AlgorithmKind
from gluonish.kernels.onednn.binding import is_supported
from gluonish.kernels.onednn.concat import concat
from gluonish.kernels.onednn.eltwise import prelu, weighted_sum
from gluonish.kernels.onednn.register import planned
from gluonish.kernels.onednn.softmax import reduction
from gluonish.ops.elementwise.arithmetic import ADD_N
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.nn.leaky_relu import LEAKY_RELU
from gluonish.ops.reductions.reduction import MEAN, SUM, reduced_axes
from gluonish.ops.registry import Attrs
from gluonish.ops.shape.concat import CONCAT

# Elements below which NumPy is as fast as the library.
_SMALL_PRELU = 1 << 12
_SMALL_SUM = 1 << 22
_SMALL_NARROW_SUM = 1 << 14  # in bfloat16
_SMALL_CONCAT = 1 << 21
_SMALL_REDUCTION = 1 << 15
# Maximum length of one sum: the library adds terms sequentially, NumPy pairwise and more exactly.
_LONG_SUM = 1 << 12


def _supports_prelu(data: Spec, *rest: Spec, act_type: str, **_: Any) -> bool:
    if act_type != "prelu" or data.size < _SMALL_PRELU or not 2 <= len(data.shape) <= 5:
        return False
    # The library has no optimized implementation for one factor for all channels.
    return (
        1 < data.shape[1] == rest[0].size and len(rest[0].shape) == 1 and is_supported(data, *rest)
    )


def _prelu(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    return prelu(outputs[0], inputs[0], inputs[1])


def _supports_sum(*specs: Spec, **_: Any) -> bool:
    least = _SMALL_SUM if specs[0].dtype == FLOAT32 else _SMALL_NARROW_SUM
    return (
        len(specs) > 1 and bool(specs[0].shape) and specs[0].size >= least and is_supported(*specs)
    )


def _sum(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    return weighted_sum(outputs[0], inputs, (1.0,) * len(inputs))


def _supports_concat(*specs: Spec, dim: int, **_: Any) -> bool:
    elements = sum(spec.size for spec in specs)
    return dim == 1 and len(specs) > 1 and elements >= _SMALL_CONCAT and is_supported(*specs)


def _concat(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    if all(array.flags.c_contiguous for array in inputs):
        raise RefusedError("concat: expected arrays with channels last, got contiguous ones")
    return concat(outputs, inputs, attrs)


def _supports_reduction(
    data: Spec, *, axis: tuple[int, ...] | None, exclude: bool, **_: Any
) -> bool:
    if data.size < _SMALL_REDUCTION or not is_supported(data):
        return False
    rank = len(data.shape)
    axes = reduced_axes("reduction", rank, axis, exclude)
    is_last = axes == tuple(range(rank - len(axes), rank))
    return is_last and 1 < math.prod(data.shape[i] for i in axes) <= _LONG_SUM


def _reduction(kind: AlgorithmKind) -> Callable[[Sequence[Array], Sequence[Array], Attrs], Bound]:
    def plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
        (data,) = inputs
        if not data.flags.c_contiguous:
            raise RefusedError("reduction: expected a contiguous array, got another layout")
        axes = reduced_axes("reduction", data.ndim, attrs["axis"], attrs["exclude"])
        return reduction(outputs[0], data, axes, kind)

    return plan


# Operator, name of the kernel, predicate, and plan.
KERNELS = planned(
    (LEAKY_RELU, "prelu", _supports_prelu, _prelu),
    (ADD_N, "sum", _supports_sum, _sum),
    (CONCAT, "concat", _supports_concat, _concat),
    (SUM, "reduced_sum", _supports_reduction, _reduction(AlgorithmKind.REDUCTION_SUM)),
    (MEAN, "mean", _supports_reduction, _reduction(AlgorithmKind.REDUCTION_MEAN)),
)
