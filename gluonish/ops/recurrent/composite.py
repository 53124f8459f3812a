"""The RNN operator composed of other operators, for its second derivative."""

from typing import Any

from gluonish.core.spec import Shape
from gluonish.ops.elementwise.constant_like import ones_like
from gluonish.ops.elementwise.pointwise import CLIP
from gluonish.ops.elementwise.unary import RELU, SIGMOID, TANH
from gluonish.ops.indexing.slice import slice_axis
from gluonish.ops.linalg.matmul import matmul
from gluonish.ops.nn.sequence import SEQUENCE_MASK
from gluonish.ops.recurrent.layout import Dims, Weights, split_parameters
from gluonish.ops.registry import apply
from gluonish.ops.shape.concat import concat, stack
from gluonish.ops.shape.reshape import reshape


class _Vector:
    """A value of one axis that `split_parameters` can slice like an array."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, cut: slice) -> "_Vector":
        return _Vector(slice_axis(self.value, 0, cut.start, cut.stop))

    def reshape(self, shape: Shape) -> Any:
        """Return the value reshaped."""
        return reshape(self.value, shape)


def _row(x: Any, t: int) -> Any:
    """Return one step of (T, N, features) as (N, features)."""
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
        data: (T, N, features).
        parameters: The packed vector.
        state: First hidden states.
        state_cell: First cells of an LSTM.
        sequence_length: (N,), or None.
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
