import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np
from mxnet.gluon import nn

from tests.programs_2_0.errors import error


class Net(nn.HybridBlock):
    def __init__(self, units=3):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(nn.Dense(4, activation="relu"), nn.Dense(units))
        self.scale = gluon.Parameter("factor", shape=(units,), init="ones")

    def forward(self, x):
        return self.body(x) * self.scale.data()


def names_of_parameters():
    return list(Net().collect_params())


def names_in_lists_and_children():
    class Outer(nn.Block):
        def __init__(self):
            super().__init__()
            self.inner = Net()
            self.others = nn.Sequential()
            self.others.add(nn.BatchNorm(), Net())

        def forward(self, x):
            return x

    return list(Outer().collect_params())


def select_parameters():
    net = Net()
    return (
        list(net.collect_params(".*weight")),
        list(net.collect_params("body.*")),
        list(net.collect_params("nothing")),
        list(net.collect_params(".*bias|scale")),
    )


def own_params_dict():
    net = Net()
    return list(net.params), list(net.body[0].params), type(net.collect_params()).__name__


def uninitialized_use():
    net = nn.Dense(2, in_units=3)
    return error(net, np.ones((1, 3))), error(net.weight.data)


def deferred_shapes():
    net = nn.Dense(2)
    before = net.weight.shape
    net.initialize()
    late = error(net.weight.data)
    net(np.ones((1, 5)))
    return before, late, net.weight.shape, net.weight.data().shape


def initialize_forms():
    net = Net()
    net.initialize(mx.init.Constant(0.5), device=mx.cpu())
    return net(np.ones((1, 2)))


def initialize_twice():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    net.initialize(mx.init.Zero())
    a = net.weight.data().copy()
    net.initialize(mx.init.Zero(), force_reinit=True)
    return a, net.weight.data()


def initializer_of_layer_wins():
    net = nn.HybridSequential()
    net.add(
        nn.Dense(2, weight_initializer=mx.init.Constant(3), bias_initializer="ones", in_units=1)
    )
    net.initialize(mx.init.Zero())
    return net[0].weight.data(), net[0].bias.data()


def apply_to_all():
    seen = []
    net = Net()
    net.apply(lambda block: seen.append(type(block).__name__))
    return seen


def own_initialization_by_apply():
    def fill(block):
        if isinstance(block, nn.Dense):
            block.weight.initialize(mx.init.Constant(2))

    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=1))
    net.apply(fill)
    return net[0].weight.data()


def save_and_load():
    net, other = Net(), Net()
    net.initialize(mx.init.Uniform(1))
    x = np.ones((1, 2))
    y = net(x)
    net.save_parameters("net.params")
    other.load_parameters("net.params")
    return bool((other(x) == y).all())


def keys_of_saved_file():
    net = Net()
    net.initialize()
    net(np.ones((1, 2)))
    net.save_parameters("net.params")
    return sorted(mx.npx.load("net.params"))


def keys_of_npz_file():
    net = Net()
    net.initialize()
    net(np.ones((1, 2)))
    net.save_parameters("net.npz")
    return sorted(onp.load("net.npz").keys())


def load_missing_and_extra():
    a, b = nn.HybridSequential(), nn.HybridSequential()
    a.add(nn.Dense(2, in_units=2))
    b.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
    a.initialize(mx.init.One())
    b.initialize(mx.init.Zero())
    a.save_parameters("a.params")
    b.save_parameters("b.params")
    b.load_parameters("a.params", allow_missing=True)
    a.load_parameters("b.params", ignore_extra=True)
    return (
        error(b.load_parameters, "a.params"),
        error(a.load_parameters, "b.params"),
        b[0].weight.data(),
        a[0].weight.data(),
    )


