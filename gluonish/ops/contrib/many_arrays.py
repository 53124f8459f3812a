"""reset_arrays, multi_sum_sq and multi_lars: one call for all parameters of a network.

References:
    Y. You, I. Gitman, B. Ginsburg, Large Batch Training of Convolutional Networks, 2017 (LARS).
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, number
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.precision import widen

_SCHEMA = Schema(num_arrays=integer(low=1))


def _check_count(name: str, arrays: tuple[Spec, ...], num_arrays: int) -> None:
    if len(arrays) != num_arrays:
        raise OperatorError(f"{name}: expected {num_arrays} arrays, got {len(arrays)}")


def _reset_infer(*arrays: Spec, num_arrays: int) -> tuple[Spec]:
    _check_count("reset_arrays", arrays, num_arrays)
    return (Spec((1,), FLOAT32),)


def _reset_kernel(xp: ModuleType, out: tuple[Any], *arrays: Any, num_arrays: int) -> None:
    out[0].fill(0)
    for x in arrays:
        x[...] = 0


def _scalar_output(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    for i in range(len(outputs)):
        outputs[i] = PartialSpec((1,), FLOAT32)


RESET_ARRAYS = register(
    Operator(
        "reset_arrays",
        _reset_infer,
        _reset_kernel,
        None,
        doc=(
            "Set all arrays to zero in place; there is no output.\n\n"
            "Shapes: arrays any, which may differ; no output."
        ),
        schema=_SCHEMA,
        outputs=lambda attrs: 1,  # operators need an output; it is hidden
        visible=lambda attrs: 0,
        execution=Execution(mutates=lambda attrs: tuple(range(attrs["num_arrays"]))),
        variadic="num_arrays",
        shapes=ShapeFacts(complete=_scalar_output),
    )
)


def _sum_infer(*arrays: Spec, num_arrays: int) -> tuple[Spec]:
    _check_count("multi_sum_sq", arrays, num_arrays)
    for x in arrays:
        if not is_floating(x.dtype) or x.dtype != arrays[0].dtype:
            raise OperatorError(f"multi_sum_sq: expected floating arrays of equal dtype, got {x}")
    return (Spec((num_arrays,), FLOAT32),)


def _sum_kernel(xp: ModuleType, out: Any, *arrays: Any, num_arrays: int) -> None:
    for i, x in enumerate(arrays):
        wide = widen(x)
        out[i] = (wide * wide).sum()


def _sum_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    outputs[0] = PartialSpec((attrs["num_arrays"],), FLOAT32)


MULTI_SUM_SQ = register(
    Operator(
        "multi_sum_sq",
        _sum_infer,
        _sum_kernel,
        None,
        doc=(
            "Compute the sum of squares of each array, in float32.\n\n"
            "Shapes: arrays any, output (num_arrays,)."
        ),
        schema=_SCHEMA,
        variadic="num_arrays",
        shapes=ShapeFacts(complete=_sum_complete),
    )
)


def _lars_infer(lrs: Spec, *others: Spec, **_: object) -> tuple[Spec]:
    if not is_floating(lrs.dtype) or any(spec != lrs for spec in others):
        raise OperatorError(
            "multi_lars: expected four floating arrays of equal shape and dtype, got "
            f"{', '.join(map(str, (lrs, *others)))}"
        )
    return (lrs,)


def _lars_kernel(
    xp: ModuleType,
    out: Any,
    lrs: Any,
    weights_sum_sq: Any,
    grads_sum_sq: Any,
    wds: Any,
    *,
    eta: float,
    eps: float,
    rescale_grad: float,
) -> None:
    rates = widen(lrs)
    real = rates.dtype.type
    weight, grad = xp.sqrt(widen(weights_sum_sq)), xp.sqrt(widen(grads_sum_sq))
    divisor = grad * real(rescale_grad) + widen(wds) * weight + real(eps)
    scaled = rates * real(eta) * weight / divisor
    out[...] = xp.where((weight > 0) & (grad > 0), scaled, rates)


MULTI_LARS = register(
    Operator(
        "multi_lars",
        _lars_infer,
        _lars_kernel,
        None,
        doc=(
            "Scale the learning rate of each layer to lr * eta * |w| / (rescale_grad * |g| +\n"
            "wd * |w| + eps), or leave it unchanged if a norm is 0.\n\n"
            "Shapes: lrs, weights_sum_sq, grads_sum_sq, wds and output (layers,)."
        ),
        inputs=("lrs", "weights_sum_sq", "grads_sum_sq", "wds"),
        schema=Schema(eta=number(), eps=number(), rescale_grad=number(1.0)),
        shapes=ShapeFacts(complete=dtype_rule(0, 1, 2, 3)),
        execution=Execution(elementwise=True),
    )
)
