"""Batch normalization and max(x, 0) in one operator."""

from types import ModuleType
from typing import Any

from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.batch_norm import BATCH_NORM
from gluonish.ops.registry import Attrs, Operator, V, register

__all__ = ["BATCH_NORM_RELU"]

# Files count four outputs; the last one holds nothing.
_NOTHING = (1,)


def _infer(*inputs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    outputs = BATCH_NORM.infer(*inputs, **attrs)
    return (*outputs, Spec(_NOTHING, outputs[1].dtype))


def _kernel(xp: ModuleType, outputs: tuple[Any, ...], *inputs: Any, **attrs: Any) -> None:
    BATCH_NORM.kernel(xp, outputs[:3], *inputs, **attrs)
    xp.maximum(outputs[0], outputs[0].dtype.type(0), out=outputs[0])
    outputs[3][...] = 0


def _gradient(g: tuple[V | None, ...], *values: Any, **attrs: Any) -> Any:
    head, out = g[0], values[5]
    if head is None:
        return (None,) * 5
    assert BATCH_NORM.gradient is not None
    return BATCH_NORM.gradient((head * (out > 0), None, None), *values[:8], **attrs)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    assert BATCH_NORM.complete is not None
    statistics = outputs[:3]
    BATCH_NORM.complete(inputs, statistics, attrs)
    outputs[:3] = statistics
    if len(outputs) > 3:
        outputs[3] = PartialSpec(_NOTHING, statistics[1].dtype)


BATCH_NORM_RELU = register(
    Operator(
        "_contrib_BatchNormWithReLU",
        _infer,
        _kernel,
        _gradient,
        doc="BatchNorm with negative results replaced by 0; its inputs and attributes.",
        inputs=BATCH_NORM.inputs,
        schema=BATCH_NORM.schema,
        outputs=4,
        visible=BATCH_NORM.visible,
        output_names=("output", "mean", "var", "nothing"),
        mutates=BATCH_NORM.mutates,
        complete=_complete,
        gradient_uses_output=True,
        train_dependent=True,
        heavy=True,
    )
)
