"""Batch normalization with known statistics, to recompute its output."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import Spec
from gluonish.ops.normalization.batch_norm import BATCH_NORM
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.precision import widen

_INPUTS = ("data", "gamma", "beta", "mean", "inverse_std")


def _input_names(attrs: Attrs) -> tuple[str, ...]:
    return (*_INPUTS, "addend") if attrs["add"] else _INPUTS


def _infer(data: Spec, *others: Spec, axis: int, add: bool, **_: object) -> tuple[Spec]:
    BATCH_NORM.infer(data, *others[:4], axis=axis)
    if add and others[4] != data:
        raise OperatorError(f"_batch_norm_apply: expected addend {data}, got {others[4]}")
    return (data,)


def _kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    inverse_std: Any,
    addend: Any = None,
    *,
    fix_gamma: bool,
    axis: int,
    relu: bool,
    **_: object,
) -> None:
    shape = tuple(n if i == axis % data.ndim else 1 for i, n in enumerate(data.shape))
    scale = inverse_std if fix_gamma else inverse_std * gamma
    wide = widen(data) - mean.reshape(shape)
    wide *= scale.reshape(shape)
    wide += beta.reshape(shape)
    # Rounded like the output of BatchNorm, before the addend.
    wide = wide.astype(out.dtype, copy=False)
    if addend is not None:
        wide = wide + addend
    if relu:
        xp.maximum(wide, out.dtype.type(0), out=out)
    else:
        out[...] = wide


BATCH_NORM_APPLY = register(
    Operator(
        "_batch_norm_apply",
        _infer,
        _kernel,
        None,
        doc=(
            "(data - mean) * inverse_std * gamma + beta, then addend added (add), then negative\n"
            "results replaced by 0 (relu): the result of BatchNorm with these statistics."
        ),
        inputs=(*_INPUTS, "addend"),
        active_inputs=_input_names,
        schema=Schema(
            fix_gamma=boolean(True), axis=integer(1), add=boolean(False), relu=boolean(False)
        ),
    )
)
