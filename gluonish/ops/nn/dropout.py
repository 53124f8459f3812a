"""Dropout: zero elements at random, and scale the others to preserve the mean.

References:
    N. Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, dtype_attr, number, optional, shape
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.philox import Key, store_key, stored_key, uniform_steps
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.shape_rules import normalize_axes


def _mask_shape(data: Shape, axes: Shape) -> Shape:
    shared = normalize_axes("Dropout", axes, len(data))
    return tuple(1 if i in shared else n for i, n in enumerate(data))


def _infer(data: Spec, *, p: float, axes: Shape, **_: object) -> tuple[Spec, Spec]:
    if not 0 <= p <= 1:
        raise OperatorError(f"Dropout: expected p in [0, 1], got {p}")
    if not is_floating(data.dtype):
        raise OperatorError(f"Dropout: expected floating data, got {data.dtype.name}")
    return data, Spec(_mask_shape(data.shape, axes), data.dtype)


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, Any],
    data: Any,
    *,
    p: float,
    mode: str,
    train: bool,
    key: tuple[int, int],
    **_: object,
) -> None:
    out, mask = outputs
    if drops({"p": p, "mode": mode, "train": train}):
        fill_dropout(xp, out, mask, data, uniform_steps(xp, key, mask.shape), p)
    else:
        mask[...] = 1
        out[...] = data


def drops(attrs: Attrs) -> bool:
    """Whether a call with these attributes zeroes anything."""
    return bool(attrs["p"] and (attrs["train"] or attrs["mode"] == "always"))


def fill_dropout(xp: ModuleType, out: Any, mask: Any, data: Any, drawn: Any, p: float) -> None:
    """Fill the result and the mask of factors, from uniform numbers ``drawn`` of the same shape."""
    scale = accumulator(mask.dtype).type(1 / (1 - p) if p < 1 else 0)
    xp.multiply(drawn >= p, scale, out=mask, casting="unsafe")
    xp.multiply(data, mask, out=out)


def kept_factor(dtype: np.dtype[Any], p: float) -> Any:
    """Return what elements that stay are multiplied by, rounded to a dtype."""
    return dtype.type(accumulator(dtype).type(1 / (1 - p) if p < 1 else 0))


def dropout_factors(xp: ModuleType, key: Key, shape: Shape, p: float, dtype: Any) -> Any:
    """Return the factors that Dropout draws with a key."""
    kept = uniform_steps(xp, key, shape) >= p
    return kept.astype(dtype) * kept_factor(dtype, p)


def _gradient(g: tuple[V | None, ...], data: V, out: V, mask: V, **attrs: Any) -> tuple[Any]:
    return (None if g[0] is None else g[0] * mask,)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    complete_same(inputs, outputs, attrs, "Dropout")
    shape = inputs[0].shape
    if len(outputs) > 1 and shape is not None:
        outputs[1] = PartialSpec(_mask_shape(shape, attrs["axes"]), inputs[0].dtype)


DROPOUT = register(
    Operator(
        "Dropout",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Zero each element with probability p, and multiply the others by 1 / (1 - p).\n\n"
            "It applies only in training, or with mode='always'; otherwise the result is data\n"
            "itself. The same elements are zeroed at all indices of the axes in axes. The\n"
            "hidden second output is the factor of each element. p is in [0, 1). cudnn_off is\n"
            "accepted and ignored.\n\n"
            "Shapes: data any, output the same."
        ),
        schema=Schema(
            p=number(0.5),
            mode=choice("always", "training", default="training"),
            axes=shape(()),
            cudnn_off=optional(boolean(), False),
        ),
        aliases=("_npx_dropout",),
        outputs=2,
        visible=1,
        output_names=("output", "mask"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(train_dependent=True, random=True),
    )
)


def _factors_kernel(xp: ModuleType, out: Any, drawn: Any, *, p: float, **_: Any) -> None:
    out[...] = dropout_factors(xp, stored_key(xp, drawn), out.shape, p, out.dtype)


def _factors_infer(drawn: Spec, *, shape: Shape, dtype: Any, **_: Any) -> tuple[Spec]:
    return (Spec(shape, np.dtype(dtype)),)


def _keyed_kernel(
    xp: ModuleType, outputs: tuple[Any, Any], data: Any, *, p: float, key: Key
) -> None:
    out, drawn = outputs
    store_key(xp, drawn, key)
    xp.multiply(data, dropout_factors(xp, key, data.shape, p, data.dtype), out=out)


DROPOUT_KEYED = register(
    Operator(
        "_dropout_keyed",
        lambda data, **_: (data, Spec((2,), INT64)),
        _keyed_kernel,
        None,
        doc=(
            "Dropout in training, without its factors: the second output is the random key (2,),\n"
            "from which _dropout_factors computes them again."
        ),
        schema=Schema(p=number(0.5)),
        outputs=2,
        output_names=("output", "drawn"),
        execution=Execution(random=True),
    )
)

DROPOUT_FACTORS = register(
    Operator(
        "_dropout_factors",
        _factors_infer,
        _factors_kernel,
        zero_gradient,
        doc="The factors that Dropout drew with the stored key in drawn (2,).",
        inputs=("drawn",),
        schema=Schema(p=number(0.5), shape=shape(()), dtype=dtype_attr()),
    )
)
