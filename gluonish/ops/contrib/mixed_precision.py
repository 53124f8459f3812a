"""amp_cast and amp_multicast: casts inserted by mixed precision.

Both operators cast floats only; integer arrays are returned unchanged.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, dtype_attr, integer
from gluonish.core.spec import PartialSpec, Spec, merge_shapes
from gluonish.ops.elementwise.cast import cast, convert
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, register


def _cast_dtype(data: np.dtype[Any], target: np.dtype[Any]) -> np.dtype[Any]:
    return target if is_floating(data) else data


def _cast_infer(data: Spec, *, dtype: np.dtype[Any]) -> tuple[Spec]:
    return (Spec(data.shape, _cast_dtype(data.dtype, dtype)),)


def _cast_kernel(xp: ModuleType, out: Any, data: Any, *, dtype: np.dtype[Any]) -> None:
    convert(out, data)


def _cast_gradient(g: V, data: Any, *, dtype: np.dtype[Any]) -> tuple[Any]:
    return (cast(g, data.dtype),)


def _cast_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    known = inputs[0].dtype
    dtype = outputs[0].dtype if known is None else _cast_dtype(known, attrs["dtype"])
    shape = merge_shapes(inputs[0].shape, outputs[0].shape, "amp_cast")
    inputs[0] = PartialSpec(shape, known)
    outputs[0] = PartialSpec(shape, dtype)


AMP_CAST = register(
    Operator(
        "amp_cast",
        _cast_infer,
        _cast_kernel,
        _cast_gradient,
        doc="Cast floating-point data to dtype, and the gradient back; return others unchanged.",
        schema=Schema(dtype=dtype_attr()),
        shapes=ShapeFacts(complete=_cast_complete),
        execution=Execution(elementwise=True),
    )
)

# From narrow to wide; bfloat16 has a wider range than float16.
_WIDTHS = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)


def _common(dtypes: list[np.dtype[Any]], narrow: bool) -> np.dtype[Any]:
    """Return the widest or narrowest floating dtype; float16 with bfloat16 widens to float32."""
    floats = {dtype for dtype in dtypes if is_floating(dtype)}
    if not narrow and floats == {FLOAT16, BFLOAT16}:
        return FLOAT32
    ordered = [dtype for dtype in _WIDTHS if dtype in floats] or [FLOAT32]
    return ordered[0 if narrow else -1]


def _multicast_infer(*data: Spec, num_outputs: int, cast_narrow: bool) -> tuple[Spec, ...]:
    if len(data) != num_outputs:
        raise OperatorError(f"amp_multicast: expected {num_outputs} arrays, got {len(data)}")
    common = _common([x.dtype for x in data], cast_narrow)
    return tuple(Spec(x.shape, _cast_dtype(x.dtype, common)) for x in data)


def _multicast_kernel(xp: ModuleType, out: Any, *data: Any, **_: object) -> None:
    for target, x in zip(out if isinstance(out, tuple) else (out,), data, strict=True):
        convert(target, x)


def _multicast_gradient(g: Any, *data: Any, **_: object) -> tuple[Any, ...]:
    return tuple(
        None if head is None else cast(head, x.dtype) for head, x in zip(g, data, strict=True)
    )


def _multicast_complete(
    inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs
) -> None:
    dtypes = [x.dtype for x in inputs]
    known = [dtype for dtype in dtypes if dtype is not None]
    common = _common(known, attrs["cast_narrow"]) if len(known) == len(dtypes) else None
    for i, x in enumerate(inputs):
        shape = merge_shapes(x.shape, outputs[i].shape, "amp_multicast")
        inputs[i] = PartialSpec(shape, x.dtype)
        dtype = outputs[i].dtype
        if common is not None and x.dtype is not None:
            dtype = _cast_dtype(x.dtype, common)
        outputs[i] = PartialSpec(shape, dtype)


def _count(attrs: Attrs) -> int:
    count: int = attrs["num_outputs"]
    return count


AMP_MULTICAST = register(
    Operator(
        "amp_multicast",
        _multicast_infer,
        _multicast_kernel,
        _multicast_gradient,
        doc=(
            "Cast all floating-point arrays to the widest dtype among them, or with cast_narrow\n"
            "to the narrowest; return integer arrays unchanged. float16 and bfloat16 together\n"
            "become float32.\n\n"
            "Shapes: arrays any, outputs the same, one for each."
        ),
        inputs=("data",),
        schema=Schema(num_outputs=integer(low=1), cast_narrow=boolean(False)),
        outputs=_count,
        variadic="num_outputs",
        shapes=ShapeFacts(complete=_multicast_complete),
    )
)
