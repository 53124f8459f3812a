"""Dropout: zero elements at random, and scale the others to preserve the mean.

References:
    N. Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, number, optional, shape
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.support.broadcasting import complete_same
from gluonish.ops.support.philox import uniform_steps
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
