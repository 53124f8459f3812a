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
    return net(x).sum(), sorted(set(y.asnumpy().ravel().tolist())), 0.4 < float((y == 0).mean()) < 0.6


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