def load_with_cast():
    a, b = nn.Dense(1, in_units=2, dtype="float16"), nn.Dense(1, in_units=2)
    a.initialize(mx.init.One())
    a.save_parameters("a.params")
    b.load_parameters("a.params", cast_dtype=True, dtype_source="current")
    c = nn.Dense(1, in_units=2)
    c.load_parameters("a.params", cast_dtype=True, dtype_source="saved")
    return b.weight.data(), c.weight.data()


def load_wrong_shape():
    a, b = nn.Dense(1, in_units=2), nn.Dense(1, in_units=3)
    a.initialize()
    a.save_parameters("a.params")
    return error(b.load_parameters, "a.params"), error(b.load_parameters, "nothing.params")


def load_dictionary():
    net = nn.Dense(2, in_units=2)
    net.load_dict({"weight": np.ones((2, 2)), "bias": np.zeros(2)})
    return net(np.ones((1, 2)))


def set_and_get_data():
    p = gluon.Parameter("w", shape=(2, 2), init="ones")
    p.initialize()
    p.set_data(np.arange(4).reshape(2, 2))
    return p.data(), p.list_data(), p.grad(), p.list_device() == [mx.cpu()], p.shape


def parameter_attributes():
    p = gluon.Parameter("w", shape=(2, 3), dtype="float16", lr_mult=2.0, wd_mult=0.5)
    return p.name, p.shape, onp.dtype(p.dtype).name, p.lr_mult, p.wd_mult, p.grad_req


def parameter_errors():
    p = gluon.Parameter("w", shape=(2,))
    return (
        error(p.data),
        error(p.grad),
        error(p.list_data),
        error(setattr, p, "grad_req", "what"),
        error(gluon.Parameter("v", shape=(-1,)).initialize),
    )


def grad_req_changes():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    net.collect_params().setattr("grad_req", "null") if hasattr(
        net.collect_params(), "setattr"
    ) else net.setattr("grad_req", "null")
    return net.weight.grad_req, error(net.weight.grad)


def block_setattr():
    net = Net()
    net.setattr("lr_mult", 0.1)
    return [p.lr_mult for p in net.collect_params().values()]


def freezing_a_part():
    net = Net()
    net.initialize(mx.init.One())
    net.body[0].setattr("grad_req", "null")
    with autograd.record():
        y = net(np.ones((1, 2))).sum()
    y.backward()
    return [(k, p.grad_req) for k, p in net.collect_params().items()], net.body[1].weight.grad()


def zero_gradients():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    with autograd.record():
        y = net(np.ones((1, 2)))
    y.backward()
    a = net.weight.grad().copy()
    net.zero_grad()
    return a, net.weight.grad()


def share_parameters_of_block():
    a, b = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
    a.initialize(mx.init.One())
    b.share_parameters(a.collect_params())
    a.weight.set_data(np.full((2, 2), 3))
    return b.weight.data(), b.weight is a.weight, b(np.ones((1, 2)))


def shared_parameter_object():
    a = nn.Dense(2, in_units=2)
    b = nn.Dense(2, in_units=2)
    b.weight = a.weight
    net = nn.HybridSequential()
    net.add(a, b)
    net.initialize(mx.init.One())
    with autograd.record():
        y = net(np.ones((1, 2))).sum()
    y.backward()
    return y, a.weight.grad(), sorted(net.collect_params())


def same_layer_twice():
    layer = nn.Dense(2, in_units=2)
    net = nn.HybridSequential()
    net.add(layer, layer)
    net.initialize(mx.init.One())
    return net(np.ones((1, 2))), sorted(net.collect_params())


