"""RNN, GRU and LSTM: as gluonish's fused RNN if it computes the same, else step by step."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import FLOAT32, FLOAT64, INT64
from gluonish.ndarray import control_flow
from gluonish.onnx.importing.arrays import array_of, dtype_of, op
from gluonish.onnx.importing.nodes import Call, Rule

# ONNX's activations, with their default alpha and beta.
_ACTIVATIONS: dict[str, tuple[Callable[[Any, float, float], Any], float, float]] = {
    "relu": (lambda x, a, b: mnp.maximum(x, 0), 0, 0),
    "tanh": (lambda x, a, b: mnp.tanh(x), 0, 0),
    "sigmoid": (lambda x, a, b: op("sigmoid")(x), 0, 0),
    "affine": (lambda x, a, b: a * x + b, 1, 0),
    "leakyrelu": (lambda x, a, b: mnp.where(x < 0, a * x, x), 0.01, 0),
    "thresholdedrelu": (lambda x, a, b: mnp.where(x > a, x, mnp.zeros_like(x)), 1, 0),
    "scaledtanh": (lambda x, a, b: a * mnp.tanh(b * x), 1, 1),
    "hardsigmoid": (lambda x, a, b: mnp.clip(a * x + b, 0, 1), 0.2, 0.5),
    "elu": (lambda x, a, b: mnp.where(x < 0, a * mnp.expm1(x), x), 1, 0),
    "softsign": (lambda x, a, b: x / (1 + mnp.abs(x)), 0, 0),
    "softplus": (lambda x, a, b: mnp.log1p(mnp.exp(-mnp.abs(x))) + mnp.maximum(x, 0), 0, 0),
}


class _Kind(NamedTuple):
    """A kind of recurrent operator.

    Attributes:
        mode: Mode of gluonish's RNN operator.
        gates: Number of gates.
        order: Indices of ONNX's gates in the order of gluonish's operator.
        activations: ONNX's default activations.
        states: Number of states.
    """

    mode: str
    gates: int
    order: Sequence[int]
    activations: Sequence[str]
    states: int


_KINDS = {
    "RNN": _Kind("rnn_tanh", 1, (0,), ("Tanh",), 1),
    "GRU": _Kind("gru", 3, (1, 0, 2), ("Sigmoid", "Tanh"), 1),
    "LSTM": _Kind("lstm", 4, (0, 2, 3, 1), ("Sigmoid", "Tanh", "Tanh"), 2),
}


class _Layer(NamedTuple):
    """The arrays of a layer; ``x`` has time as first axis, the others the direction.

    Attributes:
        x: Input (T, N, I).
        weights: Weights of the input, (directions, gates * H, I), and of the state (.., H).
        biases: Biases of the input and of the state, (directions, gates * H).
        states: Initial states, (directions, N, H).
        lengths: Lengths of the sequences, or None.
        peepholes: Peephole weights (directions, 3 * H), or None.
    """

    x: Any
    weights: tuple[Any, Any]
    biases: tuple[Any, Any]
    states: list[Any]
    lengths: Any
    peepholes: Any


def _recurrent(
    call: Call,
    x: Any,
    weight: Any,
    recurrence: Any,
    bias: Any = None,
    lengths: Any = None,
    *rest: Any,
) -> tuple[Any, ...]:
    kind = _KINDS[call.node.kind]
    batch_first = bool(call.attr("layout", 0))
    directions, hidden = recurrence.shape[0], recurrence.shape[2]
    data = mnp.swapaxes(x, 0, 1) if batch_first else x
    batch = data.shape[1]
    _check_shapes(call, kind, data, (weight, recurrence, bias, lengths, *rest))
    if bias is None:
        bias = mnp.zeros((directions, 2 * kind.gates * hidden), dtype=x.dtype)
    half = kind.gates * hidden
    given = [*rest, None, None, None]
    states = [
        mnp.zeros((directions, batch, hidden), dtype=x.dtype)
        if state is None
        else (mnp.swapaxes(state, 0, 1) if batch_first else state)
        for state in given[: kind.states]
    ]
    biases = bias[:, :half], bias[:, half:]
    peepholes = given[2] if kind.states == 2 else None
    layer = _Layer(data, (weight, recurrence), biases, states, lengths, peepholes)
    mode = _fused_mode(call, kind, layer)
    y, lasts = _fused(call, kind, layer, mode) if mode else _stepped(call, kind, layer)
    if batch_first:
        return mnp.transpose(y, (2, 0, 1, 3)), *[mnp.swapaxes(last, 0, 1) for last in lasts]
    return y, *lasts


_WAYS = {"forward": 1, "reverse": 1, "bidirectional": 2}


def _check_shapes(call: Call, kind: _Kind, data: Any, inputs: Sequence[Any]) -> None:
    """Raise an error if shapes of inputs do not match the attributes and the data.

    Args:
        call: The node.
        kind: The node's kind of operator.
        data: Input (T, N, I).
        inputs: Weights of input and state, biases, lengths, initial states, peepholes; None for
            what is left out.
    """
    way = call.attr("direction", "forward")
    if way not in _WAYS:
        call.wrong(f"expected direction to be one of {sorted(_WAYS)}, got {way!r}")
    if len(data.shape) != 3 or len(inputs[1].shape) != 3:
        call.wrong(f"expected X and R of 3 axes, got {data.shape} and {inputs[1].shape}")
    (_, batch, width), directions = data.shape, _WAYS[way]
    hidden = call.attr("hidden_size", inputs[1].shape[2])
    rows = kind.gates * hidden
    state = (directions, batch, hidden)
    if call.attr("layout", 0):
        state = (batch, directions, hidden)
    expected = {
        "W": (directions, rows, width),
        "R": (directions, rows, hidden),
        "B": (directions, 2 * rows),
        "sequence_lens": (batch,),
        "initial_h": state,
        "initial_c": state,
        "P": (directions, 3 * hidden),
    }
    for (name, shape), given in zip(expected.items(), inputs, strict=False):
        if given is not None and tuple(given.shape) != shape:
            call.wrong(
                f"expected {name} of shape {shape} for hidden_size {hidden} and direction {way!r}, "
                f"got {tuple(given.shape)}"
            )


def _names(call: Call, kind: _Kind, directions: int) -> list[str]:
    given = call.attr("activations") or list(kind.activations) * directions
    names = [name.lower() for name in given]
    if len(names) != len(kind.activations) * directions or any(
        n not in _ACTIVATIONS for n in names
    ):
        call.refuse(f"expected activations among {sorted(_ACTIVATIONS)}, got {given}")
    return names


def _fused_mode(call: Call, kind: _Kind, layer: _Layer) -> str | None:
    """Return the mode of gluonish's RNN if it computes the same as the node, else None."""
    directions = layer.weights[0].shape[0]
    names = _names(call, kind, directions)
    plain = layer.peepholes is None and not call.attr("clip") and not call.attr("input_forget", 0)
    if not plain or dtype_of(layer.x) not in (FLOAT32, FLOAT64) or 0 in layer.x.shape:
        return None
    if kind.mode == "rnn_tanh":
        return f"rnn_{names[0]}" if set(names) in ({"relu"}, {"tanh"}) else None
    if names != [name.lower() for name in kind.activations] * directions:
        return None
    return kind.mode if kind.mode == "lstm" or call.attr("linear_before_reset", 0) else None


