"""RNN: layers of recurrent cells over complete sequences, in one or both directions.

`compose` builds the RNN operator from other operators, for its second derivative.
"""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.hooks import divert_rnn
from gluonish.core.schema import Schema, boolean, choice, integer, number, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.elementwise.constant_like import ones_like
from gluonish.ops.elementwise.pointwise import CLIP
from gluonish.ops.elementwise.unary import RELU, SIGMOID, TANH
from gluonish.ops.facts import Execution, Gradient, ShapeFacts
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.linalg.matmul import matmul
from gluonish.ops.nn.sequence import SEQUENCE_MASK
from gluonish.ops.recurrent.layout import (
    Dims,
    Weights,
    dims_of,
    parameter_count,
    reserve_size,
    segments,
    split_parameters,
)
from gluonish.ops.recurrent.reference import Arguments, backward, forward
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.concat import concat, stack
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.philox import uniform_steps
from gluonish.ops.support.precision import accumulator
from gluonish.ops.support.work import endless, remembered


class _Vector:
    """Wraps a 1-d value so that `split_parameters` can slice it like an array."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, cut: slice) -> "_Vector":
        return _Vector(slice_axis(self.value, 0, cut.start, cut.stop))

    def reshape(self, shape: Shape) -> Any:
        """Return the value reshaped."""
        return reshape(self.value, shape)


def _row(x: Any, t: int) -> Any:
    """Return time step ``t`` of (T, N, features) as (N, features)."""
    return reshape(slice_axis(x, 0, t, t + 1), x.shape[1:])


def _split_gates(x: Any, units: int) -> list[Any]:
    return [slice_axis(x, 1, at, at + units) for at in range(0, x.shape[1], units)]


def compose(
    dims: Dims,
    data: Any,
    parameters: Any,
    state: Any,
    state_cell: Any = None,
    sequence_length: Any = None,
    mask: Any = None,
) -> tuple[Any, ...]:
    """Return output, last hidden states and, for an LSTM, last cells.

    Args:
        dims: Extents and options; at least one step.
        data: The input (T, N, features).
        parameters: The packed vector.
        state: Initial hidden states.
        state_cell: Initial cells of an LSTM.
        sequence_length: Length of each sequence (N,), or None.
        mask: Factors of dropout (layers - 1, T, N, features), or None.
    """
    weights: list[Weights] = split_parameters(_Vector(parameters), dims)
    valid = None if sequence_length is None else _valid(dims, data, sequence_length)
    hiddens, cells, x = [], [], data
    for layer in range(dims.layers):
        if layer and mask is not None:
            x = x * reshape(slice_axis(mask, 0, layer - 1, layer), x.shape)
        parts = []
        for direction in range(dims.directions):
            run = layer * dims.directions + direction
            c = None if state_cell is None else _row(state_cell, run)
            y, h, c = _run(dims, direction, weights[run], x, _row(state, run), c, valid)
            parts.append(y)
            hiddens.append(h)
            cells.append(c)
        x = parts[0] if len(parts) == 1 else concat(parts, 2)
    found = (x, stack(hiddens))
    return found if state_cell is None else (*found, stack(cells))


def _valid(dims: Dims, data: Any, sequence_length: Any) -> list[Any]:
    """Return a mask (N, 1) per step: 1 where the step is within the sequence, else 0."""
    shape = (dims.steps, dims.batch, 1)
    ones = ones_like(slice_axis(data, 2, 0, 1))
    attrs = {"use_sequence_length": True, "value": 0.0, "axis": 0}
    mask = apply(SEQUENCE_MASK, (reshape(ones, shape), sequence_length), attrs)
    return [_row(mask, t) for t in range(dims.steps)]


def _run(
    dims: Dims, direction: int, w: Weights, x: Any, h: Any, c: Any, valid: list[Any] | None
) -> tuple[Any, Any, Any]:
    """Return the outputs of one layer in one direction, its last hidden state and cell."""
    rows = w.i2h_bias.shape[0]
    flat = reshape(x, (dims.steps * dims.batch, x.shape[2]))
    pre = matmul(flat, w.i2h, transpose_b=True) + reshape(w.i2h_bias, (1, rows))
    pre = reshape(pre, (dims.steps, dims.batch, rows))
    steps = list(range(dims.steps))
    outputs = []
    for t in reversed(steps) if direction else steps:
        recurrent = matmul(h, w.h2h, transpose_b=True) + reshape(w.h2h_bias, (1, rows))
        new_h, new_c = _step(dims, _row(pre, t), recurrent, h, c)
        if w.h2r is not None:
            new_h = matmul(new_h, w.h2r, transpose_b=True)
        output = new_h
        if valid is not None:
            output = new_h * valid[t]
            new_h = output + h * (1.0 - valid[t])
            new_c = None if c is None else new_c * valid[t] + c * (1.0 - valid[t])
        outputs.append(output)
        h, c = new_h, new_c
    return stack(outputs[::-1] if direction else outputs), h, c


def _step(dims: Dims, pre: Any, recurrent: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """Return the new hidden state before projection, and the new cell."""
    if dims.mode == "lstm":
        i, f, g, o = _split_gates(pre + recurrent, dims.units)
        c = SIGMOID(f) * c + SIGMOID(i) * TANH(g)
        if dims.clip is not None:
            c = apply(CLIP, (c,), {"a_min": dims.clip[0], "a_max": dims.clip[1]})
        return SIGMOID(o) * TANH(c), c
    if dims.mode == "gru":
        a, b = _split_gates(pre, dims.units), _split_gates(recurrent, dims.units)
        z = SIGMOID(a[1] + b[1])
        n = TANH(a[2] + SIGMOID(a[0] + b[0]) * b[2])
        return n + z * (h - n), None
    return (TANH if dims.mode == "rnn_tanh" else RELU)(pre + recurrent), None


_INPUTS = ("data", "parameters", "state", "state_cell", "sequence_length")
HEADS = ("grad_output", "grad_state", "grad_state_cell")

ATTRIBUTES: dict[str, Any] = {
    "state_size": integer(low=0),
    "num_layers": integer(low=0),
    "bidirectional": boolean(False),
    "mode": choice("gru", "lstm", "rnn_relu", "rnn_tanh"),
    "p": number(0.0),
    "state_outputs": boolean(False),
    "projection_size": optional(integer()),
    "lstm_state_clip_min": optional(number()),
    "lstm_state_clip_max": optional(number()),
    "lstm_state_clip_nan": boolean(False),
    "use_sequence_length": boolean(False),
}


def active_inputs(attrs: Attrs) -> tuple[str, ...]:
    """Return the names of a call's inputs."""
    names = _INPUTS[: 4 if attrs["mode"] == "lstm" else 3]
    return (*names, "sequence_length") if attrs["use_sequence_length"] else names


