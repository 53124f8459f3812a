import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn, rnn

from tests.programs_2_0.errors import error


def _rand(*shape, seed=0):
    return onp.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def _fill(net, *inputs):
    """Weights that depend on nothing but their order by name."""
    net.initialize(mx.init.Zero())
    if inputs:
        net(*inputs)
    for i, (_, p) in enumerate(sorted(net.collect_params().items())):
        if p.grad_req != "null":
            p.set_data(np.array(_rand(*p.shape, seed=i + 1) * 0.5))
    return net


def _train(net, x, y, loss_fn, optimizer="sgd", steps=3, **options):
    options.setdefault("learning_rate", 0.1)
    t = gluon.Trainer(net.collect_params(), optimizer, options)
    losses = []
    for _ in range(steps):
        with autograd.record():
            loss = loss_fn(net(x), y).mean()
        loss.backward()
        t.step(1)
        losses.append(loss)
    return losses


def multilayer_perceptron():
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.Dropout(0.0), nn.Dense(3))
    x = np.array(_rand(6, 4))
    _fill(net, x)
    net.hybridize()
    losses = _train(net, x, np.array([0, 1, 2, 0, 1, 2]), gluon.loss.SoftmaxCELoss())
    return losses, net(x)


def lenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 5, activation="sigmoid"), nn.AvgPool2D(2, 2))
    net.add(nn.Conv2D(3, 3, activation="sigmoid"), nn.AvgPool2D(2, 2))
    net.add(nn.Flatten(), nn.Dense(4, activation="sigmoid"), nn.Dense(2))
    x = np.array(_rand(2, 1, 14, 14))
    _fill(net, x)
    return _train(net, x, np.array([0, 1]), gluon.loss.SoftmaxCELoss()), net(x)


def vgg_style():
    def block(n, channels):
        b = nn.HybridSequential()
        for _ in range(n):
            b.add(nn.Conv2D(channels, 3, padding=1, activation="relu"))
        b.add(nn.MaxPool2D(2, 2))
        return b

    net = nn.HybridSequential()
    net.add(block(1, 2), block(2, 3), nn.Dense(2))
    x = np.array(_rand(2, 1, 8, 8))
    _fill(net, x)
    net.hybridize()
    return net(x), list(net.collect_params())


def residual_network():
    class Residual(nn.HybridBlock):
        def __init__(self, channels, use_1x1=False, strides=1):
            super().__init__()
            self.conv1 = nn.Conv2D(channels, 3, padding=1, strides=strides)
            self.conv2 = nn.Conv2D(channels, 3, padding=1)
            self.conv3 = nn.Conv2D(channels, 1, strides=strides) if use_1x1 else None
            self.bn1, self.bn2 = nn.BatchNorm(), nn.BatchNorm()

        def forward(self, x):
            y = npx.relu(self.bn1(self.conv1(x)))
            y = self.bn2(self.conv2(y))
            if self.conv3:
                x = self.conv3(x)
            return npx.relu(y + x)

    net = nn.HybridSequential()
    net.add(Residual(2, True, 2), Residual(2), nn.GlobalAvgPool2D(), nn.Dense(2))
    x = np.array(_rand(2, 1, 6, 6))
    _fill(net, x)
    net.hybridize()
    with autograd.record():
        y = net(x)
    y.backward()
    return y, sorted(net.collect_params()), net[0].conv1.weight.grad()


def dense_network():
    class DenseBlock(nn.HybridBlock):
        def __init__(self, n, channels):
            super().__init__()
            self.net = nn.HybridSequential()
            for _ in range(n):
                part = nn.HybridSequential()
                part.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, 3, padding=1))
                self.net.add(part)

        def forward(self, x):
            for part in self.net:
                x = np.concatenate((x, part(x)), axis=1)
            return x

    net = DenseBlock(2, 2)
    x = np.array(_rand(1, 2, 4, 4))
    _fill(net, x)
    return net(x)