def _fused(call: Call, kind: _Kind, layer: _Layer, mode: str) -> tuple[Any, list[Any]]:
    directions, _, hidden = layer.weights[1].shape
    ordered = [_reordered(chunk, kind, hidden) for chunk in (*layer.weights, *layer.biases)]
    flat = [mnp.reshape(w[d], (-1,)) for d in range(directions) for w in ordered[:2]]
    flat += [mnp.reshape(b[d], (-1,)) for d in range(directions) for b in ordered[2:]]
    backwards = call.attr("direction", "forward") == "reverse"
    x = _turned(layer.x, layer.lengths) if backwards else layer.x
    options: dict[str, Any] = {
        "state_size": hidden,
        "num_layers": 1,
        "mode": mode,
        "bidirectional": directions == 2,
        "state_outputs": True,
    }
    added = list(layer.states)
    if layer.lengths is not None:
        options["use_sequence_length"] = True
        added.append(layer.lengths.astype(INT64))
    y, *lasts = op("RNN")(x, mnp.concatenate(flat, axis=0), *added, **options)
    y = _turned(y, layer.lengths) if backwards else y
    steps, batch = y.shape[:2]
    return mnp.transpose(mnp.reshape(y, (steps, batch, directions, hidden)), (0, 2, 1, 3)), lasts


def _reordered(chunk: Any, kind: _Kind, hidden: int) -> Any:
    """Reorder the gates of weights or biases to the order of gluonish's RNN."""
    if list(kind.order) == [0]:
        return chunk
    pieces = [chunk[:, i * hidden : (i + 1) * hidden] for i in kind.order]
    return mnp.concatenate(pieces, axis=1)


def _turned(x: Any, lengths: Any) -> Any:
    """Reverse the time of sequences, each within its length."""
    if lengths is None:
        return mnp.flip(x, axis=0)
    return op("SequenceReverse")(x, lengths.astype(x.dtype), use_sequence_length=True)


def _stepped(call: Call, kind: _Kind, layer: _Layer) -> tuple[Any, list[Any]]:
    """Run step by step, one direction after the other."""
    directions = layer.weights[0].shape[0]
    way = call.attr("direction", "forward")
    found = []
    for d in range(directions):
        backwards = way == "reverse" or d == 1
        x = _turned(layer.x, layer.lengths) if backwards else layer.x
        outputs, states = _one_direction(call, kind, layer, x, d)
        found.append((_turned(outputs, layer.lengths) if backwards else outputs, states))
    y = mnp.stack([outputs for outputs, _ in found], axis=1)
    lasts = [mnp.stack(list(chunks), axis=0) for chunks in zip(*(s for _, s in found), strict=True)]
    return y, lasts