def arguments(arrays: Sequence[Any], attrs: Attrs) -> Arguments:
    """Return a call's arrays by name."""
    return Arguments(**dict(zip(active_inputs(attrs), arrays, strict=True)))


def state_count(attrs: Attrs) -> int:
    """Return the number of states: 2 of an LSTM, else 1."""
    return 2 if attrs["mode"] == "lstm" else 1


def _check_attributes(attrs: Attrs) -> None:
    if attrs["state_size"] < 1 or attrs["num_layers"] < 1:
        raise OperatorError(
            "RNN: expected state_size and num_layers of 1 or more, got "
            f"{attrs['state_size']} and {attrs['num_layers']}"
        )
    if not 0 <= attrs["p"] <= 1:
        raise OperatorError(f"RNN: expected p in [0, 1], got {attrs['p']}")
    projection = attrs["projection_size"]
    if projection is not None and (attrs["mode"] != "lstm" or projection < 1):
        raise OperatorError(
            "RNN: expected projection_size of 1 or more with mode 'lstm' only, got "
            f"{projection} with {attrs['mode']!r}"
        )
    if (attrs["lstm_state_clip_min"] is None) != (attrs["lstm_state_clip_max"] is None):
        raise OperatorError(
            "RNN: expected lstm_state_clip_min and lstm_state_clip_max together, got "
            f"{attrs['lstm_state_clip_min']} and {attrs['lstm_state_clip_max']}"
        )


def _expected(dims: Dims) -> dict[str, Shape]:
    runs = dims.layers * dims.directions
    return {
        "parameters": (parameter_count(dims),),
        "state": (runs, dims.batch, dims.width),
        "state_cell": (runs, dims.batch, dims.units),
        "sequence_length": (dims.batch,),
    }


