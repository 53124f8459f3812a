"""Graphs that are converted to mixed precision, by MXNet for amp.json, and by gluonish in tests."""

from collections.abc import Iterator
from typing import Any

GRAPHS = ("network", "shared", "elu", "leaky", "split", "group")


def graph(sym: Any, name: str) -> Any:
    """Return a graph; every node has a name."""
    data = sym.var("data")
    if name == "network":
        return _network(sym, data)
    if name == "shared":
        weight = sym.var("w")
        dense = {"weight": weight, "no_bias": True, "num_hidden": 3}
        return sym.elemwise_add(
            sym.FullyConnected(data, name="f1", **dense),
            sym.FullyConnected(data, name="f2", **dense),
            name="sum",
        )
    hidden = sym.FullyConnected(data, num_hidden=4, name="fc")
    if name in ("elu", "leaky"):
        return sym.LeakyReLU(hidden, act_type=name, name="act")
    if name == "split":
        parts = sym.split(hidden, num_outputs=2, axis=1, name="parts")
        return sym.elemwise_add(sym.exp(parts[0], name="exp"), parts[1], name="sum")
    return sym.Group([hidden, sym.sum(hidden, name="total")])


def _network(sym: Any, data: Any) -> Any:
    x = sym.Convolution(data, kernel=(3, 3), num_filter=4, name="conv")
    x = sym.Activation(sym.BatchNorm(x, name="bn"), act_type="relu", name="relu")
    x = sym.Convolution(x, kernel=(3, 3), num_filter=4, name="conv2")
    x = sym.Flatten(sym.elemwise_add(x, x, name="twice"), name="flat")
    x = sym.FullyConnected(x, num_hidden=3, name="fc")
    x = sym.broadcast_add(sym.exp(x, name="exp"), x, name="add")
    x = sym.Concat(x, x, dim=1, name="joined")
    return sym.SoftmaxOutput(x, name="softmax")


def options(name: str) -> Iterator[dict[str, Any]]:
    """Yield what `convert_symbol` is told of a graph."""
    yield {}
    if name == "network":
        yield {"excluded_sym_names": ["conv2"]}
        yield {"data_names": ["data", "softmax_label"]}
        yield {"data_names": ["data", "softmax_label"], "cast_optional_params": True}
        yield {"conditional_fp32_ops": [("Activation", "act_type", ["relu"])]}
        yield {"fp32_ops": ["exp"]}
    if name == "shared":
        yield {"data_names": ["data"], "cast_optional_params": True}


def described(nodes: list[dict[str, Any]]) -> list[list[Any]]:
    """Return the nodes of a file in a form that compares: operator, name, dtype, inputs by name.

    A cast has no name of its own: MXNet calls some after the place of an output, some after its
    name.
    """
    names: list[str] = []
    found = []
    for node in nodes:
        attrs = node.get("attrs", {})
        inputs = [[names[source], index] for source, index, *_ in node["inputs"]]
        dtype = attrs.get("dtype") or attrs.get("__dtype__")
        name = f"cast of {inputs[0]} to {dtype}" if node["op"] == "amp_cast" else node["name"]
        names.append(name)
        found.append([node["op"], name, dtype, inputs])
    return sorted(found, key=str)
