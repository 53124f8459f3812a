"""Cells and calls that make_rnn_cells.py runs in MXNet 1.9.1, and test_cells_golden.py here.

Everything is written for the module ``mx`` that it is given, which is MXNet or gluonish.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

T, N, C, H = 4, 3, 2, 3
LENGTHS = [4, 1, 2]


class Case(NamedTuple):
    """A cell, what it is called with, and how.

    ``make`` gets ``gluon.rnn`` and ``gluon.contrib.rnn``. ``step`` is the shape of one step's
    input, ``options`` are those of ``unroll``.
    """

    make: Callable[[Any, Any], Any]
    step: tuple[int, ...] = (C,)
    options: tuple[tuple[str, Any], ...] = ()
    ragged: bool = False
    listed: bool = False
    states: bool = False


def _stack(kind: str) -> Callable[[Any, Any], Any]:
    def make(rnn: Any, contrib: Any) -> Any:
        stack = getattr(rnn, kind)(prefix="stack_")
        with stack.name_scope():
            stack.add(rnn.LSTMCell(H))
            stack.add(rnn.DropoutCell(0.5))
            stack.add(rnn.ResidualCell(rnn.GRUCell(H)))
            stack.add(rnn.ZoneoutCell(rnn.RNNCell(2), 0.2, 0.3))
        return stack

    return make


def _sides(rnn: Any, contrib: Any) -> Any:
    return rnn.BidirectionalCell(rnn.LSTMCell(H, prefix="l_"), rnn.GRUCell(2, prefix="r_"))


def _residual(rnn: Any, contrib: Any) -> Any:
    return rnn.ResidualCell(rnn.GRUCell(C, prefix="g_"))


def _variational(rnn: Any, contrib: Any, states: float = 0.3) -> Any:
    return contrib.VariationalDropoutCell(rnn.LSTMCell(H, prefix="v_"), 0.2, states, 0.4)


def _conv(rank: int, kind: str, **options: Any) -> Callable[[Any, Any], Any]:
    shape = (2, 5, 4, 3)[: rank + 1]
    sizes = ((3, 1, 2)[:rank], (1, 3, 1)[:rank])
    return lambda rnn, contrib: getattr(contrib, f"Conv{rank}D{kind}Cell")(
        shape, 2, *sizes, prefix="c_", **options
    )


_TRUE, _FALSE = (("merge_outputs", True),), (("merge_outputs", False),)
_TNC = (("layout", "TNC"), ("merge_outputs", True))

CASES: dict[str, Case] = {
    **{
        f"rnn-{kind}": Case(lambda rnn, _, kind=kind: rnn.RNNCell(H, kind, prefix="a_"))  # type: ignore[misc]
        for kind in ("relu", "sigmoid", "softrelu", "softsign", "tanh")
    },
    "lstm": Case(lambda rnn, _: rnn.LSTMCell(H, prefix="a_"), options=_TRUE),
    "lstm-other": Case(
        lambda rnn, _: rnn.LSTMCell(
            H, prefix="a_", activation="softsign", recurrent_activation="relu"
        )
    ),
    "lstm-ragged": Case(lambda rnn, _: rnn.LSTMCell(H, prefix="a_"), ragged=True, states=True),
    "gru": Case(lambda rnn, _: rnn.GRUCell(H, prefix="a_"), options=_TNC),
    "gru-list": Case(lambda rnn, _: rnn.GRUCell(H, prefix="a_"), listed=True),
    "gru-ragged": Case(
        lambda rnn, _: rnn.GRUCell(H, prefix="a_"), options=_FALSE, ragged=True, listed=True
    ),
    "sequential": Case(_stack("SequentialRNNCell"), options=_TRUE, states=True),
    "hybrid": Case(_stack("HybridSequentialRNNCell"), options=_TNC, ragged=True),
    "residual": Case(_residual),
    "residual-ragged": Case(_residual, options=_TRUE, ragged=True),
    "zoneout": Case(lambda rnn, _: rnn.ZoneoutCell(rnn.GRUCell(H, prefix="g_"), 0.3, 0.3)),
    "dropout": Case(lambda rnn, _: rnn.DropoutCell(0.4, prefix="d_")),
    "sides": Case(_sides, options=_TRUE),
    "sides-list": Case(_sides, options=_FALSE, listed=True, states=True),
    "sides-ragged": Case(_sides, options=_TNC, ragged=True),
    "sides-ragged-list": Case(_sides, options=_FALSE, ragged=True),
    "variational": Case(_variational),
    "variational-whole": Case(lambda rnn, c: _variational(rnn, c, 0.0), ragged=True),
    "lstmp": Case(lambda _, c: c.LSTMPCell(H, 2, prefix="p_"), options=_TRUE),
    "lstmp-ragged": Case(lambda _, c: c.LSTMPCell(H, 2, prefix="p_"), options=_TNC, ragged=True),
    **{
        f"conv{rank}-{kind.lower()}": Case(
            _conv(rank, kind, i2h_pad=(1, 0, 1)[:rank], activation=activation),
            (2, 5, 4, 3)[: rank + 1],
        )
        for rank in (1, 2, 3)
        for kind, activation in (("RNN", "tanh"), ("LSTM", "softsign"), ("GRU", "relu"))
    },
    "conv2-dilated": Case(
        _conv(2, "LSTM", i2h_dilate=(2, 1), h2h_dilate=(1, 2)), (2, 5, 4), _TRUE, ragged=True
    ),
}


def wave(shape: tuple[int, ...], start: float) -> Any:
    """Return numbers that follow from a shape."""
    values = np.sin(np.arange(np.prod(shape, dtype=int)) * 1.7 + start)
    return (values.reshape(shape) * 0.6).astype(np.float32)


def filled(mx: Any, cell: Any) -> Any:
    """Initialize a cell by its parameters' shapes."""

    def fill(desc: str, array: Any) -> None:
        array[:] = mx.nd.array(wave(array.shape, 0.3))

    for parameter in cell.collect_params().values():
        parameter.initialize(init=_Wave(mx, fill))
    return cell


