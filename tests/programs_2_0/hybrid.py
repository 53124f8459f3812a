import os

import mxnet as mx
import numpy as onp
from mxnet import autograd, np, npx
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
