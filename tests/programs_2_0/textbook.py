import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn, rnn

from tests.programs_2_0.errors import error


def _rand(*shape, seed=0):
    return onp.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def _fill(net, *inputs):
    net.initialize(mx.init.Constant(0.1))
    if inputs:
        net(*inputs)
    for i, (_, p) in enumerate(sorted(net.collect_params().items())):
        if p.grad_req != "null":
            p.set_data(np.array(_rand(*p.shape, seed=i + 1) * 0.5))
    return net


def ssd_targets_and_losses():
    x = np.ones((1, 2, 2, 2))
    anchors = npx.multibox_prior(x, sizes=[0.4], ratios=[1, 2])
    labels = np.array([[[0, 0.1, 0.1, 0.5, 0.5], [1, 0.6, 0.6, 0.9, 0.9]]])
    scores = np.array(_rand(1, 3, 8))
    boxes, masks, classes = npx.multibox_target(anchors, labels, scores)
    loss = np.abs(boxes * masks).mean()
    return boxes, masks, classes, loss


def box_conversion():
    b = np.array([[0.0, 0.0, 2.0, 4.0], [1.0, 1.0, 2.0, 3.0]])
    x1, y1, x2, y2 = b[:, 0], b[:, 1], b[:, 2], b[:, 3]
    center = np.stack(((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1), axis=-1)
    return center, np.split(center, 2, axis=-1)


def box_overlaps():
    a, b = np.array(_rand(3, 4)), np.array(_rand(2, 4, seed=2))
    a, b = np.sort(a.reshape(-1, 2, 2), axis=1), np.sort(b.reshape(-1, 2, 2), axis=1)
    low = np.maximum(np.expand_dims(a[:, 0], 1), b[:, 0])
    high = np.minimum(np.expand_dims(a[:, 1], 1), b[:, 1])
    inter = (
        np.clip(high - low, 0, None).prod(axis=-1)
        if False
        else np.prod(np.clip(high - low, 0, None), axis=-1)
    )
    area = [np.prod(x[:, 1] - x[:, 0], axis=-1) for x in (a, b)]
    return inter / (area[0].reshape(-1, 1) + area[1] - inter)


def bilinear_upsampling():
    def kernel(c_in, c_out, k):
        factor = (k + 1) // 2
        center = factor - 1 if k % 2 == 1 else factor - 0.5
        og = (np.arange(k).reshape(-1, 1), np.arange(k).reshape(1, -1))
        f = (1 - np.abs(og[0] - center) / factor) * (1 - np.abs(og[1] - center) / factor)
        w = np.zeros((c_in, c_out, k, k))
        w[range(c_in), range(c_out), :, :] = f
        return np.array(w)

    net = nn.Conv2DTranspose(1, kernel_size=4, padding=1, strides=2)
    net.initialize(mx.init.Constant(kernel(1, 1, 4)))
    return net(np.arange(4).reshape(1, 1, 2, 2))


def gated_recurrent_by_hand():
    n, h = 2, 3
    names = ("xz", "hz", "xr", "hr", "xh", "hh")
    w = {k: np.array(_rand(h, h, seed=i)) for i, k in enumerate(names)}
    for p in w.values():
        p.attach_grad()
    x, s = np.array(_rand(n, h)), np.zeros((n, h))
    with autograd.record():
        for _ in range(2):
            z = npx.sigmoid(np.dot(x, w["xz"]) + np.dot(s, w["hz"]))
            r = npx.sigmoid(np.dot(x, w["xr"]) + np.dot(s, w["hr"]))
            c = np.tanh(np.dot(x, w["xh"]) + np.dot(r * s, w["hh"]))
            s = z * s + (1 - z) * c
        loss = (s**2).sum()
    loss.backward()
    return s, [w[k].grad for k in names]


def sgd_by_list_of_parameters():
    def sgd(params, lr, batch_size):
        for param in params:
            param[:] = param - lr * param.grad / batch_size

    w, b = np.array(_rand(2, 1)), np.zeros(1)
    for p in (w, b):
        p.attach_grad()
    x, y = np.array(_rand(6, 2)), np.array(_rand(6, 1, seed=4))
    for _ in range(3):
        with autograd.record():
            loss = (np.dot(x, w) + b - y) ** 2 / 2
        loss.backward()
        sgd([w, b], 0.3, 6)
    return w, b


def adam_by_hand():
    p = np.array([1.0, -2.0])
    v, s = np.zeros(2), np.zeros(2)
    p.attach_grad()
    for t in range(1, 4):
        with autograd.record():
            loss = (p**4).sum()
        loss.backward()
        v[:] = 0.9 * v + 0.1 * p.grad
        s[:] = 0.999 * s + 0.001 * np.square(p.grad)
        p[:] -= 0.1 * (v / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-6)
    return p, v, s


def evaluation_by_accumulator():
    class Accumulator:
        def __init__(self, n):
            self.data = [0.0] * n

        def add(self, *args):
            self.data = [a + float(b) for a, b in zip(self.data, args)]

    def accuracy(y_hat, y):
        if len(y_hat.shape) > 1 and y_hat.shape[1] > 1:
            y_hat = y_hat.argmax(axis=1)
        return float((y_hat.astype(y.dtype) == y).astype(y.dtype).sum())

    m = Accumulator(2)
    y = np.array([0, 1, 1], dtype="int32")
    m.add(accuracy(np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]), y), y.size)
    return m.data


