import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error

IMAGE = (onp.arange(64).reshape(2, 2, 4, 4) % 7 - 3).astype("float32")
X = onp.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 1.0]], "float32")


def _filled(net, *shapes):
    """Give all parameters numbers that do not depend on a generator."""
    net.initialize()
    if shapes:
        net(*[np.zeros(shape) for shape in shapes])
    for i, (_, p) in enumerate(sorted(net.collect_params().items())):
        n = int(onp.prod(p.shape))
        values = onp.linspace(0.1, 0.9, n) * (1 if i % 2 else -1)
        p.set_data(np.array(values.reshape(p.shape), dtype=p.dtype))
    return net


def _trained(net, x):
    """Output, input gradient and gradients of the parameters."""
    x.attach_grad()
    with autograd.record():
        y = net(x)
        loss = (y * y).sum()
    loss.backward()
    params = net.collect_params()
    return y, x.grad, {k: p.grad() for k, p in params.items() if p.grad_req != "null"}


def dense_layers():
    return _trained(_filled(nn.Dense(4, in_units=3)), np.array(X))


def dense_options():
    x = np.array(X)
    return (
        _filled(nn.Dense(2, activation="relu"), (2, 3))(x),
        _filled(nn.Dense(2, use_bias=False), (2, 3))(x),
        _filled(nn.Dense(2, flatten=False), (1, 2, 3))(x[None]).shape,
        _filled(nn.Dense(2), (1, 2, 3))(x[None]).shape,
    )


def dense_in_float64():
    net = nn.Dense(2, dtype="float64", in_units=3)
    return _filled(net)(np.array(X, dtype="float64"))


def dense_wrong_input():
    net = _filled(nn.Dense(2, in_units=3))
    return error(net, np.ones((1, 4)))


def conv_2d():
    return _trained(_filled(nn.Conv2D(3, 3, padding=1), (2, 2, 4, 4)), np.array(IMAGE))


def conv_2d_options():
    x = np.array(IMAGE)
    return (
        _filled(nn.Conv2D(2, 2, strides=2, use_bias=False), x.shape)(x),
        _filled(nn.Conv2D(4, (1, 3), groups=2, activation="relu"), x.shape)(x),
        _filled(nn.Conv2D(1, 2, dilation=(2, 2)), x.shape)(x),
    )


def conv_1d_and_3d():
    a, b = np.arange(12).reshape(1, 2, 6), np.ones((1, 1, 3, 3, 3))
    return _filled(nn.Conv1D(2, 3), a.shape)(a), _filled(nn.Conv3D(1, 2), b.shape)(b)


def conv_transposes():
    a, b = np.arange(8).reshape(1, 2, 4), np.arange(8).reshape(1, 2, 2, 2)
    return (
        _filled(nn.Conv1DTranspose(2, 3), a.shape)(a),
        _filled(nn.Conv2DTranspose(1, 3, strides=2, padding=1, output_padding=1), b.shape)(b),
        _filled(nn.Conv3DTranspose(1, 2), (1, 1, 1, 2, 2))(np.ones((1, 1, 1, 2, 2))),
    )


def conv_transpose_gradients():
    x = np.arange(8).reshape(1, 2, 2, 2)
    return _trained(_filled(nn.Conv2DTranspose(2, 2, strides=2), x.shape), x)


def max_and_average_pools():
    x = np.array(IMAGE)
    return (
        nn.MaxPool2D()(x),
        nn.AvgPool2D(3, strides=1, padding=1)(x),
        nn.MaxPool2D(3, 2, ceil_mode=True)(x),
        nn.AvgPool2D(2, padding=1, count_include_pad=False)(x),
    )


def pools_of_other_ranks():
    a, b = np.arange(10).reshape(1, 2, 5), np.arange(27).reshape(1, 1, 3, 3, 3)
    return nn.MaxPool1D(2)(a), nn.AvgPool1D(3, 1)(a), nn.MaxPool3D(2)(b), nn.AvgPool3D(3)(b)


def global_pools():
    x = np.array(IMAGE)
    return (
        nn.GlobalAvgPool2D()(x),
        nn.GlobalMaxPool2D()(x),
        nn.GlobalAvgPool1D()(np.ones((1, 2, 3))),
        nn.GlobalMaxPool3D()(np.ones((1, 1, 2, 2, 2))),
    )


def reflection_pad():
    return nn.ReflectionPad2D(1)(np.arange(9).reshape(1, 1, 3, 3))


