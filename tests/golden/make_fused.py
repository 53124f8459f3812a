"""Write the graphs of fused layers that MXNet 1.4 to 1.6 make, and what they compute.

    pip install mxnet-mkl==1.4.1 "numpy<1.17"      # Python 3.7; also 1.5.1.post0 and 1.6.0
    python tests/golden/make_fused.py 1.4.1.json   # once with each version
    python tests/golden/make_fused.py fused.json.gz 1.4.1.json 1.5.1.json 1.6.0.json

The 8-bit graphs are not run: these versions end with an error of Xbyak's on today's processors.
"""

import gzip
import json
import os
import sys
import tempfile
from logging import getLogger

import numpy as np

SHAPE = (2, 4, 8, 8)
DATA = np.random.RandomState(5).randn(*SHAPE).astype("float32")


def graphs(sym):
    def conv(x, name):
        return sym.Convolution(x, name=name, num_filter=4, kernel=(3, 3), pad=(1, 1))

    def dense(x, name):
        return sym.FullyConnected(x, name=name, num_hidden=5)

    def relu(x, name):
        return sym.Activation(x, name=name, act_type="relu")

    data = sym.var("data")
    first = relu(conv(data, "c0"), "r0")
    total = relu(sym.BatchNorm(conv(first, "c1"), name="b1") + first, "r1")
    pooled = sym.Pooling(total, kernel=(2, 2), stride=(2, 2), pool_type="max", name="p0")
    chain = relu(sym.BatchNorm(conv(data, "c0"), name="b0"), "r0")
    return {
        "chain": sym.softmax(sym.Flatten(conv(chain, "c1"), name="f0"), name="s0"),
        "residual": sym.softmax(sym.Flatten(pooled, name="f0"), name="s0"),
        "dense": sym.softmax(dense(relu(dense(data, "d0"), "r0"), "d1"), name="s0"),
    }


def parameters(mx, graph):
    args, _, states = graph.infer_shape(data=SHAPE)
    random = np.random.RandomState(1)
    made = {
        name: mx.nd.array(random.randn(*shape) * 0.3)
        for name, shape in zip(graph.list_arguments(), args)  # noqa: B905  # Python 3.7
        if name != "data"
    }
    names = graph.list_auxiliary_states()
    return made, {n: mx.nd.array(random.rand(*shape) + 0.5) for n, shape in zip(names, states)}  # noqa: B905  # Python 3.7


def record(graph, arrays):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "symbol.json")
        graph.save(path)
        with open(path) as file:
            text = file.read()
    every = {name: x for part in arrays for name, x in part.items()}
    return {
        "symbol": text,
        "arrays": {n: [str(np.dtype(x.dtype)), x.asnumpy().tolist()] for n, x in every.items()},
    }


def quantized(mx, fused, arrays, mode):
    options = {}
    if mode != "none":
        options = {"calib_data": mx.io.NDArrayIter(DATA, None, 2), "num_calib_examples": 2}
        if mx.__version__ < "1.6":
            options["calib_layer"] = lambda name: True
    made = mx.contrib.quantization.quantize_model(
        fused,
        *arrays,
        calib_mode=mode,
        quantized_dtype="int8",
        label_names=None,
        logger=getLogger("make_fused"),
        **options,
    )
    symbol = made[0]
    for backend in ("MKLDNN_QUANTIZE", "MKLDNN_POST_QUANTIZE"):
        try:
            symbol = symbol.get_backend_symbol(backend)
        except mx.base.MXNetError:  # each version has one of them
            continue
    return record(symbol, made[1:])


def main(path):
    import mxnet as mx

    found = {}
    for name, graph in graphs(mx.sym).items():
        arrays = parameters(mx, graph)
        fused = graph
        for backend in ("MKLDNN_QUANTIZE", "MKLDNN"):
            try:
                fused = graph.get_backend_symbol(backend)
                break
            except mx.base.MXNetError:
                continue
        case = record(fused, arrays)
        every = dict(arrays[0], data=mx.nd.array(DATA))
        bound = fused.bind(mx.cpu(), every, aux_states=arrays[1], grad_req="null")
        case["output"] = bound.forward()[0].asnumpy().tolist()
        found[name] = case
        for mode in ("none", "naive"):
            found[name + " " + mode] = quantized(mx, fused, arrays, mode)
    with open(path, "w") as file:
        json.dump({mx.__version__: found}, file)


def join(path, parts):
    every = {}
    for part in parts:
        with open(part) as file:
            every.update(json.load(file))
    with open(path, "wb") as file:
        file.write(gzip.compress(json.dumps(every, sort_keys=True).encode(), mtime=0))


if __name__ == "__main__":
    join(sys.argv[1], sys.argv[2:]) if sys.argv[2:] else main(sys.argv[1])
