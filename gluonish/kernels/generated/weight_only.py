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
from gluonish.core.dtype import BFLOAT16, FLOAT32, INT8
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.weight_only_code import Form, kernel, width
from gluonish.kernels.generated.wide_products import dense, multiplies
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.quantization.weight_only import WEIGHT_ONLY_DENSE, features_in
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
    data: Spec, weight: Spec, scale: Spec, *bias: Spec, group_size: int | None, bits: int, **_: Any
) -> bool:
    if not _has_dtypes(data, weight, scale) or weight.size < _WORTH:
        return False
    if data.size > _MOST_ELEMENTS or data.size // features_in(weight) > _MOST_ROWS:
        return False
    features = features_in(weight)
    integers = _uses_integers(data.dtype, features, group_size, bits)
    count = width(integers=integers, bits=bits)
    if group_size is None:
        return bits == 8 or features % count == 0
    return group_size % count == 0


def _uses_integers(dtype: Any, features: int, group_size: int | None, bits: int) -> bool:
    """Whether the data become integers: bfloat16 where all features are loaded as vectors."""
    return dtype == BFLOAT16 and (group_size or features) % width(integers=True, bits=bits) == 0


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
    units, features = len(weight), features_in(weight)
    group_size, bits = attrs["group_size"], attrs["bits"]
    form = Form(
        rows=data.size // features,
        kind=str(data.dtype),
        bias=not attrs["no_bias"],
        group=group_size or 0,
        integers=_uses_integers(data.dtype, features, group_size, bits),
        bits=bits,
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


# The same of bytes of two elements, which may be of two groups.
_FLOATING_PAIRS = """
def body(begin, end, params):
    weight, scales, out = i8(params[0]), f32(params[1]), f32(params[2])
    count, group = params[3], params[4]
    for i in range(begin, end):
        at = i * count
        groups = 2 * count // group
        for j in range(count):
            independent()
            byte = int64(weight[at + j])
            first = i * groups + 2 * j // group
            second = i * groups + (2 * j + 1) // group
            out[2 * (at + j)] = float32(((byte & 15) ^ 8) - 8) * scales[first]
            out[2 * (at + j) + 1] = float32(byte >> 4) * scales[second]
"""


@lru_cache(256)
def _floating_plan(groups: int, count: int) -> KernelPlan:
    return KernelPlan(
        compile_kernel(_FLOATING), (0, 0, 0, count), groups, max(1, _LEAST_ELEMENTS // count)
    )


@lru_cache(256)
def _floating_pairs_plan(units: int, count: int, group: int) -> KernelPlan:
    least = max(1, _LEAST_ELEMENTS // count)
    return KernelPlan(compile_kernel(_FLOATING_PAIRS), (0, 0, 0, count, group), units, least)


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
    units, features = len(weight), features_in(weight)

    def widen(block: slice, to: Array) -> None:
        scales = scale[block]
        size = to.size // scales.size
        if weight.dtype == INT8:
            plan = _floating_plan(scales.size, size)
        else:
            plan = _floating_pairs_plan(len(scales), features // 2, size)
        plan.run(weight[block], scales, to)

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
