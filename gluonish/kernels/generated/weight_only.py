"""weight_only_dense on few rows, by one generated kernel, and on more rows.

Few rows are bound by reading the weight; see `weight_only_code`. More rows are bound by
multiplications: blocks of the weight become floating, and oneDNN multiplies them by float32 data;
see `wide_products`.
"""

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.weight_only_code import Form, kernel, width
from gluonish.kernels.generated.wide_products import dense, multiplies
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.quantization.weight_only import WEIGHT_ONLY_DENSE
from gluonish.ops.registry import Attrs

_MOST_ROWS = 8  # of the data; more are bound by multiplications
_MOST_ELEMENTS = 1 << 16  # of the data, which are converted to the stack
_LEAST_ELEMENTS = 1 << 16  # of the weight for a thread
_WORTH = 1 << 16  # elements of the weight from which a kernel is worth its compilation
_KINDS = (FLOAT32, BFLOAT16)


def _has_dtypes(data: Spec, weight: Spec, scale: Spec, *bias: Spec) -> bool:
    dtypes = data.dtype in _KINDS and scale.dtype == FLOAT32
    return dtypes and MXNET_USE_FUSION.value and bool(data.size and weight.size)


def _supports(
    data: Spec, weight: Spec, scale: Spec, *bias: Spec, group_size: int | None, **_: Any
) -> bool:
    if not _has_dtypes(data, weight, scale) or weight.size < _WORTH:
        return False
    if data.size > _MOST_ELEMENTS or data.size // weight.shape[1] > _MOST_ROWS:
        return False
    features = weight.shape[1]
    integers = _uses_integers(data.dtype, features, group_size)
    return group_size is None or group_size % width(integers=integers) == 0


def _uses_integers(dtype: Any, features: int, group_size: int | None) -> bool:
    """Whether the data become integers: bfloat16 where all features are loaded as vectors."""
    return dtype == BFLOAT16 and (group_size or features) % width(integers=True) == 0


def _require_contiguous(*arrays: Array) -> None:
    """Refuse arrays with gaps.

    Raises:
        RefusedError: An array is not contiguous.
    """
    if not all(array.flags.c_contiguous for array in arrays):
        raise RefusedError("weight_only: expected contiguous arrays, got strided ones")


def _plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    _require_contiguous(*outputs, *inputs)
    data, weight = inputs[:2]
    units, features = weight.shape
    form = Form(
        rows=data.size // features,
        kind=str(data.dtype),
        bias=not attrs["no_bias"],
        group=attrs["group_size"] or 0,
        integers=_uses_integers(data.dtype, features, attrs["group_size"]),
    )
    return Bound(_plan_of(form, units, features))


@lru_cache(1024)
def _plan_of(form: Form, units: int, features: int) -> KernelPlan:
    params = [*[0] * (4 + form.bias), units, features]
    return KernelPlan(kernel(form), params, units, max(1, _LEAST_ELEMENTS // features))


# A step is a group of elements that share a scale.
_FLOATING = """
def body(begin, end, params):
    weight, scales, out = i8(params[0]), f32(params[1]), f32(params[2])
    count = params[3]
    for i in range(begin, end):
        scale = scales[i]
        at = i * count
        for j in range(count):
            independent()
            out[at + j] = float32(weight[at + j]) * scale
"""


@lru_cache(256)
def _floating_plan(groups: int, count: int) -> KernelPlan:
    return KernelPlan(
        compile_kernel(_FLOATING), (0, 0, 0, count), groups, max(1, _LEAST_ELEMENTS // count)
    )


def _supports_blocks(data: Spec, weight: Spec, scale: Spec, *bias: Spec, **_: Any) -> bool:
    return _has_dtypes(data, weight, scale) and weight.size >= _WORTH


def _blocks(
    xp: ModuleType,
    out: Array,
    data: Array,
    weight: Array,
    scale: Array,
    *bias: Array,
    **_: Any,
) -> None:
    _require_contiguous(out, data, weight, scale, *bias)
    units, features = weight.shape

    def widen(block: slice, to: Array) -> None:
        scales = scale[block]
        _floating_plan(scales.size, to.size // scales.size).run(weight[block], scales, to)

    named = {"bias": bias[0]} if bias else {}
    dense(out.reshape(-1, units), data.reshape(-1, features), units, widen, named)


KERNELS = (
    (
        WEIGHT_ONLY_DENSE,
        FastKernel(
            *(BackEnd.GENERATED, "weight_only", _supports),
            plan=_plan,
            enabled=available,
            makes=_KINDS,
        ),
    ),
    (
        WEIGHT_ONLY_DENSE,
        FastKernel(
            *(BackEnd.GENERATED, "weight_only_blocks", _supports_blocks),
            run=_blocks,
            enabled=multiplies,
            makes=_KINDS,
        ),
    ),
)
