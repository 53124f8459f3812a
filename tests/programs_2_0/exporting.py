import json
import os

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error

X = onp.array([[1.0, -0.5], [0.3, 0.8]], "float32")


def _net():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    net.initialize(mx.init.Constant(0.25))
    return net


def _file(folder, end):
    return sorted(f for f in os.listdir(folder) if f.endswith(end))


def export_writes_files():
    net = _net()
    net.hybridize()
    net(np.array(X))
    found = net.export("model", epoch=3)
    return found, _file(".", "")


def export_without_run():
    net = _net()
    net.hybridize()
    return error(net.export, "model"), error(_net().export, "other")


def exported_keys():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.export("model")
    return sorted(npx.load("model-0000.params"))


def exported_graph():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.export("model")
    graph = json.load(open("model-symbol.json"))
    inputs = [n["name"] for n in graph["nodes"] if n["op"] == "null"]
    return inputs, len(graph["heads"])


def import_of_exported():
    net = _net()
    net.hybridize()
    y = net(np.array(X))
    net.export("model")
    other = gluon.SymbolBlock.imports("model-symbol.json", ["data"], "model-0000.params")
    return y, other(np.array(X)), sorted(other.collect_params())


def import_and_train():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.export("model")
    other = gluon.SymbolBlock.imports("model-symbol.json", "data", "model-0000.params", mx.cpu())
    t = gluon.Trainer(other.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = (other(np.array(X)) ** 2).sum()
    loss.backward()
    t.step(1)
    return other(np.array(X))


def import_without_parameters():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.export("model")
    other = gluon.SymbolBlock.imports("model-symbol.json", ["data"], None)
    other.initialize(mx.init.One())
    return other(np.array(X))


def export_of_two_inputs():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2)

        def forward(self, x, y):
            return self.dense(x) + y, x

    net = Net()
    net.initialize(mx.init.One())
    net.hybridize()
    a = net(np.array(X), np.ones((2, 2)))
    net.export("two")
    other = gluon.SymbolBlock.imports("two-symbol.json", ["data0", "data1"], "two-0000.params")
    return a, other(np.array(X), np.ones((2, 2)))


def export_of_convolution_network():
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(2, 3, padding=1),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(),
        nn.Dense(2),
    )
    net.initialize(mx.init.Constant(0.1))
    net.hybridize()
    x = np.arange(16).reshape(1, 1, 4, 4).astype("float32")
    y = net(x)
    net.export("cnn")
    other = gluon.SymbolBlock.imports("cnn-symbol.json", ["data"], "cnn-0000.params")
    return y, other(x), sorted(npx.load("cnn-0000.params"))


def export_with_float_constants():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return np.tanh(x * 0.5 + 1.25) / 3 - np.ones(2)

    net = Net()
    net.hybridize()
    y = net(np.array(X))
    net.export("f")
    other = (
        gluon.SymbolBlock.imports("f-symbol.json", ["data"], "f-0000.params")
        if os.path.exists("f-0000.params")
        else gluon.SymbolBlock.imports("f-symbol.json", ["data"])
    )
    return y, other(np.array(X))


def to_symbol_and_params():
    net = _net()
    net.hybridize()
    net(np.array(X))
    sym, params = net.export(None)
    return sym.list_arguments(), sorted(params), len(sym.list_outputs())


def deferred_compute_scope():
    a = np.ones(2)
    with mx._deferred_compute.context():
        mx._deferred_compute.set_variable(a, mx.sym.var("a").as_np_ndarray())
        b = a * 2 + 1
    sym = mx._deferred_compute.get_symbol([b])
    return sym.list_arguments(), b


def symbol_block_of_variables():
    x = mx.sym.var("data").as_np_ndarray()
    y = mx.sym.npx.relu(x) * 2
    net = gluon.SymbolBlock(y, x)
    return net(np.array(X))


