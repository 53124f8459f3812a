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


def hybridized_equals_eager():
    net = _net()
    a = net(np.array(X))
    net.hybridize()
    return a, net(np.array(X)), net(np.array(X))


def static_options():
    found = []
    for options in ({"static_alloc": True}, {"static_alloc": True, "static_shape": True}):
        net = _net()
        net.hybridize(**options)
        found += [net(np.array(X)), net(np.array(X) * 2)]
    return found


def changing_batch_sizes():
    net = _net()
    net.hybridize()
    return [net(np.ones((n, 2))) for n in (1, 3, 2, 1)]


def turning_off():
    net = _net()
    net.hybridize()
    net(np.array(X))
    net.hybridize(active=False)
    return net(np.array(X))


def children_are_hybridized():
    net = nn.Sequential()
    net.add(_net(), nn.Dense(1))
    net.initialize()
    net.hybridize()
    return net(np.ones((1, 2))).shape


def gradients_when_hybridized():
    net = _net()
    net.hybridize()
    x = np.array(X)
    x.attach_grad()
    with autograd.record():
        y = (net(x) ** 2).sum()
    y.backward()
    return x.grad, {k: p.grad() for k, p in net.collect_params().items()}


def weights_change_after_trace():
    net = _net()
    net.hybridize()
    a = net(np.array(X))
    net[1].bias.set_data(np.array([10.0, 20.0]))
    return a, net(np.array(X))


def dropout_in_both_modes():
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5))
    net.hybridize()
    x = np.ones((50, 50))
    a = net(x).sum()
    with autograd.record():
        b = net(x)
    return a, sorted(set(b.asnumpy().ravel().tolist())), net(x).sum()


def batch_norm_in_both_modes():
    net = nn.HybridSequential()
    net.add(nn.BatchNorm())
    net.initialize()
    net.hybridize()
    x = np.array(X)
    with autograd.record():
        a = net(x)
    a.wait_to_read()
    return a, net(x), net[0].running_var.data()


def forward_with_shapes():
    class Net(nn.HybridBlock):
        def forward(self, x):
            n, d = x.shape
            return x.reshape(d, n) * n

    net = Net()
    a = net(np.ones((2, 3)))
    net.hybridize()
    return a, net(np.ones((2, 3)))


def forward_with_python_branches():
    class Net(nn.HybridBlock):
        def __init__(self, double):
            super().__init__()
            self.double = double

        def forward(self, x, flag=None):
            y = x * 2 if self.double else x
            return y if flag is None else y + flag

    a, b = Net(True), Net(False)
    a.hybridize()
    b.hybridize()
    return a(np.ones(2)), b(np.ones(2))


def forward_with_loops_and_lists():
    class Net(nn.HybridBlock):
        def forward(self, xs):
            total = xs[0]
            for x in xs[1:]:
                total = total + x
            return [total, np.stack(xs)]

    net = Net()
    net.hybridize()
    return net([np.ones(2), np.ones(2) * 2, np.ones(2) * 3])


def forward_with_indexing():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x[:, 0], x[0], x[:, -1:], x[:, ::2]

    net = Net()
    x = np.arange(6).reshape(2, 3)
    a = net(x)
    net.hybridize()
    return a, net(x)


def forward_with_operators():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return [-x, x + 1, 1 - x, x * x, 2 / x, x**2, x % 2, x > 1, x == 2, abs(x), x @ x.T]

    net = Net()
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    net.hybridize()
    return net(x)


def forward_with_creation():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x + np.ones((2,)) + np.arange(2) + np.zeros_like(x)

    net = Net()
    net.hybridize()
    return net(np.array(X)), net(np.array(X))


def forward_with_methods():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return (
                x.sum(axis=1),
                x.mean(),
                x.astype("float64"),
                x.T,
                x.reshape(-1),
                x.transpose(1, 0),
                x.max(axis=0),
                x.squeeze(),
                x.flatten(),
            )

    net = Net()
    net.hybridize()
    return net(np.array(X))


def forward_with_functions():
    class Net(nn.HybridBlock):
        def forward(self, x):
            a, b = np.split(x, 2, axis=1)
            c = np.concatenate([b, a], axis=1)
            return np.where(c > 0, c, np.exp(c)), np.einsum("ij,kj->ik", c, x), np.clip(x, 0, 1)

    net = Net()
    a = net(np.array(X))
    net.hybridize()
    return a, net(np.array(X))


def values_are_not_known_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x if float(x.sum()) > 0 else -x

    net = Net()
    net.hybridize()
    return error(net, np.ones(2))


def in_place_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            y = x * 1
            y += 2
            return y

    net = Net()
    return net(np.ones(2))


def assignment_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            y = x * 1
            y[0] = 5
            return y

    net = Net()
    net.hybridize()
    return error(net, np.ones(2))


def dynamic_shapes_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x[x > 0]

    net = Net()
    net.hybridize()
    return net(np.array([1.0, -1.0, 2.0]))


def nonzero_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return npx.nonzero(x)

    net = Net()
    net.hybridize()
    return net(np.array([[1.0, 0.0], [0.0, 2.0]]))


def random_inside():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x + np.random.uniform(0, 1, size=(2,))

    net = Net()
    net.hybridize()
    a, b = net(np.zeros(2)), net(np.zeros(2))
    return bool((a == b).all()), a.min() >= 0, a.shape


def nested_hybrid_blocks():
    class Outer(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.first, self.second = _net(), nn.Dense(1)

        def forward(self, x):
            return self.second(self.first(x) + 1)

    net = Outer()
    net.initialize(mx.init.One())
    net.hybridize()
    return net(np.array(X)), list(net.collect_params())


def block_in_hybrid_block():
    class Outer(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.inner = nn.Sequential()

        def forward(self, x):
            return x

    return error(Outer)


def repeated_input():
    class Net(nn.HybridBlock):
        def forward(self, x, y):
            return x + 2 * y

    net = Net()
    net.hybridize()
    x = np.ones(2)
    return net(x, x), net(x, x * 2)


def output_is_input():
    class Net(nn.HybridBlock):
        def forward(self, x):
            return x, x * 2

    net = Net()
    net.hybridize()
    return net(np.ones(2))


def other_number_of_inputs():
    class Net(nn.HybridBlock):
        def forward(self, *xs):
            return sum(xs[1:], xs[0])

    net = Net()
    net.hybridize()
    return net(np.ones(2))


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