def _one_direction(call: Call, kind: _Kind, layer: _Layer, x: Any, d: int) -> tuple[Any, list[Any]]:
    steps = x.shape[0]
    weight, recurrence = (chunk[d] for chunk in layer.weights)
    own = mnp.matmul(x, mnp.transpose(weight)) + layer.biases[0][d]
    cell = _CELLS[call.node.kind](call, kind, layer, d)
    numbers = array_of(np.arange(steps, dtype=np.float32).reshape(-1, 1, 1))
    lengths = None if layer.lengths is None else mnp.reshape(layer.lengths, (-1, 1)).astype(FLOAT32)

    def step(slices: Any, states: Any) -> Any:
        new = cell(slices[0], states, mnp.transpose(recurrence), layer.biases[1][d])
        if lengths is None:
            return new[0], new
        alive = slices[1] < lengths
        kept = [mnp.where(alive, a, b) for a, b in zip(new, states, strict=True)]
        return mnp.where(alive, new[0], mnp.zeros_like(new[0])), kept

    states = [state[d] for state in layer.states]
    outputs, last = control_flow.foreach(step, [own] if lengths is None else [own, numbers], states)
    return outputs, list(last)


def _functions(call: Call, kind: _Kind, d: int) -> list[Callable[[Any], Any]]:
    """Return a direction's activations; each clips its input if the node has ``clip``."""
    directions = 2 if call.attr("direction", "forward") == "bidirectional" else 1
    names, limit = _names(call, kind, directions), call.attr("clip")
    alphas, betas = call.attr("activation_alpha") or [], call.attr("activation_beta") or []

    def function(index: int) -> Callable[[Any], Any]:
        compute, alpha, beta = _ACTIVATIONS[names[index]]
        alpha = alphas[index] if index < len(alphas) else alpha
        beta = betas[index] if index < len(betas) else beta
        return lambda x: compute(x if not limit else mnp.clip(x, -limit, limit), alpha, beta)

    count = len(kind.activations)
    return [function(d * count + i) for i in range(count)]


Cell = Callable[[Any, list[Any], Any, Any], list[Any]]


def _rnn_cell(call: Call, kind: _Kind, layer: _Layer, d: int) -> Cell:
    (f,) = _functions(call, kind, d)
    return lambda own, states, recurrence, bias: [f(own + mnp.matmul(states[0], recurrence) + bias)]


def _gru_cell(call: Call, kind: _Kind, layer: _Layer, d: int) -> Cell:
    f, g = _functions(call, kind, d)
    hidden = layer.weights[1].shape[2]
    late = bool(call.attr("linear_before_reset", 0))

    def cell(own: Any, states: list[Any], recurrence: Any, bias: Any) -> list[Any]:
        (h,) = states
        both, rest = recurrence[:, : 2 * hidden], recurrence[:, 2 * hidden :]
        gates = own[:, : 2 * hidden] + mnp.matmul(h, both) + bias[: 2 * hidden]
        update, reset = f(gates[:, :hidden]), f(gates[:, hidden:])
        inner = bias[2 * hidden :]
        if late:
            recurrent = reset * (mnp.matmul(h, rest) + inner)
        else:
            recurrent = mnp.matmul(reset * h, rest) + inner
        new = g(own[:, 2 * hidden :] + recurrent)
        return [(1 - update) * new + update * h]

    return cell


def _lstm_cell(call: Call, kind: _Kind, layer: _Layer, d: int) -> Cell:
    f, g, last = _functions(call, kind, d)
    hidden = layer.weights[1].shape[2]
    coupled = bool(call.attr("input_forget", 0))
    peep = None
    if layer.peepholes is not None:
        peep = [layer.peepholes[d, i * hidden : (i + 1) * hidden] for i in range(3)]

    def cell(own: Any, states: list[Any], recurrence: Any, bias: Any) -> list[Any]:
        h, c = states
        gates = own + mnp.matmul(h, recurrence) + bias
        i, o, forget, new = (gates[:, k * hidden : (k + 1) * hidden] for k in range(4))
        if peep is not None:
            i, forget = i + peep[0] * c, forget + peep[2] * c
        i = f(i)
        forget = 1 - i if coupled else f(forget)
        c = forget * c + i * g(new)
        o = o if peep is None else o + peep[1] * c
        return [f(o) * last(c), c]

    return cell


_CELLS = {"RNN": _rnn_cell, "GRU": _gru_cell, "LSTM": _lstm_cell}

RULES: dict[str, Rule] = dict.fromkeys(_KINDS, _recurrent)