def two_device_training():
    devices = [mx.cpu(0), mx.cpu(1)]
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One(), device=devices)
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    x, y = np.array(_rand(4, 2)), np.array(_rand(4, 1, seed=2))
    xs, ys = gluon.utils.split_and_load(x, devices), gluon.utils.split_and_load(y, devices)
    with autograd.record():
        losses = [gluon.loss.L2Loss()(net(a), b) for a, b in zip(xs, ys)]
    for loss in losses:
        loss.backward()
    t.step(4)
    return [net.weight.data(d) for d in devices], len(net.weight.list_data())


def devices_of_parameters():
    net = nn.Dense(1, in_units=2)
    net.initialize(device=[mx.cpu(0), mx.cpu(1)])
    return (
        str(net.weight.list_device()),
        error(net.weight.data, mx.cpu(5)),
        len(net.weight.list_grad()),
    )


def model_parallel_pieces():
    a, b = nn.Dense(2, in_units=2), nn.Dense(1, in_units=2)
    a.initialize(mx.init.One(), device=mx.cpu(0))
    b.initialize(mx.init.One(), device=mx.cpu(1))
    with autograd.record():
        y = b(a(np.ones((1, 2))).copyto(mx.cpu(1)))
    y.backward()
    return y, str(y.device), a.weight.grad()


def bucketed_batches():
    lengths = [3, 1, 2, 5, 4]
    order = sorted(range(5), key=lambda i: lengths[i])
    batches = [order[i : i + 2] for i in range(0, 5, 2)]
    pad = gluon.data.batchify.Pad(val=0)
    return [pad([onp.arange(lengths[i]).astype("float32") for i in b]) for b in batches]


def language_model_batches():
    corpus = np.arange(20)
    x = corpus[:18].reshape(2, -1)
    y = corpus[1:19].reshape(2, -1)
    return [(x[:, i : i + 3], y[:, i : i + 3]) for i in range(0, 9, 3)]


def word_vectors_by_skip_gram():
    center, context = nn.Embedding(6, 3), nn.Embedding(6, 3)
    c, o = np.array([[1], [2]]), np.array([[2, 3, 0], [4, 1, 5]])
    _fill(center, c)
    _fill(context, o)
    pred = npx.batch_dot(center(c), context(o).swapaxes(1, 2))
    label, mask = np.array([[1, 0, 0], [1, 0, 0]]), np.array([[1, 1, 0], [1, 1, 1]])
    loss = gluon.loss.SigmoidBCELoss()
    each = loss(pred.reshape(label.shape), label, mask)
    return pred, each * mask.shape[1] / mask.sum(axis=1)