def mobile_bottleneck():
    class Bottleneck(nn.HybridBlock):
        def __init__(self, c_in, c_out, t):
            super().__init__()
            self.out = nn.HybridSequential()
            self.out.add(
                nn.Conv2D(c_in * t, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu")
            )
            self.out.add(
                nn.Conv2D(c_in * t, 3, padding=1, groups=c_in * t, use_bias=False), nn.BatchNorm()
            )
            self.out.add(nn.Conv2D(c_out, 1, use_bias=False))

        def forward(self, x):
            return x + self.out(x)

    net = Bottleneck(2, 2, 2)
    x = np.array(_rand(1, 2, 4, 4))
    _fill(net, x)
    net.hybridize()
    return net(x)


def transformer_encoder():
    class Encoder(nn.HybridBlock):
        def __init__(self, units=4, heads=2, layers=2):
            super().__init__()
            self.heads, self.units = heads, units
            self.embed = nn.Embedding(7, units)
            self.qkv, self.proj = nn.HybridSequential(), nn.HybridSequential()
            self.ffn, self.norm = nn.HybridSequential(), nn.HybridSequential()
            for _ in range(layers):
                self.qkv.add(nn.Dense(3 * units, flatten=False))
                self.proj.add(nn.Dense(units, flatten=False))
                f = nn.HybridSequential()
                f.add(nn.Dense(8, flatten=False), nn.GELU(), nn.Dense(units, flatten=False))
                self.ffn.add(f)
                self.norm.add(nn.LayerNorm())

        def attend(self, i, x):
            q, k, v = np.split(self.qkv[i](x), 3, axis=-1)
            heads = [
                npx.reshape(a, (-2, -2, self.heads, -1)).transpose(0, 2, 1, 3) for a in (q, k, v)
            ]
            q, k, v = heads
            score = np.matmul(q, k.transpose(0, 1, 3, 2)) / (self.units / self.heads) ** 0.5
            y = np.matmul(npx.softmax(score, axis=-1), v).transpose(0, 2, 1, 3)
            return self.proj[i](npx.reshape(y, (-2, -2, -5)))

        def forward(self, tokens):
            x = self.embed(tokens)
            for i in range(len(self.qkv)):
                x = self.norm[i](x + self.attend(i, x))
                x = x + self.ffn[i](x)
            return x.mean(axis=1)

    net = Encoder()
    tokens = np.array([[1, 2, 3], [4, 5, 6]])
    _fill(net, tokens)
    a = net(tokens)
    net.hybridize()
    return (
        a,
        net(tokens),
        _train(net, tokens, np.zeros((2, 4)), gluon.loss.L2Loss(), "adam", learning_rate=0.01),
    )


def sequence_to_sequence():
    class Seq(nn.Block):
        def __init__(self):
            super().__init__()
            self.embed, self.encoder = nn.Embedding(5, 3), rnn.GRU(4)
            self.decoder, self.out = rnn.GRU(4), nn.Dense(5, flatten=False)

        def forward(self, source, target):
            _, state = self.encoder(self.embed(source).swapaxes(0, 1), self.encoder.begin_state(2))
            y, _ = self.decoder(self.embed(target).swapaxes(0, 1), state)
            return self.out(y).swapaxes(0, 1)

    net = Seq()
    a, b = np.array([[1, 2, 3], [2, 3, 4]]), np.array([[0, 1], [0, 2]])
    _fill(net, a, b)
    return net(a, b)


def text_classifier():
    class Model(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embed, self.lstm = nn.Embedding(9, 3), rnn.LSTM(4, bidirectional=True)
            self.out = nn.Dense(2)

        def forward(self, x):
            y = self.lstm(self.embed(x.T))
            return self.out(np.concatenate((y[0], y[-1]), axis=1))

    net = Model()
    x = np.array([[1, 2, 3], [4, 5, 6]])
    _fill(net, x)
    losses = _train(
        net, x, np.array([0, 1]), gluon.loss.SoftmaxCELoss(), "adam", learning_rate=0.01
    )
    return net(x), losses


def text_convolution():
    class TextCNN(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(9, 3)
            self.convs = nn.HybridSequential()
            for k in (2, 3):
                self.convs.add(nn.Conv1D(2, k, activation="relu"))
            self.pool, self.out = nn.GlobalMaxPool1D(), nn.Dense(2)

        def forward(self, x):
            e = self.embed(x).transpose(0, 2, 1)
            parts = [np.squeeze(self.pool(conv(e)), axis=-1) for conv in self.convs]
            return self.out(np.concatenate(parts, axis=1))

    net = TextCNN()
    x = np.array([[1, 2, 3, 4], [4, 5, 6, 7]])
    _fill(net, x)
    net.hybridize()
    return net(x)


def matrix_factorization():
    class Factors(nn.Block):
        def __init__(self):
            super().__init__()
            self.p, self.q = nn.Embedding(4, 2), nn.Embedding(5, 2)
            self.bu, self.bi = nn.Embedding(4, 1), nn.Embedding(5, 1)

        def forward(self, u, i):
            y = (self.p(u) * self.q(i)).sum(axis=1)
            return y + np.squeeze(self.bu(u), 1) + np.squeeze(self.bi(i), 1)

    net = Factors()
    u, i = np.array([0, 3, 1]), np.array([4, 2, 0])
    _fill(net, u, i)
    t = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1, "wd": 1e-3})
    with autograd.record():
        loss = gluon.loss.L2Loss()(net(u, i), np.array([1.0, 3.0, 5.0]))
    loss.backward()
    t.step(3)
    return loss, net(u, i)


def autoencoder():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, activation="tanh"), nn.Dense(5))
    x = np.array(_rand(4, 5))
    _fill(net, x)
    return _train(net, x, x, gluon.loss.L2Loss(), "rmsprop", learning_rate=0.01), net[0](x)


