"""_fused_rnn: RNN on separate weights and biases instead of one vector.

Concatenation, and splitting the vector's gradient, would copy each parameter three times per step.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.recurrent.layout import (
    GATES,
    Dims,
    Weights,
    dims_of,
    parameter_count,
    weight_shapes,
)
from gluonish.ops.recurrent.rnn import RNN, RNN_BACKWARD, active_inputs
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.concat import concat
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.work import endless


class Split(NamedTuple):
    """The arrays of a call: head gradients, data, states and lengths, parameters, reserve."""

    heads: tuple[Any, ...]
    data: Any
    states: tuple[Any, ...]
    parts: tuple[Any, ...]
    reserve: Any

    def joined(self, vector: Any) -> tuple[Any, ...]:
        """Return the arrays in RNN's order, with the parameters as one vector."""
        return (self.data, vector, *self.states)


def param_shapes(dims: Dims) -> list[Shape]:
    """Return the shapes of weights and biases in the order of `gluonish.ops.recurrent.layout`."""
    runs = [layer for layer in range(dims.layers) for _ in range(dims.directions)]
    biases: list[Shape] = [(GATES[dims.mode] * dims.units,)] * (2 * len(runs))
    return [shape for layer in runs for shape in weight_shapes(dims, layer)] + biases


def _num_params(attrs: Attrs) -> int:
    runs = attrs["num_layers"] * (2 if attrs["bidirectional"] else 1)
    count: int = runs * (5 if attrs["projection_size"] else 4)
    return count


def _state_names(attrs: Attrs) -> tuple[str, ...]:
    return active_inputs(attrs)[2:]


def split(arrays: Sequence[Any], attrs: Attrs) -> Split:
    """Split a call's arrays by role."""
    head_count = len(attrs.get("heads", ()))
    first = head_count + 1 + len(_state_names(attrs))
    last = first + _num_params(attrs)
    reserve = arrays[last] if len(arrays) > last else None
    states = tuple(arrays[head_count + 1 : first])
    parts = tuple(arrays[first:last])
    return Split(tuple(arrays[:head_count]), arrays[head_count], states, parts, reserve)


def weights_of(parts: Sequence[Any], dims: Dims) -> list[Weights]:
    """Return the parameters of every layer and direction, layer by layer."""
    runs = dims.layers * dims.directions
    width = 3 if dims.projected else 2
    return [
        Weights(
            parts[width * run],
            parts[width * run + 1],
            parts[width * run + 2] if dims.projected else None,
            *parts[width * runs + 2 * run : width * runs + 2 * run + 2],
        )
        for run in range(runs)
    ]


def _infer(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    args = split(specs, attrs)
    dims = dims_of(args.data.shape, attrs)
    expected = [Spec(shape, args.data.dtype) for shape in param_shapes(dims)]
    if list(args.parts) != expected:
        raise OperatorError(
            f"_fused_rnn: expected parameters {', '.join(map(str, expected))}, got "
            f"{', '.join(map(str, args.parts))}"
        )
    return RNN.infer(*args.joined(Spec((parameter_count(dims),), args.data.dtype)), **attrs)


def flat(xp: ModuleType, parts: Sequence[Any]) -> Any:
    """Return the elements of all arrays in one vector."""
    return xp.concatenate([part.reshape(-1) for part in parts])


def _kernel(xp: ModuleType, outputs: tuple[Any, ...], *arrays: Any, **attrs: Any) -> None:
    args = split(arrays, attrs)
    RNN.kernel(xp, outputs, *args.joined(flat(xp, args.parts)), **attrs)


def _gradient(
    g: tuple[V | None, ...], *values: V, train: bool = True, key: Any = None, **attrs: Any
) -> tuple[Any, ...]:
    args = split(values[: -len(g)], attrs)
    heads = tuple(i for i, head in enumerate(g[:-1]) if head is not None)
    if not heads:
        return (None,) * (len(values) - len(g))
    arrays = (*(g[i] for i in heads), args.data, *args.states, *args.parts, values[-1])
    found = list(apply(FUSED_RNN_BACKWARD, arrays, {**attrs, "heads": heads}))
    if attrs["use_sequence_length"]:
        found.insert(len(args.states), None)
    return tuple(found)


def _named(attrs: Attrs) -> tuple[str, ...]:
    parts = (f"part{i}" for i in range(_num_params(attrs)))
    return ("data", *_state_names(attrs), *parts)


FUSED_RNN = register(
    Operator(
        "_fused_rnn",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "RNN with separate parameter arrays.\n\n"
            "Data, states and lengths are followed by all weights, then all biases, in the order\n"
            "of RNN's vector."
        ),
        inputs=("data",),
        active_inputs=_named,
        schema=RNN.schema,
        outputs=RNN.outputs,
        visible=RNN.visible,
        output_names=RNN.output_names,
        execution=Execution(train_dependent=True, random=True, heavy=endless),
    )
)


def _backward_infer(*specs: Spec, **attrs: Any) -> tuple[Spec, ...]:
    args = split(specs, attrs)
    return (args.data, *_state_gradients_of(args, attrs), *args.parts)


def _state_gradients_of(args: Split, attrs: Attrs) -> tuple[Any, ...]:
    return args.states[:-1] if attrs["use_sequence_length"] else args.states


def _backward_kernel(xp: ModuleType, outputs: tuple[Any, ...], *arrays: Any, **attrs: Any) -> None:
    args = split(arrays, attrs)
    joined = flat(xp, args.parts)
    total = xp.empty_like(joined)
    count = 1 + len(_state_gradients_of(args, attrs))
    rest = (*args.heads, *args.joined(joined), args.reserve)
    RNN_BACKWARD.kernel(xp, (outputs[0], total, *outputs[1:count]), *rest, **attrs)
    at = 0
    for part in outputs[count:]:
        part[...] = total[at : at + part.size].reshape(part.shape)
        at += part.size


def _backward(*values: Any, **attrs: Any) -> tuple[Any, ...]:
    """Compute `_backward_kernel`'s result with operators."""
    args = split(values, attrs)
    joined = concat([reshape(part, (math.prod(part.shape),)) for part in args.parts], 0)
    rest = (*args.heads, *args.joined(joined), args.reserve)
    d_data, total, *d_states = apply(RNN_BACKWARD, rest, attrs)
    d_parts, at = [], 0
    for part in args.parts:
        size = math.prod(part.shape)
        d_parts.append(reshape(slice_axis(total, 0, at, at + size), part.shape))
        at += size
    return (d_data, *d_states, *d_parts)


FUSED_RNN_BACKWARD = register(
    Operator(
        "_fused_rnn_backward",
        _backward_infer,
        _backward_kernel,
        composite_gradient(_backward),
        doc="Gradients of _fused_rnn's data, states and parameters; see _rnn_backward.",
        inputs=("data",),
        active_inputs=lambda attrs: (
            *(f"head{i}" for i in attrs["heads"]),
            *_named(attrs),
            "reserve",
        ),
        schema=Schema(**RNN.schema.attributes, heads=shape_attr(())),
        outputs=lambda attrs: 1 + (2 if attrs["mode"] == "lstm" else 1) + _num_params(attrs),
        execution=Execution(heavy=endless),
    )
)
