"""_contrib_count_sketch: hash columns into fewer columns, with signs.

References:
    Y. Gao, O. Beijbom, N. Zhang, T. Darrell, Compact Bilinear Pooling, 2016.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import zero_gradient
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.vision.points import add_points, gather_points
from gluonish.ops.vision.regions import check_floating

_NAME = "_contrib_count_sketch"


def _infer(
    data: Spec, h: Spec, s: Spec, *, out_dim: int, processing_batch_size: int
) -> tuple[Spec]:
    check_floating(_NAME, data, h, s)
    if not data.shape:
        raise OperatorError(f"{_NAME}: expected data of at least 1 axis, got {data.shape}")
    columns = data.shape[-1]
    for name, spec in (("h", h), ("s", s)):
        if spec.shape not in ((columns,), (1, columns)):
            raise OperatorError(
                f"{_NAME}: expected {name} (1, {columns}) for data {data.shape}, got {spec.shape}"
            )
    return (Spec(limited(_NAME, (*data.shape[:-1], out_dim)), data.dtype),)


def _targets(xp: ModuleType, h: Any, out_dim: int) -> Any:
    """Return the output column of each input column, -1 if there is none."""
    wide = widen(h).reshape(1, -1)
    inside = (wide >= 0) & (wide < out_dim)
    return xp.where(inside, wide, -1).astype(INT64)


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    h: Any,
    s: Any,
    *,
    out_dim: int,
    processing_batch_size: int,
) -> None:
    signed = (widen(data) * widen(s).reshape(-1)).reshape(1, -1, data.shape[-1])
    total = xp.zeros((1, signed.shape[1], out_dim), signed.dtype)
    add_points(xp, total, _targets(xp, h, out_dim), signed)
    out[...] = total.reshape(out.shape)


def _targets_kernel(xp: ModuleType, out: Any, h: Any, *, out_dim: int) -> None:
    out[...] = _targets(xp, h, out_dim)


_TARGETS = register(
    Operator(
        "_count_sketch_places",
        lambda h, *, out_dim: (Spec((1, h.size), INT64),),
        _targets_kernel,
        zero_gradient,
        doc="Return the column of the sketch that each column is added to, -1 for none.",
        inputs=("h",),
        schema=Schema(out_dim=integer(low=1)),
    )
)


def _gradient(
    g: V, data: V, h: V, s: V, *, out_dim: int, processing_batch_size: int
) -> tuple[Any, None, None]:
    def of_data() -> Any:
        rows = 1
        for extent in g.shape[:-1]:
            rows *= extent
        targets = apply(_TARGETS, (h,), {"out_dim": out_dim})
        gathered = gather_points(reshape(g, (1, rows, out_dim)), targets)
        signs = reshape(s, (1, 1, data.shape[-1]))
        return reshape(gathered * signs, data.shape)

    return of_data, None, None


COUNT_SKETCH = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Compute the count sketch: multiply each column of data by its sign in s, and add\n"
            "it to the column of the output with the index in h.\n\n"
            "Columns whose h is outside [0, out_dim) are skipped. h and s have no gradient.\n"
            "processing_batch_size is accepted and ignored. MXNet has this operator on GPUs\n"
            "only.\n\n"
            "Shapes: data (..., D), h and s (1, D), output (..., out_dim)."
        ),
        inputs=("data", "h", "s"),
        schema=Schema(out_dim=integer(low=1), processing_batch_size=integer(32, low=1)),
    )
)