def convolutional_generator():
    net = nn.HybridSequential()
    net.add(nn.Conv2DTranspose(3, 4), nn.BatchNorm(), nn.Activation("relu"))
    net.add(nn.Conv2DTranspose(1, 4, strides=2, padding=1), nn.Activation("tanh"))
    x = np.array(_rand(2, 2, 1, 1))
    _fill(net, x)
    return net(x)


def style_loss():
    x = np.array(_rand(1, 2, 3, 3))
    x.attach_grad()

    def gram(a):
        b = a.reshape(a.shape[1], -1)
        return np.dot(b, b.T) / b.size

    target = gram(np.array(_rand(1, 2, 3, 3, seed=5)))
    with autograd.record():
        tv = (
            np.abs(x[:, :, 1:, :] - x[:, :, :-1, :]).mean()
            + np.abs(x[:, :, :, 1:] - x[:, :, :, :-1]).mean()
        )
        loss = np.square(gram(x) - target).mean() + 0.1 * tv
    loss.backward()
    return loss, x.grad


def triplet_embedding():
    net = nn.Dense(2)
    a, p, n = (np.array(_rand(3, 4, seed=s)) for s in (1, 2, 3))
    _fill(net, a)
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = gluon.loss.TripletLoss()(net(a), net(p), net(n))
    loss.backward()
    t.step(3)
    return loss, net.weight.data()


def policy_learning():
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    s = np.array(_rand(5, 3))
    _fill(net, s)
    actions, returns = np.array([0, 1, 1, 0, 1]), np.array([1.0, -1.0, 0.5, 2.0, 0.0])
    t = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    with autograd.record():
        logp = npx.pick(npx.log_softmax(net(s)), actions)
        loss = -(logp * returns).mean()
    loss.backward()
    t.step(1)
    return loss, npx.softmax(net(s))


def q_learning():
    net, target = nn.Dense(2), nn.Dense(2)
    s, s2 = np.array(_rand(4, 3)), np.array(_rand(4, 3, seed=9))
    _fill(net, s)
    _fill(target, s)
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    goal = np.array([1.0, 0.0, 1.0, 0.0]) + 0.9 * target(s2).max(axis=1)
    with autograd.record():
        loss = gluon.loss.HuberLoss()(npx.pick(net(s), np.array([0, 1, 0, 1])), goal)
    loss.backward()
    t.step(4)
    return loss, net.weight.data()


def kernel_attention():
    def f(x):
        return 2 * np.sin(x) + x**0.8

    x = np.arange(0, 5, 0.5)
    y, query = f(x), np.arange(0, 5, 1.0)
    weight = npx.softmax(-((query.reshape(-1, 1) - x.reshape(1, -1)) ** 2) / 2)
    return np.dot(weight, y), weight[0]