def batch_norm_training():
    net = nn.BatchNorm()
    net.initialize()
    x = np.array(IMAGE)
    with autograd.record():
        y = net(x)
    z = net(x)
    return y, z, net.running_mean.data(), net.running_var.data()


def batch_norm_gradients():
    net = nn.BatchNorm(axis=-1, momentum=0.5, epsilon=1e-3)
    net.initialize()
    x = np.array(X)
    x.attach_grad()
    with autograd.record():
        y = (net(x) * np.array([[1.0, 2.0, 3.0], [2.0, 0.0, 1.0]])).sum()
    y.backward()
    return x.grad, net.gamma.grad(), net.beta.grad(), net.running_var.data()


def batch_norm_frozen_scale():
    net = nn.BatchNorm(scale=False, center=False, use_global_stats=True)
    net.initialize()
    x = np.array(X)
    with autograd.record():
        y = net(x)
    return y, net.gamma.grad_req, net.beta.grad_req, net.running_mean.data()


def batch_norm_relu():
    net = nn.BatchNormReLU() if hasattr(nn, "BatchNormReLU") else nn.BatchNorm()
    net.initialize()
    return net(np.array(X))


def layer_norms():
    net = nn.LayerNorm()
    net.initialize()
    return _trained(net, np.array(X))


def layer_norm_without_parameters():
    net = nn.LayerNorm(center=False, scale=False, epsilon=1e-3)
    net.initialize()
    return net(np.array(X)), sorted(net.collect_params())


def group_norms():
    net = nn.GroupNorm(num_groups=2)
    net.initialize()
    return _trained(net, np.array(IMAGE))


def instance_norms():
    net = nn.InstanceNorm(scale=True)
    net.initialize()
    return net(np.array(IMAGE)), sorted(net.collect_params())


def dropout_layer():
    net = nn.Dropout(0.5)
    x = np.ones((60, 60))
    with autograd.record():
        y = net(x)
    return (
        net(x).sum(),
        sorted(set(y.asnumpy().ravel().tolist())),
        0.4 < float((y == 0).mean()) < 0.6,
    )


def dropout_of_zero():
    with autograd.record():
        return nn.Dropout(0)(np.ones(3))


def embedding_layer():
    net = _filled(nn.Embedding(5, 2))
    x = np.array([[0, 4], [2, 2]])
    with autograd.record():
        y = net(x).sum()
    y.backward()
    return net(x), net.weight.grad()


def flatten_and_lambda():
    x = np.ones((2, 3, 4))
    return (
        nn.Flatten()(x).shape,
        nn.Lambda(lambda v: v * 2)(x).sum(),
    )


def hybrid_lambda_of_function():
    net = nn.HybridLambda(lambda x: npx.leaky_relu(x, slope=0.2))
    net.hybridize()
    return net(np.array(X))


def lambda_by_name():
    return nn.HybridLambda("tanh")(np.array(X)), nn.Lambda("tanh")(np.array(X))


def activation_layers():
    x = np.array(X)
    return [nn.Activation(a)(x) for a in ("relu", "sigmoid", "tanh", "softrelu", "softsign")]


def activation_classes():
    x = np.array(X)
    nets = [nn.LeakyReLU(0.2), nn.ELU(0.5), nn.SELU(), nn.GELU(), nn.SiLU(), nn.Swish(beta=2.0)]
    return [net(x) for net in nets]


def parametric_activation():
    net = nn.PReLU()
    net.initialize()
    return _trained(net, np.array(X))


def gelu_approximations():
    x = np.array(X)
    return nn.GELU()(x), nn.GELU()(x.astype("float64"))


def identity_and_concatenate():
    x = np.array(X)
    net = nn.HybridConcatenate(axis=-1)
    net.add(nn.Identity(), nn.Activation("relu"))
    other = nn.Concatenate(axis=0)
    other.add(nn.Identity(), nn.Identity())
    return net(x), other(x)


def pixel_shuffles():
    return (
        nn.PixelShuffle1D(2)(np.arange(8).reshape(1, 4, 2)),
        nn.PixelShuffle2D((1, 2))(np.arange(8).reshape(1, 2, 2, 2)),
        nn.PixelShuffle3D(2)(np.arange(8).reshape(1, 8, 1, 1, 1)),
    )


def deformable_convolution():
    net = nn.DeformableConvolution(2, kernel_size=(3, 3), padding=(1, 1))
    net.initialize(mx.init.Constant(0.1))
    return net(np.array(IMAGE))


