"""Makes gluon.json, gluon.npz and resnet_params.json.gz; run it with MXNet 1.9.1.

Parameters are filled by `fill`, which the tests have as well, so that no weights need to be stored.
"""

import contextlib
import gzip
import io
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import nd
from mxnet.gluon import Block, HybridBlock, nn
from mxnet.gluon.model_zoo import vision

HERE = Path(__file__).resolve().parent

LAYERS = {
    "nn.Dense(3)": (2, 4),
    "nn.Dense(3, in_units=4, activation='tanh')": (2, 4),
    "nn.Dense(2, use_bias=False, flatten=False)": (2, 3, 4),
    "nn.Dropout(0.3, axes=(1,))": (2, 4),
    "nn.Dropout(0)": (2, 4),
    "nn.BatchNorm()": (2, 3, 4),
    "nn.BatchNorm(in_channels=4, scale=False, center=False, axis=2, epsilon=0.1)": (2, 3, 4),
    "nn.BatchNorm(use_global_stats=True, momentum=0.5)": (2, 3),
    "nn.Conv1D(4, 3)": (2, 3, 6),
    "nn.Conv2D(4, 3, padding=1, in_channels=3)": (2, 3, 5, 5),
    "nn.Conv2D(4, (3, 2), strides=2, padding=(1, 0), dilation=2, groups=2, in_channels=4,"
    " activation='relu', use_bias=False)": (1, 4, 7, 7),
    "nn.Conv3D(2, 2)": (1, 2, 3, 3, 3),
    "nn.MaxPool1D()": (2, 3, 7),
    "nn.MaxPool2D()": (2, 3, 6, 6),
    "nn.MaxPool2D(3, 2, 1, ceil_mode=True)": (2, 3, 6, 6),
    "nn.MaxPool3D()": (1, 2, 4, 4, 4),
    "nn.AvgPool1D()": (2, 3, 6),
    "nn.AvgPool2D(3, 1, 1, count_include_pad=False)": (1, 2, 5, 5),
    "nn.AvgPool3D(3, padding=1)": (1, 2, 4, 4, 4),
    "nn.GlobalMaxPool1D()": (2, 3, 6),
    "nn.GlobalMaxPool2D()": (2, 3, 5, 4),
    "nn.GlobalMaxPool3D()": (1, 2, 3, 3, 3),
    "nn.GlobalAvgPool1D()": (2, 3, 6),
    "nn.GlobalAvgPool2D()": (2, 3, 5, 4),
    "nn.GlobalAvgPool3D()": (1, 2, 3, 3, 3),
    "nn.Flatten()": (2, 3, 4),
    "nn.Activation('relu')": (2, 4),
    "nn.Activation('softrelu')": (2, 4),
    "nn.LeakyReLU(0.2)": (2, 4),
    "nn.PReLU()": (2, 4),
    "nn.PReLU(in_channels=3)": (2, 3, 4),
    "nn.ELU(2.0)": (2, 4),
    "nn.SELU()": (2, 4),
    "nn.GELU()": (2, 4),
    "nn.Swish(1.5)": (2, 4),
    "nn.Embedding(10, 4)": None,
    "nn.LayerNorm()": (2, 3, 4),
    "nn.LayerNorm(axis=1, epsilon=0.01, scale=False, in_channels=3)": (2, 3, 4),
    "nn.Lambda('relu')": (2, 4),
    "nn.HybridLambda('tanh')": (2, 4),
    "nn.ReflectionPad2D(2)": (1, 2, 4, 5),
    "nn.ReflectionPad2D((0, 0, 0, 0, 1, 2, 3, 0))": (1, 2, 4, 5),
    "nn.GroupNorm()": (2, 4, 3),
    "nn.GroupNorm(2, epsilon=0.1, scale=False)": (2, 4, 3, 3),
    "nn.InstanceNorm()": (2, 3, 4, 4),
    "nn.InstanceNorm(axis=-1, scale=True, center=False, in_channels=4)": (2, 3, 5, 4),
    "nn.BatchNormReLU()": (2, 3, 4, 4),
    "nn.Conv1DTranspose(4, 3)": (2, 3, 5),
    "nn.Conv2DTranspose(4, 3, strides=2, padding=1, output_padding=1, in_channels=4, groups=2,"
    " activation='relu')": (1, 4, 3, 4),
    "nn.Conv3DTranspose(2, 2, use_bias=False)": (1, 3, 2, 3, 2),
}

RESNETS = {
    "vision.ResNetV1(vision.BasicBlockV1, [1, 2], [2, 2, 4], classes=3, thumbnail=True,"
    " prefix='r_')": 8,
    "vision.ResNetV1(vision.BottleneckV1, [1, 1], [4, 4, 8], classes=3, prefix='r_')": 16,
    "vision.ResNetV2(vision.BasicBlockV2, [1, 2], [2, 2, 4], classes=3, prefix='r_')": 16,
    "vision.ResNetV2(vision.BottleneckV2, [1, 1], [4, 4, 8], classes=3, thumbnail=True,"
    " prefix='r_')": 8,
}


def fill(parameters):
    """Give every parameter values that follow from its place and size."""
    for i, (name, parameter) in enumerate(parameters.items()):
        values = np.sin(np.arange(np.prod(parameter.shape)) * 1.7 + i).reshape(parameter.shape)
        if name.endswith("running_var"):
            values = np.abs(values) + 0.5
        parameter.set_data(nd.array(values * 0.5))


