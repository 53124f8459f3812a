"""_rnn_param_pack and _rnn_param_unpack: parameters of any shape to one vector, and back.

A device copies them in one launch, where reshaping, concatenation and their gradients take one for
each parameter.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.recurrent.fused_rnn import flat
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype


def _infer(*parts: Spec, num_args: int) -> tuple[Spec, ...]:
    for part in parts:
        check_same_dtype("_rnn_param_pack", parts[0], part)
    return (Spec((sum(part.size for part in parts),), parts[0].dtype),)


def _kernel(xp: ModuleType, out: Any, *parts: Any, num_args: int) -> None:
    out[...] = flat(xp, parts)


def _gradient(g: V, *parts: V, num_args: int) -> tuple[Any, ...]:
    found = apply(RNN_PARAM_UNPACK, (g, *parts), {"num_args": num_args})
    return tuple(found) if num_args > 1 else (found,)


RNN_PARAM_PACK = register(
    Operator(
        "_rnn_param_pack",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Join the elements of arrays in one vector, as RNN reads its parameters.\n\n"
            "Shapes: arrays any, output (sum of their sizes,)."
        ),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1)),
        variadic="num_args",
    )
)


def _unpack_infer(vector: Spec, *parts: Spec, num_args: int) -> tuple[Spec, ...]:
    size = sum(part.size for part in parts)
    if vector.shape != (size,):
        raise OperatorError(f"_rnn_param_unpack: expected a vector ({size},), got {vector.shape}")
    return tuple(Spec(part.shape, vector.dtype) for part in parts)


def _ends(parts: Sequence[Any]) -> list[tuple[int, int]]:
    """Return where the elements of each array begin and end in the vector."""
    at, found = 0, []
    for part in parts:
        found.append((at, at + math.prod(part.shape)))
        at = found[-1][1]
    return found


def _unpack_kernel(xp: ModuleType, outputs: Any, vector: Any, *parts: Any, num_args: int) -> None:
    for out, (start, end) in zip(outputs, _ends(parts), strict=True):
        out[...] = vector[start:end].reshape(out.shape)


def _unpack_gradient(
    g: tuple[V | None, ...], vector: V, *parts: V, num_args: int
) -> tuple[Any, ...]:
    heads = [
        head if head is not None else reshape(slice_axis(vector, 0, *ends), part.shape) * 0.0
        for head, part, ends in zip(g, parts, _ends(parts), strict=True)
    ]
    joined = apply(RNN_PARAM_PACK, tuple(heads), {"num_args": num_args})
    return (joined, *(None,) * num_args)


RNN_PARAM_UNPACK = register(
    Operator(
        "_rnn_param_unpack",
        _unpack_infer,
        _unpack_kernel,
        _unpack_gradient,
        doc=(
            "Split a vector that _rnn_param_pack made; the arrays give the shapes only.\n\n"
            "Shapes: vector (sum of the arrays' sizes,), outputs those of the arrays."
        ),
        inputs=("vector", "data"),
        active_inputs=lambda attrs: ("vector", *(f"data{i}" for i in range(attrs["num_args"]))),
        schema=Schema(num_args=integer(low=1)),
        outputs=lambda attrs: attrs["num_args"],
    )
)