def _check_features(data: Shape, count: int, dims: Dims) -> None:
    """Check that the data has the number of features that the parameters were made for.

    Raises:
        OperatorError: It has another one.
    """
    one, two = (parameter_count(dims._replace(inputs=n)) for n in (1, 2))
    features, rest = divmod(count - one, two - one)
    if features >= 0 and not rest:
        raise OperatorError(
            f"RNN: expected data with {features + 1} features along the last axis, got {data[2]} "
            f"in data {data}"
        )


@remembered
def _infer(data: Spec, *rest: Spec, **attrs: Any) -> tuple[Spec, ...]:
    _check_attributes(attrs)
    if len(data.shape) != 3 or not is_floating(data.dtype):
        raise OperatorError(f"RNN: expected floating data (time, batch, features), got {data}")
    names = active_inputs(attrs)[1:]
    if len(rest) != len(names):
        raise OperatorError(f"RNN: expected {', '.join(names)} after data, got {len(rest)} arrays")
    dims = dims_of(data.shape, attrs)
    expected = _expected(dims)
    for name, spec in zip(names, rest, strict=True):
        if spec.shape != expected[name]:
            if name == "parameters" and len(spec.shape) == 1:
                _check_features(data.shape, spec.shape[0], dims)
            raise OperatorError(
                f"RNN: expected {name} {expected[name]} for data {data.shape}, got {spec.shape}"
            )
        if name != "sequence_length":
            check_same_dtype("RNN", data, spec)
    states = tuple(Spec(expected[name], data.dtype) for name in names if name.startswith("state"))
    output = Spec((*data.shape[:2], dims.directions * dims.width), data.dtype)
    return (output, *states, Spec((reserve_size(dims),), accumulator(data.dtype)))


def dropout_factors(
    xp: ModuleType, key: tuple[int, int], shape: Shape, *, p: float, train: bool
) -> Any:
    """Return the factors of dropout between layers: 0 or 1 / (1 - p); 1 unless training."""
    if not train:
        return xp.ones(shape, xp.float32)
    return (uniform_steps(xp, key, shape) >= p) * xp.float32(1 / (1 - p) if p < 1 else 0)


def _kernel(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    *arrays: Any,
    train: bool,
    key: tuple[int, int],
    **attrs: Any,
) -> None:
    draw = partial(dropout_factors, xp, key, p=attrs["p"], train=train)
    forward(xp, dims_of(arrays[0].shape, attrs), outputs, arguments(arrays, attrs), draw)


def _gradient(
    g: tuple[V | None, ...], *values: V, train: bool = True, key: Any = None, **attrs: Any
) -> tuple[Any, ...]:
    names = active_inputs(attrs)
    inputs, reserve = values[: len(names)], values[-1]
    heads = tuple(i for i, head in enumerate(g[:-1]) if head is not None)
    if not heads:
        return (None,) * len(names)
    arrays = (*(g[i] for i in heads), *inputs, reserve)
    found = apply(RNN_BACKWARD, arrays, {**attrs, "heads": heads})
    return (*found, None) if attrs["use_sequence_length"] else tuple(found)


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    names = active_inputs(attrs)
    dtype = None
    for name, spec in (*zip(names, inputs, strict=True), *(("", spec) for spec in outputs[:-1])):
        if name != "sequence_length":
            dtype = merge_dtypes(dtype, spec.dtype, "RNN")
    data = inputs[0].shape
    extents = (UNKNOWN,) * 3 if data is None else data
    if len(extents) != 3:
        raise OperatorError(f"RNN: expected data (time, batch, features), got {data}")
    if outputs[0].shape is not None:
        ticks = merge_shapes(extents[:2], outputs[0].shape[:2], "RNN output") or ()
        extents = (*ticks, extents[2])
    dims = dims_of(extents, attrs)
    expected = {"data": extents, **_expected(dims)}
    for i, name in enumerate(names):
        own = inputs[i].dtype if name == "sequence_length" else dtype
        inputs[i] = PartialSpec(merge_shapes(expected[name], inputs[i].shape, f"RNN {name}"), own)
    shapes = [(*extents[:2], dims.directions * dims.width), *map(expected.get, names[2:])]
    for i in range(1 + state_count(attrs)):
        outputs[i] = PartialSpec(merge_shapes(shapes[i], outputs[i].shape, "RNN output"), dtype)


