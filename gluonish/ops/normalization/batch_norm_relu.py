"""Batch normalization and relu in one operator, and its gradient."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.spec import UNKNOWN, PartialSpec, Spec
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.normalization.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD, infer_normalized
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.composite import composite_gradient

_MASK = np.dtype(np.uint8)


def _mask_shape(size: int) -> tuple[int]:
    return (-(-size // 8),)


def _infer(*inputs: Spec, axis: int, **_attrs: Any) -> tuple[Spec, ...]:
    outputs = infer_normalized("_contrib_BatchNormWithReLU", *inputs, axis=axis)
    return (*outputs, Spec(_mask_shape(outputs[0].size), _MASK))


def _kernel(xp: ModuleType, outputs: tuple[Any, ...], *inputs: Any, **attrs: Any) -> None:
    out, mask = outputs[0], outputs[3]
    BATCH_NORM.kernel(xp, outputs[:3], *inputs, **attrs)
    xp.maximum(out, out.dtype.type(0), out=out)
    mask[...] = xp.packbits(out.ravel(order="K") > 0, bitorder="little")


def _gradient(g: tuple[V | None, ...], *values: Any, train: bool = True, **attrs: Any) -> Any:
    head, (data, gamma), (out, mean, inverse_std, mask) = g[0], values[:2], values[5:]
    if head is None:
        return (None,) * 5
    plain = {name: attrs[name] for name in BATCH_NORM_BACKWARD.schema.attributes}
    plain["use_global_stats"] = attrs["use_global_stats"] or not train
    given = (head, data, gamma, mean, inverse_std, out, mask)
    return (*apply(BATCH_NORM_RELU_BACKWARD, given, plain), None, None)


def _backward_kernel(
    xp: ModuleType, outputs: tuple[Any, ...], grad: Any, *rest: Any, **attrs: Any
) -> None:
    *inputs, out, _ = rest
    BATCH_NORM_BACKWARD.kernel(xp, outputs, grad * (out > 0), *inputs, **attrs)


def _backward(grad: Any, *rest: Any, **attrs: Any) -> Any:
    """Compute `_backward_kernel`'s result with operators."""
    *inputs, out, _ = rest
    return tuple(apply(BATCH_NORM_BACKWARD, (grad * (out > 0), *inputs), attrs))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    assert BATCH_NORM.complete is not None
    statistics = outputs[:3]
    BATCH_NORM.complete(inputs, statistics, attrs)
    outputs[:3] = statistics
    if len(outputs) > 3:
        shape = statistics[0].shape
        unknown = shape is None or UNKNOWN in shape
        mask = (UNKNOWN,) if unknown else _mask_shape(math.prod(shape or ()))
        outputs[3] = PartialSpec(mask, _MASK)


BATCH_NORM_RELU = register(
    Operator(
        "_contrib_BatchNormWithReLU",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "BatchNorm followed by relu: negative results become 0. Inputs and attributes are\n"
            "those of BatchNorm.\n\n"
            "A hidden output holds a bit for each element, 1 where it is positive, in memory\n"
            "order. A fast kernel may leave it unset if its gradient does not read it.\n\n"
            "Shapes: data any, the others (channels,), output that of data."
        ),
        inputs=BATCH_NORM.inputs,
        schema=BATCH_NORM.schema,
        outputs=4,
        visible=BATCH_NORM.visible,
        output_names=("output", "mean", "var", "mask"),
        execution=Execution(
            mutates=BATCH_NORM.mutates, train_dependent=True, heavy=True, workspaces=(3,)
        ),
        shapes=ShapeFacts(complete=_complete),
    )
)

BATCH_NORM_RELU_BACKWARD = register(
    Operator(
        "_contrib_BatchNormWithReLU_backward",
        lambda grad, data, gamma, *rest, **_: (data, gamma, gamma),
        _backward_kernel,
        composite_gradient(_backward),
        doc=(
            "Gradients of _contrib_BatchNormWithReLU's data, gamma and beta, from its inputs,\n"
            "its outputs and the output's gradient. Elements have a gradient where output and\n"
            "mask are positive."
        ),
        inputs=(*BATCH_NORM_BACKWARD.inputs, "output", "mask"),
        schema=BATCH_NORM_BACKWARD.schema,
        outputs=3,
        output_names=BATCH_NORM_BACKWARD.output_names,
        execution=Execution(heavy=True),
    )
)
