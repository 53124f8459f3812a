"""The networks of the benchmarks, and their description for peers.

    python networks.py resnet50_v1 resnet50_v1.json

writes the description that `graph.read_network` reads; it needs gluonish.
"""

import importlib
import json
import math
import sys
from pathlib import Path
from typing import Any

from benchmarks.interleaved.graph import Step, parse_steps

_SMALL = {"lenet": (1, 28, 28), "mlp": (784,)}


def image_shape(name: str) -> tuple[int, ...]:
    """Shape of one image of a network."""
    if name in _SMALL:
        return _SMALL[name]
    return (3, 299, 299) if "inception_v3" in name or "inceptionv3" in name else (3, 224, 224)


def build(mx: Any, name: str) -> Any:
    """The network of this name, of the package ``mx``, not initialized."""
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        if name == "mlp":
            net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"))
            net.add(nn.Dense(10))
        elif name == "lenet":
            net.add(nn.Conv2D(20, 5, activation="tanh"), nn.MaxPool2D(2, 2))
            net.add(nn.Conv2D(50, 5, activation="tanh"), nn.MaxPool2D(2, 2))
            net.add(nn.Flatten(), nn.Dense(500, activation="tanh"), nn.Dense(10))
        else:
            return mx.gluon.model_zoo.vision.get_model(name)
    return net


def describe(mx: Any, name: str) -> dict[str, Any]:
    """All that a peer must know of a network; see `graph.Network`."""
    shape = image_shape(name)
    symbol = build(mx, name)(mx.sym.var("data"))
    text = symbol.tojson()
    arguments, outputs, statistics = symbol.infer_shape(data=(1, *shape))
    names = [*symbol.list_arguments(), *symbol.list_auxiliary_states()]
    parameters = dict(zip(names, [*arguments, *statistics], strict=True))
    inner = symbol.get_internals()
    shapes = dict(zip(inner.list_outputs(), inner.infer_shape(data=(1, *shape))[1], strict=True))
    shapes |= {key.removesuffix("_output"): found for key, found in shapes.items()}
    steps = parse_steps(text)
    products = [step for step in steps if step.op in ("Convolution", "FullyConnected")]
    flops = [_flops(step, shapes) for step in products]
    return {
        "name": name,
        "shape": shape,
        "classes": outputs[0][-1],
        "symbol": text,
        "parameters": {key: found for key, found in parameters.items() if key != "data"},
        "flops": sum(flops),
        "first_flops": flops[0],
        "convolutions": [
            {
                "data": shapes[step.inputs[0]],
                "weight": shapes[step.inputs[1]],
                "output": shapes[step.name],
                "attrs": step.attrs,
            }
            for step in products
            if step.op == "Convolution"
        ],
    }


def _flops(step: Step, shapes: dict[str, tuple[int, ...]]) -> int:
    """Two for each multiplication: every element of the output takes one filter."""
    return 2 * math.prod(shapes[step.name]) * math.prod(shapes[step.inputs[1]][1:])


if __name__ == "__main__":
    found = describe(importlib.import_module("gluonish"), sys.argv[1])
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
