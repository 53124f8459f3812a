"""Recurrent layers: ONNX's LSTM, GRU and RNN, one node for each layer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import INT32
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import concat, gather, reshaped, sliced, transposed, unsqueezed
from gluonish.onnx.exporting.tensors import Body, Tensor
from gluonish.ops.recurrent.layout import GATES, Dims, dims_of, weight_shapes

# Indices of ONNX's gates among MXNet's: i, o, f, c of i, f, c, o; z, r, h of r, z, h.
_ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn_relu": (0,), "rnn_tanh": (0,)}


class _Run(NamedTuple):
    """Parameters of one layer in one direction."""

    matrices: list[Tensor]
    biases: list[Tensor]


def _runs(parameters: Tensor, dims: Dims) -> list[_Run]:
    """Split the parameters by layer and direction; all matrices come before all biases."""
    at = 0

    def take(shape: Sequence[int]) -> Tensor:
        nonlocal at
        begin, at = at, at + int(np.prod(shape))
        chunk = sliced(parameters, [begin], [at], [0])
        return chunk if len(shape) == 1 else reshaped(chunk, shape)

    indices = [layer for layer in range(dims.layers) for _ in range(dims.directions)]
    matrices = [[take(shape) for shape in weight_shapes(dims, layer)] for layer in indices]
    rows = (GATES[dims.mode] * dims.units,)
    return [_Run(found, [take(rows), take(rows)]) for found in matrices]


def _ordered(x: Tensor, dims: Dims, columns: int | None) -> Tensor:
    """Reorder the rows of a matrix or a bias to ONNX's order of gates."""
    order = _ORDER[dims.mode]
    if len(order) == 1:
        return x
    rest = [] if columns is None else [columns]
    gates = reshaped(x, [len(order), dims.units, *rest])
    return reshaped(gather(gates, np.array(order), 0), [len(order) * dims.units, *rest])


def _layer(call: Call, x: Tensor, runs: Sequence[_Run], layer: int, dims: Dims) -> list[Tensor]:
    """Return the output (T, directions, N, units) and the states of one layer."""
    features = dims.features(layer)
    weights = [
        concat([unsqueezed(_ordered(run.matrices[i], dims, width), 0) for run in runs], 0)
        for i, width in enumerate((features, dims.width))
    ]
    biases = [
        unsqueezed(concat([_ordered(bias, dims, None) for bias in run.biases], 0), 0)
        for run in runs
    ]
    begin, count = layer * dims.directions, dims.directions
    states = [
        state if dims.layers == 1 else sliced(state, [begin], [begin + count], [0])
        for state in _states(call)
    ]
    lengths = call.inputs[-1].to(INT32) if dims.ragged else None
    kind = {"lstm": "LSTM", "gru": "GRU"}.get(dims.mode, "RNN")
    attrs: dict[str, Any] = {
        "hidden_size": dims.units,
        "direction": "bidirectional" if dims.directions == 2 else "forward",
    }
    if dims.mode == "gru":
        attrs["linear_before_reset"] = 1
    if dims.mode == "rnn_relu":
        attrs["activations"] = ["Relu"] * dims.directions
    given = (x, *weights, concat(biases, 0), lengths, *states)
    outputs = 3 if dims.mode == "lstm" else 2
    return call.emitter.several(kind, outputs, *given, **attrs)


def _states(call: Call) -> Sequence[Tensor]:
    return call.inputs[2 : 4 if call["mode"] == "lstm" else 3]


def _rnn(call: Call) -> list[Tensor | None]:
    x = call.x
    steps, batch = 1, 1  # may be dynamic, and are not needed
    dims = dims_of((steps, batch, x.size(2)), call.attrs)
    runs = _runs(call.inputs[1], dims)
    if dims.projected or dims.clip is not None:
        return _with_states(call, _projected(call, runs, dims))
    outputs, finals = x, []
    for layer in range(dims.layers):
        begin = layer * dims.directions
        found = _layer(call, outputs, runs[begin : begin + dims.directions], layer, dims)
        # (T, directions, N, units) becomes (T, N, directions * units).
        outputs = reshaped(transposed(found[0], [0, 2, 1, 3]), [0, 0, -1])
        finals.append(found[1:])
    return _with_states(call, [outputs, *(concat(list(s), 0) for s in zip(*finals, strict=True))])


def _with_states(call: Call, found: Sequence[Tensor]) -> list[Tensor | None]:
    """Return the outputs, and the states if requested."""
    return [*found, *[None] * (len(call.outputs) - len(found))]


def _projected(call: Call, runs: Sequence[_Run], dims: Dims) -> list[Tensor]:
    """Return the outputs of an LSTM with projection or clipping, which ONNX's LSTM lacks."""
    if dims.ragged:
        raise call.refuse(
            "ONNX has no LSTM with a projection and sequences of different lengths; leave out one"
        )
    outputs = call.x
    finals: list[list[Tensor]] = [[], []]
    for layer in range(dims.layers):
        chunks = []
        for direction in range(dims.directions):
            index = layer * dims.directions + direction
            states = [gather(s, np.array(index), 0) for s in _states(call)]
            reverse = direction == 1
            hidden, cell, made = _scan(call, outputs, runs[index], states, dims, reverse)
            chunks.append(made)
            for kept, state in zip(finals, (hidden, cell), strict=True):
                kept.append(unsqueezed(state, 0))
        outputs = concat(chunks, 2)
    return [outputs, *(concat(kept, 0) for kept in finals)]


def _scan(
    call: Call, x: Tensor, run: _Run, states: Sequence[Tensor], dims: Dims, reverse: bool
) -> list[Tensor]:
    body = call.emitter.body()
    hidden, cell, step = (
        Tensor(body, body.unique(f"{call.emitter.word}_{word}"), x.dtype)
        for word in ("hidden", "cell", "step")
    )
    i2h, h2h = (transposed(matrix, [1, 0]) for matrix in run.matrices[:2])
    bias = run.biases[0] + run.biases[1]
    gates = body("MatMul", step, i2h) + body("MatMul", hidden, h2h) + bias
    i, f, c, o = body.several("Split", 4, gates, [dims.units] * 4, axis=-1)
    after = body("Sigmoid", f) * cell + body("Sigmoid", i) * body("Tanh", c)
    if dims.clip is not None:
        after = body("Clip", after, *(body.constant(v, x.dtype) for v in dims.clip[:2]))
    made = body("Sigmoid", o) * body("Tanh", after)
    if dims.projected:
        made = body("MatMul", made, transposed(run.matrices[2], [1, 0]))
    outputs = [made, after, body("Identity", made)]
    # Backward in time: reverse the data, and the output.
    data = _turned(x) if reverse else x
    found = call.emitter.several(
        "Scan",
        3,
        *(*states, data),
        num_scan_inputs=1,
        body=Body(body, [hidden, cell, step], outputs),
        dtypes=[x.dtype] * 3,
    )
    return [*found[:2], _turned(found[2]) if reverse else found[2]]


def _turned(x: Tensor) -> Tensor:
    return sliced(x, [-1], [-np.iinfo(np.int64).max], [0], [-1])


TABLE = {"RNN": _rnn}