def optimize_for_default():
    net = _net()
    net.hybridize()
    return error(net.optimize_for, np.array(X), backend="no_such_backend")


def infer_shape_of_block():
    net = _net()
    net.infer_shape(np.ones((1, 5)))
    return net[0].weight.shape, net[1].weight.shape


def hybridize_inactive_children():
    net = _net()
    net.hybridize()
    net[0].hybridize(False)
    return net(np.array(X))


def cast_after_hybridize():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.cast("float64")
    return net(np.array(X, dtype="float64"))


def hybrid_in_float64():
    net = _net()
    net.cast("float64")
    net.hybridize(static_alloc=True)
    return net(np.array(X, dtype="float64"))


def save_hybridized():
    net = _net()
    net.hybridize()
    y = net(np.array(X))
    net.save_parameters("h.params")
    other = _net()
    other.load_parameters("h.params")
    return y, other(np.array(X))


def many_outputs():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return [x * i for i in range(4)]

    net = Net()
    net.hybridize()
    return net(np.ones(2))


def dictionary_outputs():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return {"a": x}

    net = Net()
    net.hybridize()
    return error(net, np.ones(2))


def scalars_as_inputs():
    class Net(nn.HybridBlock):
        def forward(self, x, k):
            return x * k

    return Net()(np.ones(2), 3)


def gradient_of_part():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(2), nn.Dense(1)

        def forward(self, x):
            return self.b(npx.stop_gradient(self.a(x)))

    net = Net()
    net.initialize(mx.init.One())
    net.hybridize()
    with autograd.record():
        y = net(np.array(X)).sum()
    y.backward()
    return net.a.weight.grad(), net.b.weight.grad()


def hybrid_forward_of_old():
    class Old(nn.HybridBlock):
        def hybrid_forward(self, F, x):
            return x

    return error(lambda: Old()(np.ones(2)))


def reloading_into_hybridized():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.load_dict({k: np.zeros(p.shape) for k, p in net.collect_params().items()})
    return net(np.array(X))


def input_structure_changes():
    class Net(nn.HybridBlock):
        def forward(self, x, y=None):
            return x if y is None else x + y

    net = Net()
    net.hybridize()
    net(np.ones(2))
    return error(net, np.ones(2), np.ones(2))


def indexing_with_none_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x[0], x[:, 1], x[0:1, 0]

    net = Net()
    net.hybridize()
    return net(np.array(X))


def export_and_reload_by_other_names():
    net = _net()
    net.hybridize()
    y = net(np.array(X))
    net.export("model", epoch=7, remove_amp_cast=True)
    files = sorted(os.listdir("."))
    other = gluon.SymbolBlock.imports("model-symbol.json", "data", "model-0007.params")
    other.hybridize(static_alloc=True)
    return files, y, other(np.array(X))


def import_of_missing_files():
    return error(gluon.SymbolBlock.imports, "no-symbol.json", "data")


def export_of_list_input():
    class Net(nn.HybridBlock):
        def forward(self, x, states):
            return x + states[0], [states[0] * 2]

    net = Net()
    net.hybridize()
    return net(np.ones(2), [np.ones(2)])


def masked_inside():
    class Net(nn.HybridBlock):
        def forward(self, x, n):
            m = npx.sequence_mask(np.ones_like(x), n, use_sequence_length=True, axis=1)
            return (x * m).sum(axis=1) / m.sum(axis=1)

    net = Net()
    x, n = np.arange(6).reshape(2, 3), np.array([1, 2])
    a = net(x, n)
    net.hybridize()
    return a, net(x, n)


def shapes_by_reshape_codes():
    class Net(nn.HybridBlock):
        def forward(self, x):
            y = npx.reshape(x, (-2, -6, 2, -1, -2))
            return y, npx.reshape(y, (-2, -5, -2)), npx.reshape(x, (-5, -1))

    net = Net()
    net.hybridize()
    return net(np.arange(24).reshape(2, 4, 3))