RNN = register(
    Operator(
        "RNN",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "Recurrent layers (RNN, LSTM or GRU) over complete sequences.\n\n"
            "parameters is one vector of all weights (for each layer and direction the input\n"
            "weight, the recurrent weight and the projection), followed by all biases. width is\n"
            "projection_size, or state_size without it; directions is 2 with bidirectional,\n"
            "else 1. In training p is the dropout probability of the inputs of each layer but\n"
            "the first. state_outputs also returns the states at the end of each sequence. With\n"
            "use_sequence_length the output after a sequence's end is 0, and the backward\n"
            "direction begins at the end. The clip limits, which must be given together, limit\n"
            "an LSTM's cell; lstm_state_clip_nan also replaces NaN there by the lower limit.\n\n"
            "Shapes: data (T, N, features), parameters (size,), state (layers * directions, N,\n"
            "width), state_cell of an LSTM (layers * directions, N, state_size),\n"
            "sequence_length (N,), output (T, N, directions * width)."
        ),
        inputs=_INPUTS,
        active_inputs=active_inputs,
        schema=Schema(**ATTRIBUTES),
        aliases=("_npx_rnn",),
        outputs=lambda attrs: 2 + state_count(attrs),
        visible=lambda attrs: 1 + state_count(attrs) if attrs["state_outputs"] else 1,
        output_names=("output", "state_output", "statecell_output"),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(train_dependent=True, random=True, heavy=endless),
    )
)
RNN.override(divert_rnn)


def _backward_active(attrs: Attrs) -> tuple[str, ...]:
    return (*(HEADS[i] for i in attrs["heads"]), *active_inputs(attrs), "reserve")


def backward_infer(*specs: Spec, heads: Shape, **attrs: Any) -> tuple[Spec, ...]:
    """Return the specs of the gradients of data, parameters and states."""
    return specs[len(heads) : len(heads) + 2 + state_count(attrs)]


def _backward_kernel(
    xp: ModuleType, outputs: tuple[Any, ...], *arrays: Any, heads: Shape, **attrs: Any
) -> None:
    inputs = arguments(arrays[len(heads) : -1], attrs)
    given = [arrays[heads.index(i)] if i in heads else None for i in range(3)]
    dims = dims_of(inputs.data.shape, attrs)
    backward(xp, dims, outputs, given, inputs, arrays[-1])


def backward_composed(*values: Any, heads: Shape, **attrs: Any) -> tuple[Any, ...]:
    """Compute `_backward_kernel`'s result with operators."""
    inputs = values[len(heads) : -1]
    dims = dims_of(inputs[0].shape, attrs)
    names = list(active_inputs(attrs))
    found = segments(dims).get(("mask", 0))
    if found is not None:
        at, shape = found
        size = shape[0] * shape[1] * shape[2] * shape[3]
        inputs = (*inputs, reshape(slice_axis(values[-1], 0, at, at + size), shape))
        names.append("mask")

    def composed(*arrays: Any) -> tuple[Any, ...]:
        return compose(dims, **dict(zip(names, arrays, strict=True)))

    given = [values[heads.index(i)] if i in heads else None for i in range(1 + state_count(attrs))]
    return composite_gradient(composed)(given, *inputs)[: 2 + state_count(attrs)]


_backward_rule = composite_gradient(backward_composed)


def _backward_gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> tuple[Any, ...]:
    # The reserve is a function of the other inputs, so it has no gradient.
    return (*_backward_rule(g, *values, **attrs)[:-1], None)


RNN_BACKWARD = register(
    Operator(
        "_rnn_backward",
        backward_infer,
        _backward_kernel,
        _backward_gradient,
        doc=(
            "Gradients of RNN's data, parameters and states.\n\n"
            "heads: which of output, state and state_cell have a gradient; reserve is the hidden\n"
            "output of RNN."
        ),
        inputs=(*HEADS, *_INPUTS, "reserve"),
        active_inputs=_backward_active,
        schema=Schema(**ATTRIBUTES, heads=shape_attr(())),
        outputs=lambda attrs: 2 + state_count(attrs),
        output_names=("data", "parameters", "state", "state_cell"),
        execution=Execution(heavy=endless),
    )
)