def tied_embedding():
    class Tied(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(4, 3)

        def forward(self, x):
            return np.dot(self.embed(x), self.embed.weight.data().T)

    net = Tied()
    net.initialize(mx.init.One())
    net.hybridize()
    with autograd.record():
        y = net(np.array([1, 2])).sum()
    y.backward()
    return y, net.embed.weight.grad()


def forward_hooks():
    seen = []
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    h = net.register_forward_hook(lambda block, x, y: seen.append(("after", y.shape)))
    p = net.register_forward_pre_hook(lambda block, x: seen.append(("before", x[0].shape)))
    net(np.ones((3, 2)))
    h.detach()
    p.detach()
    net(np.ones((3, 2)))
    return seen


def operator_hooks():
    seen = []
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Activation("relu"))
    net.initialize()
    net.hybridize()
    net.register_op_hook(lambda name, op, value: seen.append(op), monitor_all=False)
    net(np.ones((1, 2)))
    return len(seen) > 0


def summaries():
    net = Net()
    net.initialize()
    return net.summary(np.ones((1, 2)))


def summary_when_hybridized():
    net = Net()
    net.initialize()
    net.hybridize()
    return error(net.summary, np.ones((1, 2)))


def block_repr():
    return repr(Net())


def children_registry():
    net = Net()
    return list(net._children), len(net.body)


def register_child_forms():
    net = nn.Sequential()
    a, b = nn.Dense(1), nn.Dense(1)
    net.register_child(a, "first")
    net.register_child(b)
    return list(net.collect_params())


def replace_child():
    net = Net()
    net.body = nn.HybridSequential()
    net.body.add(nn.Dense(2))
    return list(net.collect_params())


def change_type_of_attribute():
    net = Net()
    return error(setattr, net, "body", 5)


def blocks_in_python_lists():
    class Hidden(nn.Block):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Dense(1), nn.Dense(1)]

        def forward(self, x):
            return x

    import warnings

    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        return list(Hidden().collect_params())


def forward_of_block_with_dict():
    class D(nn.Block):
        def forward(self, x):
            return {"double": x * 2, "sum": x.sum()}

    return D()(np.ones(2))


def forward_with_keywords():
    class K(nn.Block):
        def forward(self, x, scale=1.0, shift=None):
            y = x * scale
            return y if shift is None else y + shift

    net = K()
    return net(np.ones(2)), net(np.ones(2), 3.0), net(np.ones(2), 2.0, 1.0)


def forward_not_written():
    class Empty(nn.Block):
        pass

    return error(Empty(), np.ones(2))


def nested_list_inputs():
    class L(nn.HybridBlock):
        def forward(self, x, states):
            return x + states[0], [states[0] * 2, states[1] + x]

    net = L()
    a = net(np.ones(2), [np.ones(2), np.zeros(2)])
    net.hybridize()
    return a, net(np.ones(2), [np.ones(2), np.zeros(2)])


def none_as_input():
    class N(nn.HybridBlock):
        def forward(self, x, mask=None):
            return x if mask is None else x * mask

    net = N()
    net.hybridize()
    return net(np.ones(2)), net(np.ones(2), None)


def reset_device_of_block():
    net = Net()
    net.initialize()
    net(np.ones((1, 2)))
    net.reset_device(mx.cpu(0))
    return net.scale.list_device() == [mx.cpu()], net(np.ones((1, 2))).shape


def copies_of_weights():
    a, b = Net(), Net()
    a.initialize(mx.init.Uniform(1))
    b.initialize()
    x = np.ones((1, 2))
    a(x)
    b(x)
    for k, p in a.collect_params().items():
        b.collect_params()[k].set_data(p.data())
    return bool((a(x) == b(x)).all())


def moving_average_of_weights():
    a = nn.Dense(1, in_units=2)
    a.initialize(mx.init.One())
    average = {k: p.data().copy() for k, p in a.collect_params().items()}
    a.weight.set_data(np.zeros((1, 2)))
    for k, p in a.collect_params().items():
        average[k] = 0.9 * average[k] + 0.1 * p.data()
    return average


def count_of_parameters():
    net = Net()
    net.initialize()
    net(np.ones((1, 2)))
    return sum(int(onp.prod(p.shape)) for p in net.collect_params().values())