def sync_batch_norm():
    net = nn.SyncBatchNorm(num_devices=1)
    net.initialize()
    with autograd.record():
        y = net(np.array(IMAGE))
    return y, net.running_mean.data()


def sequential_indexing():
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.Activation("relu"), nn.Dense(3))
    names = [type(b).__name__ for b in net]
    return len(net), type(net[1]).__name__, len(net[:2]), type(net[0:1]).__name__, names


def sequential_of_lists():
    net = nn.Sequential()
    for n in (2, 3):
        net.add(nn.Dense(n))
    net.initialize()
    return net(np.ones((1, 4))).shape, error(net.__getitem__, 5)


def sequential_with_several_inputs():
    class Add(nn.HybridBlock):
        def forward(self, x, y):
            return x + y

    net = nn.HybridSequential()
    net.add(Add(), nn.Activation("tanh"))
    return net(np.array(X), np.array(X))


def layer_reprs():
    return (
        repr(nn.Dense(2, in_units=3)),
        repr(nn.Conv2D(2, 3, in_channels=1)),
        repr(nn.MaxPool2D(2)),
        repr(nn.Dropout(0.3)),
        repr(nn.BatchNorm(in_channels=2)),
        repr(nn.Activation("relu")),
        repr(nn.Embedding(3, 2)),
        repr(nn.LayerNorm(in_channels=3)),
    )


def sequential_repr():
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.Dropout(0.5))
    return repr(net)


def more_reprs():
    return (
        repr(nn.LeakyReLU(0.1)),
        repr(nn.Flatten()),
        repr(nn.Lambda("tanh")),
        repr(nn.GroupNorm()),
        repr(nn.PReLU()),
        repr(nn.GlobalAvgPool2D()),
        repr(nn.Conv2DTranspose(2, 3)),
    )


def layers_in_float64():
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.LayerNorm(), nn.Dense(1))
    net.cast("float64")
    net.initialize(mx.init.Constant(0.5))
    return net(np.array(X, dtype="float64"))


def cast_of_network():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3), nn.BatchNorm(in_channels=2))
    net.initialize()
    net.cast("float16")
    return {k: onp.dtype(p.dtype).name for k, p in net.collect_params().items()}


def channels_last_convolution():
    return nn.Conv2D(2, 3, layout="NHWC", in_channels=2).weight.shape


def wrong_layer_arguments():
    return (
        error(nn.Dropout, "a"),
        error(nn.Conv2D, 2, 3, layout="NOTHING"),
        error(nn.LeakyReLU, -1),
        error(nn.MaxPool2D, 2, layout="XYZ"),
    )


def residual_block():
    class Residual(nn.HybridBlock):
        def __init__(self, channels):
            super().__init__()
            self.conv1 = nn.Conv2D(channels, 3, padding=1)
            self.norm = nn.BatchNorm()
            self.conv2 = nn.Conv2D(channels, 1)

        def forward(self, x):
            return npx.relu(self.norm(self.conv1(x)) + self.conv2(x))

    net = _filled(Residual(3), (2, 2, 4, 4))
    net.hybridize()
    return net(np.array(IMAGE)), sorted(net.collect_params())


def squeeze_and_excite():
    class Excite(nn.HybridBlock):
        def __init__(self, channels):
            super().__init__()
            self.body = nn.HybridSequential()
            self.body.add(nn.GlobalAvgPool2D(), nn.Dense(1, activation="relu"))
            self.body.add(nn.Dense(channels, activation="sigmoid"))

        def forward(self, x):
            return x * np.expand_dims(np.expand_dims(self.body(x), 2), 3)

    return _trained(_filled(Excite(2), (2, 2, 4, 4)), np.array(IMAGE))


def inception_branches():
    net = nn.HybridConcatenate(axis=1)
    net.add(nn.Conv2D(1, 1), nn.Conv2D(2, 3, padding=1), nn.MaxPool2D(3, 1, 1))
    return _filled(net, (2, 2, 4, 4))(np.array(IMAGE))