def _Wave(mx: Any, fill: Callable[[str, Any], None]) -> Any:  # it makes a class
    class Made(mx.init.Initializer):  # type: ignore[misc]
        def __call__(self, desc: str, array: Any) -> None:
            fill(desc, array)

        _init_weight = _init_bias = __call__

    return Made()


def run(mx: Any, case: Case, cell: Any) -> dict[str, Any]:
    """Unroll a filled cell in prediction and return all outputs and gradients."""
    options = dict(case.options)
    layout = options.get("layout", "NTC")
    shape = (T, N, *case.step) if layout == "TNC" else (N, T, *case.step)
    data = mx.nd.array(wave(shape, 0.9))
    if case.listed:
        axis = layout.index("T")
        arrays = [mx.nd.array(np.take(data.asnumpy(), t, axis=axis)) for t in range(T)]
    else:
        arrays = [data]
    states = [mx.nd.array(wave(info["shape"], 2.0)) for info in cell.state_info(N)]
    for array in (*arrays, *states):
        array.attach_grad()
    with mx.autograd.record(train_mode=False):
        outputs, last = cell.unroll(
            T,
            arrays if case.listed else data,
            begin_state=states if case.states else None,
            valid_length=mx.nd.array(LENGTHS) if case.ragged else None,
            **options,
        )
        found = [*(outputs if isinstance(outputs, list) else [outputs]), *last]
        # An output may be a last state as well, and MXNet takes one gradient for each array.
        loss = _weighted(mx, found)
    loss.backward(train_mode=False)
    results = {f"output{i}": y.asnumpy() for i, y in enumerate(found)}
    results |= {f"input{i}": x.grad.asnumpy() for i, x in enumerate(arrays)}
    if case.states:
        results |= {f"state{i}": x.grad.asnumpy() for i, x in enumerate(states)}
    for name, parameter in cell.collect_params().items():
        results[name] = parameter.grad().asnumpy()
    return results


def _weighted(mx: Any, arrays: list[Any]) -> Any:
    """Return a sum of all elements, each with a weight of its own."""
    parts = [(y * mx.nd.array(wave(y.shape, 0.1))).sum() for y in arrays]
    return mx.nd.add_n(*parts)


def described(cell: Any) -> dict[str, Any]:
    """Return what a cell says of itself."""
    parameters = cell.collect_params()
    return {
        "repr": repr(cell),
        "prefix": cell.prefix,
        "shapes": {name: list(parameter.shape) for name, parameter in parameters.items()},
        "paths": list(cell._collect_params_with_prefix()),
        "states": [[list(info["shape"]), info["__layout__"]] for info in cell.state_info(5)],
    }


def graph(mx: Any, case: Case, cell: Any) -> list[Any]:
    """Return the nodes of an unrolling of two steps: operator, name, attributes and inputs."""
    options = dict(case.options)
    names = ["x", "y"] if case.listed else ["x"]
    with mx.name.NameManager():
        inputs = [mx.sym.var(name) for name in names]
        outputs, last = cell.unroll(2, inputs if case.listed else inputs[0], **options)
        found = [*(outputs if isinstance(outputs, list) else [outputs]), *last]
        nodes = json.loads(mx.sym.Group(found).tojson())["nodes"]
    return [
        [
            node["op"],
            node["name"],
            {} if node["op"] == "null" else node.get("attrs", {}),
            [[nodes[at]["name"], index] for at, index, _ in node["inputs"]],
        ]
        for node in nodes
    ]


# What 1.9.1 computes on the CPU: there it leaves lengths and clip limits of an LSTM unheeded,
# refuses lengths for the others, and cannot train a projection.
LAYERS: dict[str, Callable[[Any], Any]] = {
    "LSTM": lambda rnn: rnn.LSTM(H, 2, bidirectional=True, prefix="y_"),
    "GRU": lambda rnn: rnn.GRU(H, 2, layout="NTC", dropout=0.3, prefix="y_"),
    "RNN": lambda rnn: rnn.RNN(H, activation="tanh", bidirectional=True, prefix="y_"),
}


def run_layer(mx: Any, layer: Any) -> dict[str, Any]:
    """Run a filled layer in prediction and return all outputs and gradients."""
    shape = (N, T, C) if layer._layout == "NTC" else (T, N, C)
    data = mx.nd.array(wave(shape, 0.9))
    states = [mx.nd.array(wave(info["shape"], 2.0)) for info in layer.state_info(N)]
    for array in (data, *states):
        array.attach_grad()
    with mx.autograd.record(train_mode=False):
        output, last = layer(data, states)
        found = [output, *last]
        loss = _weighted(mx, found)
    loss.backward(train_mode=False)
    results = {f"output{i}": y.asnumpy() for i, y in enumerate(found)}
    results |= {f"input{i}": x.grad.asnumpy() for i, x in enumerate((data, *states))}
    for name, parameter in layer.collect_params().items():
        results[name] = parameter.grad().asnumpy()
    return results
