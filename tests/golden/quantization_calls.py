"""Graphs to quantize, and calls of `mx.contrib.quantization`, the same here and in MXNet.

Numbers come from NumPy, so that both sides have the same. `run` gives what can be compared as JSON;
`arrays` may get what is better kept as arrays.
"""

import json

import numpy as np


def _conv(mx, x, name, **more):
    return mx.sym.Convolution(
        x, name=name, **{"kernel": (3, 3), "num_filter": 8, "pad": (1, 1), **more}
    )


def _dense(mx, x, name, **more):
    return mx.sym.FullyConnected(x, name=name, **{"num_hidden": 8, **more})


def _relu(mx, x, name):
    return mx.sym.Activation(x, act_type="relu", name=name)


def _residual(mx, x):
    S = mx.sym
    c = _conv(mx, x, "c1", no_bias=True)
    y = _relu(mx, S.BatchNorm(c, name="b1", fix_gamma=False), "r1")
    z = _relu(mx, S.elemwise_add(_conv(mx, y, "c2"), y, name="a1"), "r2")
    window = {"kernel": (2, 2), "stride": (2, 2)}
    pools = [
        S.Pooling(z, pool_type="max", name="p1", **window),
        S.Pooling(y, pool_type="avg", name="p2", **window),
    ]
    flat = S.Flatten(S.concat(*pools, dim=1, name="cc"), name="fl")
    return _dense(mx, _dense(mx, flat, "f1", num_hidden=10), "f2", num_hidden=5)


def _between(make):
    """Return a graph of two convolutions with something between."""
    return lambda mx, x: _conv(mx, make(mx, _conv(mx, x, "c1")), "c2")


def _between_dense(make):
    return lambda mx, x: _dense(mx, make(mx, _dense(mx, x, "f1")), "f2")


def _chain(mx, x):
    a = _conv(mx, x, "c1")
    return mx.sym.elemwise_add(a, _conv(mx, a, "c2"), name="ad")


def _mixed(mx, x):
    S = mx.sym
    left = _relu(mx, S.BatchNorm(_conv(mx, x, "c1"), name="b1"), "r1")
    return _conv(mx, S.elemwise_add(left, _conv(mx, x, "cc"), name="ad"), "c2")


def _float_tail(mx, x):
    S = mx.sym
    pooled = S.Pooling(_conv(mx, x, "c1", num_filter=3), kernel=(2, 2), name="p")
    return S.Flatten(pooled, name="fl")


_IMAGE, _ROW = (4, 3, 8, 8), (4, 12)

# Name of each graph: the shape of its data, and what makes it of a variable.
GRAPHS = {
    "residual": (_IMAGE, _residual),
    "chain": (_IMAGE, _chain),
    "mixed": (_IMAGE, _mixed),
    "float_tail": (_IMAGE, _float_tail),
    "clip": (_IMAGE, _between(lambda mx, x: mx.sym.clip(x, 0, 6, name="cl"))),
    "wide_clip": (_IMAGE, _between(lambda mx, x: mx.sym.clip(x, -1, 6, name="cl"))),
    "sigmoid": (
        _IMAGE,
        _between(lambda mx, x: mx.sym.Activation(x, act_type="sigmoid", name="s")),
    ),
    "leaky": (_IMAGE, _between(lambda mx, x: mx.sym.LeakyReLU(x, act_type="leaky", name="l"))),
    "elu": (_IMAGE, _between(lambda mx, x: mx.sym.LeakyReLU(x, act_type="elu", name="l"))),
    "sine": (_IMAGE, _between(lambda mx, x: mx.sym.sin(x, name="s"))),
    "global": (
        _IMAGE,
        lambda mx, x: _dense(
            mx,
            mx.sym.Pooling(_conv(mx, x, "c1"), global_pool=True, pool_type="avg", name="p"),
            "f1",
        ),
    ),
    "grouped": (_IMAGE, lambda mx, x: _conv(mx, _conv(mx, x, "c1"), "c2", num_group=8)),
    "line": (
        (4, 3, 8),
        lambda mx, x: _conv(
            mx, _conv(mx, x, "c1", kernel=(3,), pad=(1,)), "c2", kernel=(3,), pad=(1,)
        ),
    ),
    "volume": ((2, 3, 4, 4, 4), lambda mx, x: _conv(mx, x, "c1", kernel=(3,) * 3, pad=(1,) * 3)),
    "gelu": (_ROW, _between_dense(lambda mx, x: mx.sym.LeakyReLU(x, act_type="gelu", name="g"))),
    "dense_relu": (_ROW, _between_dense(lambda mx, x: _relu(mx, x, "r"))),
    "dense_abs": (_ROW, _between_dense(lambda mx, x: mx.sym.abs(x, name="b"))),
    "dense_tanh": (_ROW, _between_dense(lambda mx, x: mx.sym.tanh(x, name="t"))),
    "dropout": (_ROW, _between_dense(lambda mx, x: mx.sym.Dropout(x, name="d"))),
    "dense_norm": (_ROW, _between_dense(lambda mx, x: mx.sym.BatchNorm(x, name="b"))),
    "rows": (
        (2, 3, 12),
        lambda mx, x: _dense(
            mx, _dense(mx, x, "f1", flatten=False), "f2", flatten=False, no_bias=True
        ),
    ),
    "sum": (
        _ROW,
        lambda mx, x: _dense(
            mx, mx.sym.elemwise_add(_dense(mx, x, "f0"), _dense(mx, x, "f1"), name="s"), "f2"
        ),
    ),
    "product": (
        _ROW,
        lambda mx, x: _dense(
            mx, mx.sym.elemwise_mul(_dense(mx, x, "f0"), _dense(mx, x, "f1"), name="s"), "f2"
        ),
    ),
    "two_outputs": (
        _IMAGE,
        lambda mx, x: mx.sym.Group([_conv(mx, x, "c1"), _relu(mx, _conv(mx, x, "c2"), "r")]),
    ),
}

