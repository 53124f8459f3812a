"""Cells of `mx.rnn` as programs use them: run by MXNet 1.9.1 for the golden data, and by the tests.

Each case is a function of the package: it returns the cell and its unrolled outputs and states.
"""

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {}
# Shapes of the input by case, where it is not (N, T, C).
INPUTS: dict[str, tuple[int, ...]] = {}
PLAIN = (3, 2, 4)
IMAGE = (1, 2, 5, 6)


def case(function: Callable[[Any], tuple[Any, Any, Any]]) -> Callable[[Any], tuple[Any, Any, Any]]:
    CASES[function.__name__] = function
    return function


def unrolled(mx: Any, cell: Any, **options: Any) -> tuple[Any, Any, Any]:
    outputs, states = cell.unroll(2, mx.sym.Variable("data"), **options)
    return cell, outputs, states


@case
def elman(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.RNNCell(5))


@case
def elman_relu_merged(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.RNNCell(5, "relu", prefix="r_"), merge_outputs=True)


@case
def lstm(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.LSTMCell(5, forget_bias=2.0))


@case
def gru(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.GRUCell(5), merge_outputs=True)


@case
def lstm_time_major(mx: Any) -> tuple[Any, Any, Any]:
    INPUTS["lstm_time_major"] = (2, 3, 4)
    return unrolled(mx, mx.rnn.LSTMCell(5), layout="TNC", merge_outputs=True)


@case
def stacked(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(5, prefix="a_"))
    cell.add(mx.rnn.ResidualCell(mx.rnn.GRUCell(5, prefix="b_")))
    cell.add(mx.rnn.RNNCell(3, prefix="c_"))
    return unrolled(mx, cell, merge_outputs=True)


@case
def dropouts(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(5, prefix="a_"))
    cell.add(mx.rnn.DropoutCell(0.5, prefix="d_"))
    cell.add(mx.rnn.ZoneoutCell(mx.rnn.RNNCell(3, prefix="c_"), 0.3, 0.2))
    return unrolled(mx, cell)


@case
def zoneout_of_outputs(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(3), zoneout_outputs=0.4))