def gaussian_process():
    def rbf(a, b):
        return np.exp(-((a.reshape(-1, 1) - b.reshape(1, -1)) ** 2) / 2)

    x, y, q = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0]), np.array([0.5, 1.5])
    k = rbf(x, x) + 0.01 * np.eye(3)
    return np.dot(rbf(q, x), np.linalg.solve(k, y.reshape(-1, 1)))


def k_means():
    x = np.array(onp.concatenate([_rand(5, 2) + 3, _rand(5, 2, seed=2) - 3]))
    c = x[np.array([0, 5], dtype="int32")]
    for _ in range(3):
        d = ((np.expand_dims(x, 1) - np.expand_dims(c, 0)) ** 2).sum(axis=-1)
        a = npx.one_hot(d.argmin(axis=1), 2)
        c = np.dot(a.T, x) / a.sum(axis=0).reshape(-1, 1)
    return c, d.argmin(axis=1)


def principal_components():
    x = np.array(_rand(8, 3))
    x = x - x.mean(axis=0)
    u, s, vt = np.linalg.svd(np.dot(x.T, x))
    return s, np.abs(vt)


def multi_box_head():
    class Head(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.classes, self.boxes = (
                nn.Conv2D(2 * 3, 3, padding=1),
                nn.Conv2D(2 * 4, 3, padding=1),
            )

        def forward(self, x):
            anchors = npx.multibox_prior(x, sizes=[0.5, 0.3], ratios=[1])
            c = npx.batch_flatten(self.classes(x).transpose(0, 2, 3, 1)).reshape(x.shape[0], -1, 3)
            return anchors, c, npx.batch_flatten(self.boxes(x).transpose(0, 2, 3, 1))

    net = Head()
    x = np.array(_rand(1, 2, 2, 2))
    _fill(net, x)
    return net(x)


def graph_convolution():
    a = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    d = np.diag(1 / np.sqrt(a.sum(axis=1)))
    net = nn.Dense(2, use_bias=False)
    x = np.array(_rand(3, 4))
    _fill(net, x)
    return npx.relu(np.dot(np.dot(np.dot(d, a), d), net(x)))


def variational_autoencoder():
    enc, dec = nn.Dense(4), nn.Dense(3)
    x = np.array(_rand(2, 3))
    _fill(enc, x)
    _fill(dec, np.ones((2, 2)))
    with autograd.record():
        mu, log_var = np.split(enc(x), 2, axis=1)
        z = mu + np.exp(0.5 * log_var) * np.ones((2, 2)) * 0.3
        kl = -0.5 * (1 + log_var - mu**2 - np.exp(log_var)).sum(axis=1)
        loss = gluon.loss.L2Loss()(dec(z), x) + kl
    loss.backward()
    return loss, enc.weight.grad(), dec.weight.grad()


def time_series_forecast():
    x = onp.sin(onp.arange(20) * 0.5).astype("float32")
    features = np.array(onp.stack([x[i : i + 4] for i in range(12)]))
    labels = np.array(x[4:16])
    net = nn.HybridSequential()
    net.add(nn.Dense(5, activation="relu"), nn.Dense(1))
    _fill(net, features)
    net.hybridize()
    losses = _train(net, features, labels, gluon.loss.L2Loss(), "adam", 4, learning_rate=0.01)
    window = list(x[:4])
    for _ in range(3):
        window.append(float(net(np.array(window[-4:]).reshape(1, 4))))
    return losses, window


def fine_tuning():
    body = nn.HybridSequential()
    body.add(nn.Dense(4, activation="relu"))
    x = np.array(_rand(3, 2))
    _fill(body, x)
    body.save_parameters("body.params")
    net = nn.HybridSequential()
    net.add(nn.HybridSequential(), nn.Dense(2))
    net[0].add(nn.Dense(4, activation="relu"))
    net.initialize(mx.init.Constant(0.1))
    net[0].load_parameters("body.params")
    net[0].setattr("lr_mult", 0.1)
    return _train(net, x, np.array([0, 1, 0]), gluon.loss.SoftmaxCELoss()), net[0][0].weight.data()


def weight_decay_by_hand():
    w = np.ones((3, 1))
    w.attach_grad()
    x, y = np.array(_rand(5, 3)), np.array(_rand(5, 1, seed=3))
    for _ in range(4):
        with autograd.record():
            loss = ((np.dot(x, w) - y) ** 2).mean() + 0.1 * (w**2).sum() / 2
        loss.backward()
        w[:] -= 0.1 * w.grad
    return w, np.linalg.norm(w)


def dropout_by_hand():
    x = np.ones((100, 20))
    mask = np.random.uniform(0, 1, x.shape) > 0.5
    y = mask.astype(np.float32) * x / 0.5
    return bool(abs(y.mean() - 1) < 0.15), sorted(set(y.asnumpy().ravel().tolist()))


def batch_norm_by_hand():
    x = np.array(_rand(4, 3))
    mean, var = x.mean(axis=0), ((x - x.mean(axis=0)) ** 2).mean(axis=0)
    y = (x - mean) / np.sqrt(var + 1e-5)
    net = nn.BatchNorm()
    net.initialize()
    with autograd.record():
        z = net(x)
    return y, bool(abs(y - z).max() < 1e-4)


def correlation_by_hand():
    def corr2d(x, k):
        h, w = k.shape
        y = np.zeros((x.shape[0] - h + 1, x.shape[1] - w + 1))
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] = (x[i : i + h, j : j + w] * k).sum()
        return y

    return corr2d(np.arange(9).reshape(3, 3), np.arange(4).reshape(2, 2))