def attention_by_hand():
    class Attention(nn.HybridBlock):
        def __init__(self, units, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Dense(3 * units, flatten=False)
            self.out = nn.Dense(units, flatten=False)

        def forward(self, x):
            q, k, v = np.split(self.qkv(x), 3, axis=-1)
            q, k, v = [self.apart(a) for a in (q, k, v)]
            score = npx.batch_dot(q, k, transpose_b=True) / np.sqrt(2.0)
            y = npx.batch_dot(npx.softmax(score), v)
            y = npx.reshape(y, (-6, -1, self.heads, -2, -2))
            return self.out(npx.reshape(y.transpose(0, 2, 1, 3), (-2, -2, -5)))

        def apart(self, a):
            a = npx.reshape(a, (-2, -2, -6, self.heads, -1)).transpose(0, 2, 1, 3)
            return npx.reshape(a, (-5, -2, -2))

    net = _filled(Attention(4, 2), (2, 3, 4))
    x = np.array(onp.linspace(-1, 1, 24).reshape(2, 3, 4), dtype="float32")
    y = net(x)
    net.hybridize()
    return y, net(x)


def masked_attention():
    q = np.array(onp.linspace(-1, 1, 12).reshape(2, 3, 2), dtype="float32")
    score = npx.batch_dot(q, q, transpose_b=True)
    mask = np.tril(np.ones((3, 3))).astype(bool)
    weight = npx.masked_softmax(score, np.broadcast_to(mask, (2, 3, 3)), axis=-1)
    return npx.batch_dot(weight, q)


def positional_encoding():
    p = np.arange(4).reshape(-1, 1) / np.power(10000, np.arange(0, 6, 2) / 6)
    table = np.zeros((4, 6))
    table[:, 0::2] = np.sin(p)
    table[:, 1::2] = np.cos(p)
    return table


def encoder_cell():
    class Cell(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.ffn = nn.HybridSequential()
            self.ffn.add(nn.Dense(5, activation="relu", flatten=False), nn.Dense(3, flatten=False))
            self.norm = nn.LayerNorm()

        def forward(self, x):
            return self.norm(x + self.ffn(x))

    net = _filled(Cell(), (1, 2, 3))
    net.hybridize()
    return _trained(net, np.expand_dims(np.array(X), 0))


def multi_output_network():
    class Heads(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.body, self.a, self.b = nn.Dense(4), nn.Dense(1), nn.Dense(2)

        def forward(self, x):
            h = np.tanh(self.body(x))
            return self.a(h), self.b(h)

    net = _filled(Heads(), (1, 3))
    first = net(np.array(X))
    net.hybridize()
    return first, net(np.array(X))


def network_with_constant():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.shift = gluon.Constant(np.array([1.0, 2.0, 3.0]))
            self.dense = nn.Dense(2)

        def forward(self, x):
            return self.dense(x + self.shift.data())

    net = Net()
    net.initialize(mx.init.One())
    net.hybridize()
    return net(np.array(X)), sorted(net.collect_params()), net.shift.grad_req


def network_with_own_weight():
    class Net(nn.HybridBlock):
        def __init__(self, units, in_units):
            super().__init__()
            self.weight = gluon.Parameter("weight", shape=(in_units, units), init="ones")
            self.bias = gluon.Parameter("bias", shape=(units,), init=mx.init.Constant(0.5))

        def forward(self, x):
            return np.dot(x, self.weight.data()) + self.bias.data()

    net = Net(2, 3)
    net.initialize()
    return _trained(net, np.array(X))


def network_with_deferred_weight():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.scale = gluon.Parameter(
                "scale", shape=(-1,), init="ones", allow_deferred_init=True
            )

        def forward(self, x):
            return x * self.scale.data()

        def infer_shape(self, x):
            self.scale.shape = (x.shape[1],)

    net = Net()
    net.initialize()
    return net(np.array(X)), net.scale.shape


def network_using_device():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = gluon.Parameter("w", shape=(3,), init="ones")

        def forward(self, x):
            return x * self.w.data(x.device)

    net = Net()
    net.initialize()
    net.hybridize()
    return net(np.array(X))


def depthwise_separable():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3, padding=1, groups=2, use_bias=False), nn.Conv2D(3, 1))
    return _trained(_filled(net, (2, 2, 4, 4)), np.array(IMAGE))


def global_pooling_head():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(3, 3), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(2))
    return _trained(_filled(net, (2, 2, 4, 4)), np.array(IMAGE))


def gradients_through_pools():
    x = np.array(IMAGE)
    found = []
    for net in (nn.MaxPool2D(2), nn.AvgPool2D(2), nn.GlobalMaxPool2D()):
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        found.append(x.grad)
    return found


def gradients_of_activations():
    x = np.array(X)
    found = []
    for net in (
        nn.LeakyReLU(0.2),
        nn.ELU(),
        nn.SELU(),
        nn.GELU(),
        nn.SiLU(),
        nn.Activation("softrelu"),
    ):
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        found.append(x.grad)
    return found
