import mxnet as mx
import numpy as onp
from mxnet import gluon, np
from mxnet.gluon import nn

from tests.programs_2_0.errors import error


def _with(init, shape=(40, 50), name="weight"):
    p = gluon.Parameter(name, shape=shape, init=init)
    p.initialize()
    return p.data().asnumpy()


def constants():
    return _with("zeros", (2, 2)), _with("ones", (2,)), _with(mx.init.Constant(2.5), (1, 2))


def constant_of_arrays():
    return _with(mx.init.Constant(np.arange(4).reshape(2, 2)), (2, 2))


def uniform_range():
    x = _with(mx.init.Uniform(0.3))
    return bool(abs(x).max() <= 0.3), bool(abs(x).max() > 0.28), bool(abs(x.mean()) < 0.02)


def normal_spread():
    x = _with(mx.init.Normal(0.5))
    return bool(abs(x.std() - 0.5) < 0.03), bool(abs(x.mean()) < 0.05)


def truncated_normal():
    x = _with(mx.init.TruncNorm(0, 1)) if hasattr(mx.init, "TruncNorm") else onp.zeros(1)
    return bool(abs(x).max() <= 2.0)


def xavier_kinds():
    found = []
    for kind, factor in (("avg", 45), ("in", 50), ("out", 40)):
        x = _with(mx.init.Xavier("uniform", kind, 3))
        bound = (3 / factor) ** 0.5
        found += [bool(abs(x).max() <= bound), bool(abs(x).max() > 0.95 * bound)]
    return found


def xavier_gaussian():
    x = _with(mx.init.Xavier("gaussian", "in", 2))
    return bool(abs(x.std() - 0.2) < 0.01)


def msra():
    x = _with(mx.init.MSRAPrelu("in", 0))
    return bool(abs(x.std() - 0.2) < 0.01)


def orthogonal():
    x = _with(mx.init.Orthogonal(scale=1.0), (4, 6))
    return onp.round(x @ x.T, 4) + 0.0


def bilinear():
    return _with(mx.init.Bilinear(), (1, 1, 4, 4))


def lstm_bias():
    return _with(mx.init.LSTMBias(1.0), (8,), "bias")


def constant_for_all():
    init = mx.init.Constant(2)
    net = nn.Dense(1, in_units=2)
    net.initialize(init)
    return net.weight.data(), net.bias.data()


def by_name():
    net = nn.Dense(2, in_units=2, weight_initializer="ones", bias_initializer="zeros")
    net.initialize()
    return net.weight.data(), net.bias.data()


def names_of_aliases():
    net = nn.Dense(4, in_units=3, weight_initializer="xavier")
    net.initialize()
    return bool(abs(net.weight.data()).max() > 0), error(
        nn.Dense(1, in_units=1, weight_initializer="no").initialize
    )


def initializer_creation():
    names = ("zeros", "ones", "uniform", "normal", "xavier", "orthogonal", "msraprelu")
    return [type(mx.initializer.create(n)).__name__ for n in names]


def dumps_and_reprs():
    return mx.init.Xavier().dumps(), mx.init.Normal(0.2).dumps(), mx.init.Zero().dumps()


def equality_of_initializers():
    return mx.init.Normal(0.1) == mx.init.Normal(0.1), mx.init.Normal(0.1) == mx.init.Normal(0.2)


def own_initializer():
    class Ramp(mx.init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = np.arange(arr.size).reshape(arr.shape)

    net = nn.Dense(2, in_units=2)
    net.initialize(Ramp())
    return net.weight.data(), net.bias.data()


def registered_initializer():
    @mx.init.register
    class Fives(mx.init.Initializer):
        def _init_weight(self, name, arr):
            arr[:] = 5

    net = nn.Dense(1, in_units=2, weight_initializer="fives")
    net.initialize()
    return net.weight.data()


def default_initializer():
    net = nn.Dense(30, in_units=40)
    net.initialize()
    w = net.weight.data()
    return bool(abs(w).max() <= 0.07), bool(abs(w).max() > 0.06), net.bias.data().sum()


def biases_and_norms_by_default():
    net = nn.BatchNorm(in_channels=2)
    net.initialize(mx.init.Constant(9))
    return net.gamma.data(), net.beta.data(), net.running_mean.data(), net.running_var.data()


def initializer_called_on_arrays():
    x = np.zeros((2, 2))
    mx.init.One()("weight", x)
    mx.init.Constant(3)(mx.init.InitDesc("weight"), x)
    return x


def seeds_repeat_weights():
    found = []
    for _ in range(2):
        mx.random.seed(11)
        net = nn.Dense(3, in_units=3)
        net.initialize(mx.init.Xavier())
        found.append(net.weight.data())
    return bool((found[0] == found[1]).all())


def initialization_of_convolutions():
    net = nn.Conv2D(30, 3, in_channels=20)
    net.initialize(mx.init.Xavier("gaussian", "out", 2))
    net(np.ones((1, 20, 4, 4)))
    return bool(abs(net.weight.data().std() - (2 / 270) ** 0.5) < 0.01)


def dtype_of_initialized():
    p = gluon.Parameter("w", shape=(2,), dtype="float64", init=mx.init.Normal(1))
    p.initialize()
    return p.data().dtype.name


def rnn_fused_initializer():
    cell = gluon.rnn.LSTM(3, input_size=2)
    cell.initialize(mx.init.Constant(0.1))
    cell(np.ones((1, 1, 2)))
    return {k: p.data() for k, p in sorted(cell.collect_params().items())}