def intermediate_features():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(3, in_units=2))
    net.initialize(mx.init.One())
    outs, x = [], np.ones((1, 2))
    for layer in net:
        x = layer(x)
        outs.append(x)
    return outs


def prefix_argument_is_gone():
    return error(nn.Dense, 2, prefix="a_"), error(nn.HybridSequential, params=None)


def name_scope_is_gone():
    return hasattr(Net(), "name_scope"), hasattr(Net(), "prefix")


def constant_parameters():
    c = gluon.Constant(onp.array([1.0, 2.0]))
    c.initialize()
    return c.data(), c.grad_req, c.name


def parameter_cast():
    p = gluon.Parameter("w", shape=(2,), init="ones")
    p.initialize()
    p.cast("float64")
    return p.data(), p.grad()


def parameter_var():
    p = gluon.Parameter("w", shape=(2,))
    return isinstance(p.var(), mx.sym.Symbol)


def params_of_deep_network():
    net = nn.HybridSequential()
    for _ in range(3):
        part = nn.HybridSequential()
        part.add(nn.Dense(1), nn.BatchNorm())
        net.add(part)
    return list(net.collect_params())


def weights_by_attribute():
    net = Net()
    net.initialize(mx.init.One())
    net(np.ones((1, 2)))
    return net.body[1].bias.data(), net.scale.data(), net.body[0].weight.shape


def cast_then_forward():
    net = Net()
    net.initialize(mx.init.One())
    net.cast("float64")
    return net(np.ones((1, 2), dtype="float64"))


def input_sizes_are_checked():
    net = Net()
    net.initialize()
    net(np.ones((1, 2)))
    return error(net, np.ones((1, 3)))


def training_flag_inside_forward():
    class T(nn.Block):
        def forward(self, x):
            return x * 2 if autograd.is_training() else x

    net = T()
    with autograd.record():
        a = net(np.ones(1))
    return a, net(np.ones(1))


def gradients_of_all_parameters():
    net = Net(2)
    net.initialize(mx.init.Constant(0.1))
    with autograd.record():
        y = net(np.array([[1.0, 2.0], [3.0, 4.0]])).sum()
    y.backward()
    return {k: p.grad() for k, p in net.collect_params().items()}


def gradients_of_one_parameter():
    p = gluon.Parameter("w", shape=(2,), init="ones")
    p.initialize()
    with autograd.record():
        y = (p.data() * 3).sum()
    y.backward()
    return p.grad(), p.list_grad()


def parameters_of_attributes_in_order():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.z = gluon.Parameter("last", shape=(1,))
            self.a = nn.Dense(1)
            self.m = gluon.Parameter("middle", shape=(1,))

    return list(Net().collect_params())


def parameter_name_is_attribute():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.scale = gluon.Parameter("other", shape=(1,))

    net = Net()
    return list(net.collect_params()), list(net.params)


def initialize_part():
    net = Net()
    net.body[0].initialize(mx.init.One())
    return error(net, np.ones((1, 2))), net.body[0](np.ones((1, 2)))


def load_into_uninitialized():
    a, b = nn.Dense(2, in_units=2), nn.Dense(2)
    a.initialize(mx.init.One())
    a.save_parameters("d.params")
    b.load_parameters("d.params", device=mx.cpu())
    return b.weight.shape, b(np.ones((1, 2)))


def deferred_save():
    net = nn.Dense(2)
    net.initialize()
    return error(net.save_parameters, "d.params")


def set_data_before_initialization():
    net = nn.Dense(2)
    net.initialize()
    net.weight.set_data(np.ones((2, 3)))
    return net.weight.shape, net(np.ones((1, 3))).shape


def set_data_of_other_shape():
    net = nn.Dense(2, in_units=3)
    net.initialize()
    return error(net.weight.set_data, np.ones((2, 5)))


def shape_cannot_change():
    p = gluon.Parameter("w", shape=(2, 3))
    return error(setattr, p, "shape", (3, 3))
