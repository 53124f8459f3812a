"""Write zoo.npz and zoo.json.gz: MXNet's image networks, with weights made from names.

Run with MXNet 1.9.1's Python, from any folder: ``oracle/bin/python make_zoo.py``. The arrays are
the first logits of each network and the first elements of its first convolution's gradient, taken
in training mode; the text holds parameters, their initializers and some graphs. Those of residual
networks are in gluon.json and resnet_params.json.gz.

MXNet has no inception_bn in its zoo, so the one below is built of its layers, after the paper.
"""

import gzip
import json
import re
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import autograd, nd
from mxnet.gluon import HybridBlock, nn
from mxnet.gluon.contrib.nn import HybridConcurrent
from zoo_values import KEPT, freeze, images, input_shape, training_shape, values

FOLDER = Path(__file__).parent
OTHER = "inception_bn"
NAMES = [
    "alexnet",
    *[f"densenet{depth}" for depth in (121, 161, 169, 201)],
    "inceptionv3",
    *[f"mobilenet{width}" for width in (1.0, 0.75, 0.5, 0.25)],
    *[f"mobilenetv2_{width}" for width in (1.0, 0.75, 0.5, 0.25)],
    *[f"resnet{depth}_v{version}" for depth in (18, 34, 50, 101, 152) for version in (1, 2)],
    "squeezenet1.0",
    "squeezenet1.1",
    *[f"vgg{depth}{suffix}" for depth in (11, 13, 16, 19) for suffix in ("", "_bn")],
]
# One of each kind: more would only be longer.
GRAPHS = [
    "alexnet",
    "densenet121",
    "inceptionv3",
    "mobilenet0.5",
    "mobilenetv2_0.5",
    "squeezenet1.0",
    "squeezenet1.1",
    "vgg11",
    "vgg11_bn",
]

# 1x1, 3x3 reduced, 3x3, double 3x3 reduced, double 3x3, pooling, projection; 0 is none, and a
# module without projection halves the size.
MODULES = [
    (64, 64, 64, 64, 96, nn.AvgPool2D, 32),
    (64, 64, 96, 64, 96, nn.AvgPool2D, 64),
    (0, 128, 160, 64, 96, nn.MaxPool2D, 0),
    (224, 64, 96, 96, 128, nn.AvgPool2D, 128),
    (192, 96, 128, 96, 128, nn.AvgPool2D, 128),
    (160, 128, 160, 128, 160, nn.AvgPool2D, 128),
    (96, 128, 192, 160, 192, nn.AvgPool2D, 128),
    (0, 128, 192, 192, 256, nn.MaxPool2D, 0),
    (352, 192, 320, 160, 224, nn.AvgPool2D, 128),
    (352, 192, 320, 192, 224, nn.MaxPool2D, 128),
]


def sequence(*layers):
    """Return layers in a row."""
    row = nn.HybridSequential()
    row.add(*layers)
    return row


def unit(channels, kernel=1, stride=1):
    """Return a convolution with normalization and activation."""
    convolution = nn.Conv2D(channels, kernel, stride, kernel // 2, use_bias=False)
    return sequence(convolution, nn.BatchNorm(), nn.Activation("relu"))


def module(single, reduce, middle, reduce_twice, double, pool, projected):
    """Return one module of `InceptionBN`."""
    stride = 1 if projected else 2
    out = HybridConcurrent(axis=1)
    if single:
        out.add(sequence(unit(single)))
    out.add(sequence(unit(reduce), unit(middle, 3, stride)))
    out.add(sequence(unit(reduce_twice), unit(double, 3), unit(double, 3, stride)))
    out.add(sequence(pool(3, stride, 1), *([unit(projected)] if projected else [])))
    return out


class InceptionBN(HybridBlock):
    """The network of S. Ioffe and C. Szegedy, 2015."""

    def __init__(self):
        super().__init__()
        self.features = sequence(
            unit(64, 7, 2),
            nn.MaxPool2D(3, 2, 1),
            unit(64),
            unit(192, 3),
            nn.MaxPool2D(3, 2, 1),
            *[module(*row) for row in MODULES],
            nn.GlobalAvgPool2D(),
            nn.Flatten(),
        )
        self.output = nn.Dense(1000)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def make(name):
    """Return a network, whose names count from 0."""
    with mx.name.NameManager():
        return InceptionBN() if name == OTHER else mx.gluon.model_zoo.vision.get_model(name)


def filled(name, shape, change=lambda layer: None):
    """Return a network with the weights that follow from the parameters' paths."""
    net = make(name)
    net.apply(change)
    net.initialize(mx.init.Zero())
    net.infer_shape(nd.zeros(shape))
    for path, parameter in net._collect_params_with_prefix().items():
        parameter.set_data(nd.array(values(name, path, parameter.shape)))
    return net


def gradient(name):
    """Return the first elements of the gradient of the first convolution."""
    net = filled(name, training_shape(name), freeze)
    with autograd.record():
        y = net(nd.array(images(training_shape(name))))
    y.backward(nd.array(images(y.shape)))
    first = next(p for p in net.collect_params().values() if p.name.endswith("weight"))
    return first.grad().asnumpy().ravel()[:KEPT]


def description(name):
    """Return parameters, initializers and graph, without what counts networks."""
    net = make(name)
    counted = re.compile(rf"^{net.prefix}")
    prefix = re.sub(r"\d_$", "0_", net.prefix)
    nodes = json.loads(net(mx.sym.var("data")).tojson())["nodes"] if name in GRAPHS else []
    net.infer_shape(nd.zeros(input_shape(name)))
    return {
        "parameters": [
            f"{path} {','.join(map(str, p.shape))}"
            for path, p in net._collect_params_with_prefix().items()
        ],
        "names": [
            f"{counted.sub(prefix, key)} {p.init.dumps() if hasattr(p.init, 'dumps') else p.init}"
            for key, p in net.collect_params().items()
        ],
        "nodes": [
            [n["op"], counted.sub(prefix, n["name"]), n.get("attrs", {}), n["inputs"]]
            for n in nodes
        ],
    }


arrays = {}
for name in [*NAMES, OTHER]:
    net = filled(name, input_shape(name))
    arrays[name] = net(nd.array(images(input_shape(name)))).asnumpy()[:, :KEPT]
    arrays[f"{name} gradient"] = gradient(name)
np.savez_compressed(FOLDER / "zoo.npz", **arrays)
text = json.dumps({name: description(name) for name in NAMES if "resnet" not in name})
(FOLDER / "zoo.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