def nearest_vectors():
    w, x = np.array(_rand(6, 3)), np.array(_rand(3))
    cos = np.dot(w, x) / np.sqrt(np.sum(w * w, axis=1) * np.sum(x * x) + 1e-9)
    top = npx.topk(cos, k=3, ret_typ="indices")
    return cos, [int(i) for i in top]


def recommender_with_bpr():
    pos, neg = np.array([2.0, 1.0]), np.array([0.5, 1.5])
    for x in (pos, neg):
        x.attach_grad()
    with autograd.record():
        loss = -np.sum(np.log(npx.sigmoid(pos - neg)), 0, keepdims=True)
    loss.backward()
    return loss, pos.grad, neg.grad


def factorization_machine():
    v = np.array(_rand(3, 4, 2))
    square = np.sum(v, axis=1) ** 2
    return 0.5 * (square - np.sum(v**2, axis=1)).sum(axis=1, keepdims=True)


def gan_losses():
    bce = gluon.loss.SigmoidBCELoss()
    real, fake = np.array([1.5, -0.2]), np.array([-1.0, 0.4])
    return bce(real, np.ones((2,))) + bce(fake, np.zeros((2,))), bce(fake, np.ones((2,)))


def blocks_with_shared_layer_lists():
    class Net(nn.Block):
        def __init__(self):
            super().__init__()
            shared = nn.Dense(3, in_units=3)
            self.layers = nn.Sequential()
            for _ in range(2):
                self.layers.add(shared)
            self.extra = shared

        def forward(self, x):
            return self.extra(self.layers(x))

    net = Net()
    net.initialize(mx.init.Constant(0.5))
    return net(np.ones((1, 3))), list(net.collect_params())


def custom_layer_with_statistics():
    class Norm(nn.Block):
        def __init__(self, size):
            super().__init__()
            self.gamma = gluon.Parameter("gamma", shape=(1, size), init=mx.init.One())
            self.mean = gluon.Parameter("mean", shape=(1, size), init="zeros", grad_req="null")

        def forward(self, x):
            if autograd.is_training():
                mean = x.mean(axis=0, keepdims=True)
                self.mean.set_data(0.9 * self.mean.data() + 0.1 * mean.detach())
            else:
                mean = self.mean.data()
            return self.gamma.data() * (x - mean)

    net = Norm(2)
    net.initialize()
    x = np.array(_rand(4, 2))
    with autograd.record():
        y = net(x).sum()
    y.backward()
    return net.mean.data(), net.gamma.grad(), net(x)


def lstm_with_projected_output():
    class Model(nn.Block):
        def __init__(self):
            super().__init__()
            self.cell, self.out = rnn.LSTMCell(4, input_size=3), nn.Dense(2)

        def forward(self, x):
            outs, _ = self.cell.unroll(3, x, layout="NTC", merge_outputs=True)
            return self.out(outs[:, -1])

    net = Model()
    x = np.array(_rand(2, 3, 3))
    _fill(net, x)
    with autograd.record():
        y = net(x)
    y.backward()
    return y, net.cell.i2h_weight.grad(), list(net.collect_params())


def teacher_forced_decoder():
    cell, out = rnn.GRUCell(3, input_size=2), nn.Dense(4, in_units=3)
    _fill(cell)
    _fill(out)
    table, state = np.array(_rand(4, 2)), [np.zeros((1, 3))]
    token, path = 0, []
    for _ in range(4):
        y, state = cell(np.expand_dims(table[token], 0), state)
        token = int(out(y).argmax(axis=1).item())
        path.append(token)
    return path, state