@case
def bidirectional(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.BidirectionalCell(
        mx.rnn.LSTMCell(5, prefix="l_"), mx.rnn.GRUCell(3, prefix="r_"), output_prefix="both_"
    )
    return unrolled(mx, cell)


@case
def bidirectional_merged(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.BidirectionalCell(mx.rnn.RNNCell(5, prefix="l_"), mx.rnn.RNNCell(3, prefix="r_"))
    return unrolled(mx, cell, merge_outputs=True)


@case
def residual_of_bidirectional(mx: Any) -> tuple[Any, Any, Any]:
    both = mx.rnn.BidirectionalCell(mx.rnn.RNNCell(2, prefix="l_"), mx.rnn.RNNCell(2, prefix="r_"))
    return unrolled(mx, mx.rnn.ResidualCell(both))


@case
def fused_lstm(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.FusedRNNCell(5, 2, bidirectional=True, get_next_state=True, prefix="f_")
    return unrolled(mx, cell, merge_outputs=True)


@case
def fused_gru(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.FusedRNNCell(5, mode="gru"))


@case
def fused_relu_time_major(mx: Any) -> tuple[Any, Any, Any]:
    INPUTS["fused_relu_time_major"] = (2, 3, 4)
    cell = mx.rnn.FusedRNNCell(5, 2, mode="rnn_relu", dropout=0.3, get_next_state=True)
    return unrolled(mx, cell, layout="TNC", merge_outputs=True)


@case
def unfused(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.FusedRNNCell(5, 2, bidirectional=True, dropout=0.3, prefix="f_")
    return unrolled(mx, cell.unfuse(), merge_outputs=True)


@case
def unfused_tanh(mx: Any) -> tuple[Any, Any, Any]:
    return unrolled(mx, mx.rnn.FusedRNNCell(5, 2, mode="rnn_tanh").unfuse())


@case
def stack_of_fused(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.FusedRNNCell(5, prefix="a_"))
    cell.add(mx.rnn.DropoutCell(0.5, prefix="d_"))
    cell.add(mx.rnn.FusedRNNCell(4, mode="gru", prefix="b_"))
    return unrolled(mx, cell, merge_outputs=True)


def images(mx: Any, cell: Any) -> tuple[Any, Any, Any]:
    steps = [mx.sym.Variable(f"data{i}") for i in range(2)]
    outputs, states = cell.unroll(2, steps)
    return cell, outputs, states


@case
def convolved(mx: Any) -> tuple[Any, Any, Any]:
    return images(mx, mx.rnn.ConvRNNCell(IMAGE, 3, activation="tanh"))


@case
def convolved_lstm(mx: Any) -> tuple[Any, Any, Any]:
    cell = mx.rnn.ConvLSTMCell(IMAGE, 3, h2h_kernel=(5, 5), i2h_stride=(2, 1), i2h_pad=(0, 1))
    return images(mx, cell)


@case
def convolved_gru(mx: Any) -> tuple[Any, Any, Any]:
    return images(mx, mx.rnn.ConvGRUCell(IMAGE, 3, h2h_dilate=(2, 1), prefix="g_"))


def shapes_of(name: str) -> dict[str, tuple[int, ...]]:
    if name.startswith("convolved"):
        return {"data0": IMAGE, "data1": IMAGE}
    return {"data": INPUTS.get(name, PLAIN)}


def nodes_of(text: str) -> list[list[Any]]:
    """The nodes of a Symbol's JSON: operator, name, attributes, inputs."""
    import json

    return [
        [node["op"], node["name"], node.get("attrs", {}), [entry[:2] for entry in node["inputs"]]]
        for node in json.loads(text)["nodes"]
    ]


def filled(np: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Values of an argument, which depend on its name alone."""
    seed = sum(ord(letter) * (i + 1) for i, letter in enumerate(name))
    values = np.sin(np.arange(int(np.prod(shape))) * 0.7 + seed)
    return (values.reshape(shape) * 0.5).astype("float32")


def flat(states: Any) -> list[Any]:
    """States in one list: those of the two directions come as lists of lists."""
    return [x for y in states for x in flat(y)] if isinstance(states, list) else [states]


def names_of(states: Any) -> Any:
    return [names_of(x) for x in states] if isinstance(states, list) else states.name


def facts(mx: Any, np: Any, name: str) -> dict[str, Any]:
    """What a case comes to: graph, states, weights, numbers."""
    with mx.name.NameManager():
        cell, outputs, states = CASES[name](mx)
        listed = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
        graph = mx.sym.Group([*listed, *flat(states)])
        shapes = shapes_of(name)
        arguments = graph.list_arguments()
        executor = graph.simple_bind(mx.cpu(), grad_req="write", **shapes)
        for argument, array in executor.arg_dict.items():
            array[:] = filled(np, argument, array.shape)
        found = [x.asnumpy() for x in executor.forward(is_train=False)]
        result = {
            "merged": not isinstance(outputs, list | tuple),
            "states": names_of(states),
            "nodes": nodes_of(graph.tojson()),
            "info": [[list(i["shape"]), i["__layout__"]] for i in cell.state_info],
            "shapes": {a: list(executor.arg_dict[a].shape) for a in arguments},
            "outputs": [[list(x.shape), numbers(x)] for x in found],
            "weights": sorted(cell.params._params),
        }
        if not any(node[0] == "Dropout" for node in result["nodes"]) and "'p': '0.3'" not in str(
            graph.attr_dict()
        ):
            result["gradients"] = gradients(mx, np, mx.sym.Group(listed), shapes)
        own = {
            key: mx.nd.array(filled(np, key, executor.arg_dict[key].shape))
            for key in arguments
            if not key.startswith("data")
        }
        taken = cell.unpack_weights(dict(own))
        result["unpacked"] = {
            key: [list(value.shape), numbers(value.asnumpy())] for key, value in taken.items()
        }
        packed = cell.pack_weights(dict(taken))
        result["packed"] = {
            key: [list(value.shape), numbers(value.asnumpy())] for key, value in packed.items()
        }
    return result


def gradients(mx: Any, np: Any, graph: Any, shapes: dict[str, Any]) -> dict[str, Any]:
    """Of the outputs alone: MXNet forgets a head's gradient if the same output comes twice."""
    executor = graph.simple_bind(mx.cpu(), grad_req="write", **shapes)
    for argument, array in executor.arg_dict.items():
        array[:] = filled(np, argument, array.shape)
    found = executor.forward(is_train=True)
    executor.backward([mx.nd.array(filled(np, f"head{i}", x.shape)) for i, x in enumerate(found)])
    return {name: numbers(x.asnumpy()) for name, x in sorted(executor.grad_dict.items())}


def numbers(values: Any) -> list[float]:
    """A few numbers that all elements have a part in: sum, weighted sum, the first four."""
    flat = values.astype("float64").reshape(-1)
    weights = [((7 * i) % 11 - 5) / 5 for i in range(flat.size)]
    weighted = float(sum(x * w for x, w in zip(flat, weights, strict=True)))
    return [
        round(float(flat.sum()), 6),
        round(weighted, 6),
        *(round(float(x), 6) for x in flat[:4]),
    ]