def recurrence_by_hand():
    x, h = np.array(_rand(3, 2, 4)), np.zeros((2, 3))
    wx, wh, b = np.array(_rand(4, 3)), np.array(_rand(3, 3, seed=4)), np.zeros(3)
    for p in (wx, wh, b):
        p.attach_grad()
    with autograd.record():
        s, outs = h, []
        for step in x:
            s = np.tanh(np.dot(step, wx) + np.dot(s, wh) + b)
            outs.append(s)
        loss = (np.concatenate(outs, axis=0) ** 2).sum()
    loss.backward()
    return loss, wx.grad, wh.grad, b.grad


def learning_rate_search():
    found = []
    for lr in (0.01, 0.1, 1.0):
        net = nn.Dense(1)
        x = np.array(_rand(4, 2))
        _fill(net, x)
        found.append(_train(net, x, np.ones(4), gluon.loss.L2Loss(), learning_rate=lr)[-1])
    return found


def ensembles():
    x, ys = np.array(_rand(3, 2)), []
    for _ in range(3):
        net = nn.Dense(2)
        _fill(net, x)
        ys.append(npx.softmax(net(x)))
    return np.stack(ys).mean(axis=0), np.stack(ys).std(axis=0)


def mixup():
    x, y = np.array(_rand(4, 2)), npx.one_hot(np.array([0, 1, 2, 0]), 3)
    lam = 0.3
    a, b = lam * x + (1 - lam) * x[::-1], lam * y + (1 - lam) * y[::-1]
    return a, b, gluon.loss.SoftmaxCELoss(sparse_label=False)(np.array(_rand(4, 3)), b)


def confusion_matrix():
    y, p = np.array([0, 1, 2, 2]), np.array([0, 2, 2, 1])
    return np.dot(npx.one_hot(y, 3).T, npx.one_hot(p, 3))


def evaluation_of_ranks():
    scores = np.array([[0.1, 0.5, 0.3], [0.9, 0.2, 0.4]])
    order = np.argsort(-scores, axis=1)
    return (
        order,
        npx.topk(scores, k=2, ret_typ="indices", dtype="int32"),
        (order[:, 0] == np.array([1, 0])).mean(),
    )


def quantized_network():
    from mxnet.contrib import quantization

    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    x = np.array(_rand(8, 3))
    _fill(net, x)
    y = net(x)
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(x), 4)
    q = quantization.quantize_net(net, quantized_dtype="auto", calib_mode="naive", calib_data=data)
    return bool(abs(q(x) - y).max() < 0.1)


def loading_wrong_network():
    a, b = nn.Dense(2, in_units=3), nn.Dense(3, in_units=3)
    a.initialize()
    a.save_parameters("a.params")
    return error(b.load_parameters, "a.params")