_NAIVE = {"calib_mode": "naive", "quantized_dtype": "auto", "quantize_mode": "full"}
SETTINGS = {
    "none": {"calib_mode": "none", "quantize_mode": "full"},
    "naive": _NAIVE,
    "smart": {**_NAIVE, "quantize_mode": "smart"},
    "channel": {**_NAIVE, "quantize_granularity": "channel-wise"},
    "uint8": {**_NAIVE, "quantized_dtype": "uint8", "num_calib_examples": 4},
    "without": {**_NAIVE, "excluded_sym_names": ["f2", "c2"], "excluded_op_names": ["Pooling"]},
}


def data_of(name):
    """Return batches of data for a graph: 8 examples, in float32."""
    shape = GRAPHS[name][0]
    numbers = np.random.RandomState(5).uniform(-1, 1, (8, *shape[1:]))
    return numbers.astype(np.float32)


def parameters_of(mx, symbol, shape):
    """Return arguments and auxiliary states, by name."""
    numbers = np.random.RandomState(7)
    arguments, _, states = symbol.infer_shape(data=shape)

    def made(names, shapes, low):
        return {
            name: mx.nd.array(numbers.uniform(low, 0.5, size).astype(np.float32))
            for name, size in zip(names, shapes, strict=True)
            if name != "data"
        }

    return (
        made(symbol.list_arguments(), arguments, -0.5),
        made(symbol.list_auxiliary_states(), states, 0.1),
    )


def nodes_of(symbol):
    """Return the nodes of a graph as lists of operator, name, attributes and inputs."""
    return [
        [
            node["op"],
            node["name"],
            {} if node["op"] == "null" else node.get("attrs", {}),
            [list(entry[:2]) for entry in node["inputs"]],
        ]
        for node in json.loads(symbol.tojson())["nodes"]
    ]


def run_graph(mx, name, setting, fused):
    """Quantize a graph, and return the new one, its parameters and its states."""
    shape, make = GRAPHS[name]
    symbol = make(mx, mx.sym.var("data"))
    arguments, states = parameters_of(mx, symbol, shape)
    function = mx.contrib.quantization.quantize_model_mkldnn
    if not fused:
        function = mx.contrib.quantization.quantize_model
    settings = dict(SETTINGS[setting])
    if settings["calib_mode"] != "none":
        settings["calib_data"] = mx.io.NDArrayIter(data_of(name), None, shape[0])
    return function(symbol, arguments, states, label_names=None, **settings)


def run_helpers(mx):
    """Return what the functions give that users call for parts of the work."""
    q = mx.contrib.quantization
    numbers = np.random.RandomState(1)
    first = numbers.normal(size=50).astype(np.float32)
    counts, edges = np.histogram(first, bins=5, range=(-3, 3))
    old = (counts, edges, first.min(), first.max(), 3.0)
    found = []
    for more in (numbers.normal(size=30) * 0.5, numbers.normal(size=30) * 4):
        values = more.astype(np.float32)
        size = max(abs(values.min()), abs(values.max()))
        counts, edges, *rest = q.combine_histogram(old, values, values.min(), values.max(), size)
        found.append([counts.tolist(), [float(x) for x in edges], [float(x) for x in rest]])
    return found
