"""_add_layer_norm: LayerNorm of a sum whose first term may go through Dropout, as one operator.

Graphs on GPUs get it in place of the single operators
(`gluonish.graph.passes.fuse_add_layer_norm`). The sum is an output, since a next layer may add to
it. Dropout's factors are not: the gradient draws them again from the key that the forward pass
stored. All values have the bits of those of the single operators.

`_layer_norm_backward_sums` also is LayerNorm's gradient with sums before and after it
(`gluonish.graph.passes.fuse_gradient_sum`).
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.nn.dropout import DROPOUT_FACTORS, dropout_factors
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.philox import Key, store_key, stored_key


def _infer(
    data: Spec, residual: Spec, gamma: Spec, beta: Spec, *, p: float, eps: float, **_: object
) -> tuple[Spec, ...]:
    if data != residual:
        raise OperatorError(
            f"_add_layer_norm: expected two equal arrays, got {data} and {residual}"
        )
    if not 0 <= p <= 1:
        raise OperatorError(f"_add_layer_norm: expected p in [0, 1], got {p}")
    out, *statistics = LAYER_NORM.infer(data, gamma, beta, axis=-1, eps=eps)
    return out, data, *statistics, *([Spec((2,), INT64)] if p else [])


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    data: Any,
    residual: Any,
    gamma: Any,
    beta: Any,
    *,
    p: float,
    eps: float,
    key: Key | None = None,
    **_: object,
) -> None:
    out, total, mean, std, *drawn = outputs
    if key is not None and p:
        store_key(xp, drawn[0], key)
        data = data * dropout_factors(xp, key, data.shape, p, data.dtype)
    xp.add(residual, data, out=total)
    LAYER_NORM.kernel(xp, (out, mean, std), total, gamma, beta, axis=-1, eps=eps)


def _gradient(g: tuple[V | None, ...], *values: Any, p: float, eps: float, **_: Any) -> Any:
    data, _residual, gamma, _beta, _out, total, mean, std, *drawn = values
    of_out, of_sum = g[:2]
    if of_out is None:
        if of_sum is None or not p:
            return of_sum, of_sum, None, None
        attrs = {"p": p, "shape": data.shape, "dtype": data.dtype}
        return of_sum * apply(DROPOUT_FACTORS, (*drawn,), attrs), of_sum, None, None
    plus = () if of_sum is None else (of_sum,)
    attrs = {"two": False, "plus": bool(plus), "p": p, "eps": eps}
    made = apply(BACKWARD_SUMS, (of_out, total, *plus, gamma, mean, std, *drawn), attrs)
    of_residual, of_gamma, of_beta, *of_data = made
    return (of_data[0] if of_data else of_residual), of_residual, of_gamma, of_beta


ADD_LAYER_NORM = register(
    Operator(
        "_add_layer_norm",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "LayerNorm, along the last axis, of residual plus data.\n\n"
            "With p, which is for training only, data go through Dropout before. The second\n"
            "output is the sum; the others are mean, standard deviation and, with p, the\n"
            "random key (2,).\n\n"
            "Shapes: data and residual (..., C), gamma and beta (C,); outputs (..., C)."
        ),
        inputs=("data", "residual", "gamma", "beta"),
        schema=Schema(p=number(0.0), eps=number(1e-5)),
        outputs=lambda attrs: 5 if attrs["p"] else 4,
        execution=Execution(random=lambda attrs: bool(attrs["p"]), heavy=True),
    )
)


def _sums_inputs(attrs: Attrs) -> tuple[str, ...]:
    return (
        "grad",
        *(("other",) if attrs["two"] else ()),
        "data",
        *(("added",) if attrs["plus"] else ()),
        *("gamma", "mean", "std"),
        *(("drawn",) if attrs["p"] else ()),
    )


def _sums_infer(*inputs: Spec, two: bool, plus: bool, p: float, **_: object) -> tuple[Spec, ...]:
    data, gamma = inputs[1 + two], inputs[2 + two + plus]
    for spec in inputs[: 2 + two + plus]:
        if spec != data:
            raise OperatorError(f"_layer_norm_backward_sums: expected arrays {data}, got {spec}")
    return data, gamma, gamma, *([data] if p else [])


def _sums_kernel(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    *inputs: Any,
    two: bool,
    plus: bool,
    p: float,
    eps: float,
) -> None:
    grad, *rest = inputs
    if two:
        grad = xp.add(grad, rest.pop(0))
    data, *rest = rest
    added = rest.pop(0) if plus else None
    gamma, mean, std, *drawn = rest
    out, of_gamma, of_beta, *dropped = outputs
    made = (out, of_gamma, of_beta)
    LAYER_NORM_BACKWARD.kernel(xp, made, grad, data, gamma, mean, std, axis=-1, eps=eps)
    if added is not None:
        xp.add(out, added, out=out)
    if dropped:
        factors = dropout_factors(xp, stored_key(xp, drawn[0]), out.shape, p, out.dtype)
        xp.multiply(out, factors, out=dropped[0])


BACKWARD_SUMS = register(
    Operator(
        "_layer_norm_backward_sums",
        _sums_infer,
        _sums_kernel,
        None,
        doc=(
            "Gradients of LayerNorm's data, gamma and beta, along the last axis.\n\n"
            "With two the head gradient is the sum of two arrays; with plus an array is added to\n"
            "the gradient of data; with p the last output is the product of that sum with the\n"
            "factors that Dropout drew with the key in drawn (2,)."
        ),
        inputs=("grad", "other", "data", "added", "gamma", "mean", "std", "drawn"),
        active_inputs=_sums_inputs,
        schema=Schema(two=boolean(False), plus=boolean(False), p=number(0.0), eps=number(1e-5)),
        outputs=lambda attrs: 4 if attrs["p"] else 3,
        execution=Execution(heavy=True),
    )
)