def data(shape):
    """Return the input of a layer: values of both signs, or numbers for Embedding."""
    if shape is None:
        return nd.array([[1, 3, 9], [0, 3, 2]])
    return nd.array(np.cos(np.arange(np.prod(shape)) * 0.9).reshape(shape))


def init_name(parameter):
    """Return an initializer as text."""
    init = parameter.init
    return init if init is None or isinstance(init, str) else init.dumps()


def nodes(layer):
    """Return a layer's symbol graph."""
    output = layer(mx.sym.var("data"))
    return [
        [node["op"], node["name"], node.get("attrs", {}), node["inputs"]]
        for node in json.loads(output.tojson())["nodes"]
    ]


class Inner(Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.d0 = nn.Dense(3)
            self.d1 = nn.Dense(4, in_units=3, activation="relu")


class Net(Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.a = Inner()
            self.b = Inner(prefix="bb_")
            self.c = nn.Sequential(prefix="")
            with self.c.name_scope():
                self.c.add(nn.Dense(2), nn.BatchNorm(), nn.Conv2D(2, 3))
            self.w = self.params.get("w", shape=(3, 4))
            self.e = nn.Dense(7)
        self.out = nn.Dense(8)


class Shared(HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.d0 = nn.Dense(3, in_units=3)
            self.d1 = nn.Dense(3, in_units=3, params=self.d0.params)
            self.k = self.params.get("k", shape=(2, 2), grad_req="null")
            self.s = nn.HybridSequential()
            self.s.add(nn.Dense(3, in_units=3, activation="relu"))

    def hybrid_forward(self, F, x, y, k):
        return self.s(self.d1(self.d0(x))), [y, (x, y)]


def summary():
    net = Shared()
    net.initialize()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        net.summary(nd.ones((2, 3)), nd.ones((1,)))
    return out.getvalue()


def facts():
    net = Net()
    second = Net()
    named = Net(prefix="x_")
    shared = Net(params=named.collect_params())
    return {
        "names": list(net.collect_params()),
        "weights": list(net.collect_params(".*weight|.*_w")),
        "second": list(second.collect_params()),
        "named": list(named.collect_params()),
        "shared": [shared.prefix, shared.params.prefix, list(shared.collect_params())],
        "repr": repr(net),
        "params_repr": repr(net.a.collect_params()),
        "structural": list(net._collect_params_with_prefix()),
        "summary": summary(),
    }


def layers(arrays):
    found = {}
    for i, (text, shape) in enumerate(LAYERS.items()):
        layer = eval(text, {"nn": nn})
        entry = {
            "shape": shape,
            "name": layer.name,
            "repr": repr(layer),
            "children": list(layer._children),
            "params": [
                [name, list(p.shape), init_name(p), p.grad_req] for name, p in layer.params.items()
            ],
        }
        if isinstance(layer, HybridBlock):
            entry["nodes"] = nodes(layer)
        x = data(shape)
        layer.initialize()
        layer(x)
        fill(layer.collect_params())
        entry["repr_after"] = repr(layer)
        arrays[f"layer{i}"] = layer(x).asnumpy()
        if "BatchNorm" in text:
            x.attach_grad()
            with mx.autograd.record():
                y = layer(x)
            y.backward()  # MXNet moves the running statistics there, on the CPU
            nd.waitall()  # which reading them alone does not wait for
            arrays[f"layer{i}_train"] = y.asnumpy()
            arrays[f"layer{i}_mean"] = layer.running_mean.data().asnumpy()
        found[text] = entry
    return found


def resnets(arrays):
    found = {}
    for i, (text, size) in enumerate(RESNETS.items()):
        net = eval(text, {"vision": vision})
        x = data((2, 3, size, size))
        entry = {"size": size, "nodes": nodes(net)}
        net.initialize()
        net(x)
        fill(net.collect_params())
        arrays[f"resnet{i}"] = net(x).asnumpy()
        found[text] = entry
    return found


def resnet_params():
    """Return names and shapes of the ten published networks, in the order of their files."""
    found = {}
    for depth in (18, 34, 50, 101, 152):
        for version in (1, 2):
            net = vision.get_resnet(version, depth)
            net.initialize()
            net(nd.zeros((1, 3, 32, 32)))
            found[f"resnet{depth}_v{version}"] = [
                f"{name} {','.join(map(str, p.shape))}"
                for name, p in net._collect_params_with_prefix().items()
            ]
    return found


def main():
    arrays = {}  # type: ignore[var-annotated]
    # Names count from 0 in a new thread.
    with ThreadPoolExecutor(1) as thread:
        content = {"layers": thread.submit(layers, arrays).result()}
    content = {**facts(), **content, "resnets": resnets(arrays)}
    text = json.dumps(content, indent=1)
    text = re.sub(r"\n {4,}", " ", text)
    (HERE / "gluon.json").write_text(text + "\n")
    np.savez_compressed(HERE / "gluon.npz", **arrays)
    packed = gzip.compress(json.dumps(resnet_params()).encode(), mtime=0)
    (HERE / "resnet_params.json.gz").write_bytes(packed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
