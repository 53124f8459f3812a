"""Batch normalization with fixed statistics, folded into the preceding weight and bias.

Also `_batch_norm_apply`: batch normalization with known statistics, to recompute its output.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.normalization.batch_norm import BATCH_NORM
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.precision import accumulator, widen

_STATISTICS = ("gamma", "beta", "moving_mean", "moving_var")


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("weight", *(() if attrs["no_bias"] else ("bias",)), *_STATISTICS)


def _infer(weight: Spec, *rest: Spec, no_bias: bool, **_: object) -> tuple[Spec, Spec]:
    bias = Spec(weight.shape[:1], weight.dtype)
    statistic = Spec(weight.shape[:1], accumulator(weight.dtype))
    expected = [statistic] * len(_STATISTICS) if no_bias else [bias, *[statistic] * 4]
    if list(rest) != expected:
        raise OperatorError(
            f"_fold_batch_norm: expected {', '.join(map(str, expected))} for weight {weight}, got "
            f"{', '.join(map(str, rest))}"
        )
    return weight, bias


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    weight: Any,
    *rest: Any,
    eps: float,
    fix_gamma: bool,
    **_: object,
) -> None:
    gamma, beta, mean, variance = rest[-4:]
    scale = 1 / xp.sqrt(variance + variance.dtype.type(eps))
    if not fix_gamma:
        scale *= gamma
    along = scale.reshape(-1, *(1,) * (weight.ndim - 1))
    shift = -mean if len(rest) == len(_STATISTICS) else widen(rest[0]) - mean
    outputs[0][...] = widen(weight) * along
    outputs[1][...] = beta + shift * scale


def _composed(weight: Any, *rest: Any, eps: float, fix_gamma: bool, **_: object) -> tuple[Any, Any]:
    gamma, beta, mean, variance = rest[-4:]
    wide, narrow = gamma.dtype, weight.dtype
    scale = RSQRT(variance + eps)
    if not fix_gamma:
        scale = scale * gamma
    along = reshape(scale, (weight.shape[0], *(1,) * (len(weight.shape) - 1)))
    shift = -mean if len(rest) == len(_STATISTICS) else cast(rest[0], wide) - mean
    return cast(cast(weight, wide) * along, narrow), cast(beta + shift * scale, narrow)


FOLD_BATCH_NORM = register(
    Operator(
        "_fold_batch_norm",
        _infer,
        _kernel,
        composite_gradient(_composed),
        doc=(
            "Weight and bias of a layer that includes the BatchNorm after it.\n\n"
            "weight is that of a Convolution or FullyConnected, with its output channels first;\n"
            "the rest are vectors of the same length. 16-bit floats are folded in float32. The\n"
            "layer with the new weight and bias gives (layer - moving_mean) / sqrt(moving_var +\n"
            "eps) * gamma + beta; fix_gamma treats gamma as 1."
        ),
        inputs=("weight", "bias", *_STATISTICS),
        active_inputs=_active_inputs,
        schema=Schema(eps=number(0.001), fix_gamma=boolean(True), no_bias=boolean(False)),
        outputs=2,
        output_names=("weight", "bias"),
    )
)


_INPUTS = ("data", "gamma", "beta", "mean", "inverse_std")


def _input_names(attrs: Attrs) -> tuple[str, ...]:
    return (*_INPUTS, "addend") if attrs["add"] else _INPUTS


def _infer_batch_norm_apply(
    data: Spec, *others: Spec, axis: int, add: bool, **_: object
) -> tuple[Spec]:
    BATCH_NORM.infer(data, *others[:4], axis=axis)
    if add and others[4] != data:
        raise OperatorError(f"_batch_norm_apply: expected addend {data}, got {others[4]}")
    return (data,)


def _kernel_batch_norm_apply(
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
        _infer_batch_norm_apply,
        _kernel_batch_norm_apply,
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
