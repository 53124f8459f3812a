"""Pieces in the style of the libraries written on MXNet 2.0."""

import math

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn
from mxnet.util import use_np


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


def gen_mask(length, valid):
    steps = npx.arange_like(length, axis=1)
    return (np.expand_dims(steps, 0) < np.expand_dims(valid, 1)).astype("float32")


def length_mask():
    return gen_mask(np.zeros((2, 4)), np.array([1, 3]))


def causal_mask():
    n = 4
    i = np.arange(n).reshape(-1, 1)
    return (i >= np.arange(n).reshape(1, -1)).astype("int32")


@use_np
class MultiHead(nn.HybridBlock):
    def __init__(self, units, heads, use_bias=True):
        super().__init__()
        self._heads, self._units = heads, units
        self.query = nn.Dense(units, use_bias=use_bias, flatten=False)
        self.key = nn.Dense(units, use_bias=use_bias, flatten=False)
        self.value = nn.Dense(units, use_bias=use_bias, flatten=False)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.query(q), self.key(k), self.value(v)
        q, k, v = (npx.reshape(x, (-2, -2, self._heads, -1)) for x in (q, k, v))
        score = np.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self._units / self._heads)
        if mask is not None:
            score = np.where(np.expand_dims(mask, axis=1), score, -1e9)
        weight = npx.softmax(score, axis=-1)
        return npx.reshape(np.einsum("bhqk,bkhd->bqhd", weight, v), (-2, -2, -1)), weight


def multi_head_attention():
    net = MultiHead(4, 2)
    x = np.array(_rand(2, 3, 4))
    _fill(net, x, x, x)
    a = net(x, x, x)
    mask = np.array([[[1, 0, 0], [1, 1, 0], [1, 1, 1]]] * 2)
    b = net(x, x, x, mask)
    return a, b


def multi_head_attention_hybrid():
    net = MultiHead(4, 2, use_bias=False)
    x = np.array(_rand(2, 3, 4))
    _fill(net, x, x, x)
    net.hybridize()
    with autograd.record():
        y, _ = net(x, x, x)
        loss = (y**2).mean()
    loss.backward()
    return loss, net.query.weight.grad(), sorted(net.collect_params())


@use_np
class FeedForward(nn.HybridBlock):
    def __init__(self, units, hidden, pre_norm=False):
        super().__init__()
        self._pre_norm = pre_norm
        self.ffn_1 = nn.Dense(hidden, flatten=False)
        self.ffn_2 = nn.Dense(units, flatten=False)
        self.activation = nn.GELU()
        self.dropout = nn.Dropout(0.0)
        self.layer_norm = nn.LayerNorm(epsilon=1e-12)

    def forward(self, data):
        residual = data
        if self._pre_norm:
            data = self.layer_norm(data)
        out = self.ffn_2(self.activation(self.ffn_1(data)))
        out = self.dropout(out) + residual
        return out if self._pre_norm else self.layer_norm(out)


def feed_forward():
    found = []
    for pre in (False, True):
        net = FeedForward(4, 6, pre)
        x = np.array(_rand(2, 3, 4))
        _fill(net, x)
        a = net(x)
        net.hybridize()
        found += [a, net(x)]
    return found


def sinusoidal_embedding():
    units, steps = 6, np.arange(5).reshape(-1, 1)
    frequencies = np.exp(np.arange(units // 2) * -(math.log(10000) / (units // 2 - 1)))
    angles = steps * np.expand_dims(frequencies, 0)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)


@use_np
class LearnedPositions(nn.HybridBlock):
    def __init__(self, units, max_length):
        super().__init__()
        self.weight = gluon.Parameter(
            "weight", shape=(max_length, units), init=mx.init.Normal(0.02)
        )

    def forward(self, x):
        return x + np.expand_dims(
            np.take(self.weight.data(), npx.arange_like(x, axis=1), axis=0), 0
        )


def learned_positions():
    net = LearnedPositions(3, 8)
    x = np.array(_rand(2, 4, 3))
    _fill(net)
    a = net(x)
    net.hybridize()
    return a, net(x)


@use_np
class Pooler(nn.HybridBlock):
    def __init__(self, units):
        super().__init__()
        self.embed, self.pool = (
            nn.Embedding(7, units),
            nn.Dense(units, activation="tanh", flatten=False),
        )

    def forward(self, tokens, types, valid):
        x = self.embed(tokens) + np.expand_dims(types, -1)
        mask = npx.arange_like(tokens, axis=1).reshape(1, -1) < valid.reshape(-1, 1)
        mean = (x * np.expand_dims(mask, -1)).sum(axis=1) / valid.reshape(-1, 1)
        return x, self.pool(x[:, 0, :]), mean


def sentence_pooling():
    net = Pooler(4)
    tokens, types = np.array([[1, 2, 3], [4, 5, 0]]), np.array([[0, 0, 1], [0, 1, 1]])
    valid = np.array([3, 2])
    _fill(net, tokens, types, valid)
    a = net(tokens, types, valid)
    net.hybridize()
    return a, net(tokens, types, valid)


def masked_language_loss():
    logits = np.array(_rand(2, 3, 5))
    labels, weights = np.array([[1, 2, 0], [4, 0, 0]]), np.array([[1, 1, 0], [1, 0, 0]])
    loss_fn = gluon.loss.SoftmaxCELoss()
    each = loss_fn(logits.reshape(-1, 5), labels.reshape(-1), weights.reshape(-1, 1))
    return each, each.sum() / weights.sum()


def gather_of_masked_positions():
    x = np.array(_rand(2, 4, 3))
    positions = np.array([[0, 2], [1, 3]], dtype="int32")
    batch = np.expand_dims(npx.arange_like(positions, axis=0), 1).astype("int32")
    batch = np.broadcast_to(batch, (2, 2))
    return x[batch, positions], npx.gather_nd(x, np.stack([batch, positions]))


def relative_positions():
    q, k = np.arange(3).reshape(-1, 1), np.arange(4).reshape(1, -1)
    distance = np.clip(k - q, -2, 2) + 2
    table = np.array(_rand(5, 2))
    return distance, np.take(table, distance.astype("int32"), axis=0)


def bucketed_distances():
    d = np.arange(-6, 7)
    large = 2 + (np.log(np.maximum(np.abs(d), 1) / 2) / math.log(4) * 2).astype("int32")
    return np.where(np.abs(d) < 2, np.abs(d).astype("int32"), np.minimum(large, 3))


def beam_search_step():
    scores, log_probs = np.array([[0.0, -1.0]]), np.log(npx.softmax(np.array(_rand(1, 2, 4))))
    total = np.expand_dims(scores, 2) + log_probs
    best, flat = npx.topk(total.reshape(1, -1), k=2, ret_typ="both", axis=1, dtype="int32")
    return best, flat // 4 if False else np.floor(flat / 4), np.mod(flat, 4)


def sampling_top_k():
    logits = np.array([[1.0, 3.0, 2.0, 0.0]])
    kept = npx.topk(logits, k=2, ret_typ="mask")
    return npx.softmax(np.where(kept, logits, -1e9)), kept.dtype.name


def grouped_parameters_with_decay():
    net = FeedForward(4, 6)
    _fill(net, np.ones((1, 2, 4)))
    for _, value in net.collect_params(".*beta|.*gamma|.*bias").items():
        value.wd_mult = 0.0
    params = [p for p in net.collect_params().values() if p.grad_req != "null"]
    t = gluon.Trainer(net.collect_params(), "adamw", {"learning_rate": 0.01, "wd": 0.1})
    with autograd.record():
        loss = net(np.array(_rand(1, 2, 4))).sum()
    loss.backward()
    t.allreduce_grads()
    norm = gluon.utils.clip_global_norm([p.grad() for p in params], 1.0)
    t.update(1)
    return norm, {k: p.wd_mult for k, p in net.collect_params().items()}


def warmup_and_linear_decay():
    rates = []
    for step in range(8):
        rates.append(0.1 * step / 3 if step < 3 else 0.1 * (8 - step) / 5)
    scheduler = mx.lr_scheduler.PolyScheduler(
        max_update=8, base_lr=0.1, pwr=1, final_lr=0, warmup_steps=3, warmup_begin_lr=0
    )
    return rates, [scheduler(i) for i in range(9)]


def accumulated_batches():
    net = nn.Dense(1, in_units=3)
    _fill(net)
    for p in net.collect_params().values():
        p.grad_req = "add"
    t = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": 0.01}, update_on_kvstore=False
    )
    for _ in range(2):
        net.zero_grad()
        for i in range(2):
            with autograd.record():
                loss = (net(np.array(_rand(2, 3, seed=i))) ** 2).mean() / 2
            loss.backward()
        t.step(1)
    return net.weight.data(), net.weight.grad()


class EncoderLayer(nn.HybridBlock):
    def __init__(self, units, heads):
        super().__init__()
        self.attention, self.ffn = MultiHead(units, heads), FeedForward(units, 2 * units)
        self.proj, self.norm = nn.Dense(units, flatten=False), nn.LayerNorm()

    def forward(self, x, mask):
        y, weight = self.attention(x, x, x, mask)
        return self.ffn(self.norm(x + self.proj(y))), weight


class Encoder(nn.HybridBlock):
    def __init__(self, layers, units, heads):
        super().__init__()
        self.layers = nn.HybridSequential()
        for _ in range(layers):
            self.layers.add(EncoderLayer(units, heads))

    def forward(self, x, valid):
        steps = npx.arange_like(x, axis=1)
        mask = np.expand_dims(steps.reshape(1, -1) < valid.reshape(-1, 1), 1)
        mask = np.broadcast_to(mask, (x.shape[0], x.shape[1], x.shape[1]))
        outputs = []
        for layer in self.layers:
            x, _ = layer(x, mask)
            outputs.append(x)
        return x, outputs


def encoder_of_layers():
    net = Encoder(2, 4, 2)
    x, valid = np.array(_rand(2, 3, 4)), np.array([2, 3])
    _fill(net, x, valid)
    a = net(x, valid)
    net.hybridize()
    return a, net(x, valid), list(net.collect_params())[:4]


def encoder_gradients():
    net = Encoder(1, 4, 2)
    x, valid = np.array(_rand(2, 3, 4)), np.array([2, 3])
    _fill(net, x, valid)
    net.hybridize(static_alloc=True)
    with autograd.record():
        y, _ = net(x, valid)
        loss = (y * y).mean()
    loss.backward()
    return loss, net.layers[0].proj.weight.grad(), net.layers[0].ffn.ffn_1.bias.grad()


def saved_encoder():
    x, valid = np.array(_rand(2, 3, 4)), np.array([2, 3])
    a, b = Encoder(1, 4, 2), Encoder(1, 4, 2)
    _fill(a, x, valid)
    a.save_parameters("e.params", deduplicate=True)
    b.load_parameters("e.params")
    return sorted(npx.load("e.params"))[:3], bool((a(x, valid)[0] == b(x, valid)[0]).all())


def exported_encoder():
    net = FeedForward(4, 6)
    x = np.array(_rand(2, 3, 4))
    _fill(net, x)
    net.hybridize()
    y = net(x)
    net.export("ffn")
    other = gluon.SymbolBlock.imports("ffn-symbol.json", ["data"], "ffn-0000.params")
    return y, other(x), sorted(other.collect_params())


def tied_weights_of_decoder():
    class Model(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(5, 3)
            self.out = nn.Dense(5, use_bias=False, flatten=False, in_units=3)
            self.out.weight = self.embed.weight

        def forward(self, x):
            return self.out(np.tanh(self.embed(x)))

    net = Model()
    _fill(net, np.array([[1, 2]]))
    with autograd.record():
        y = net(np.array([[1, 2]])).sum()
    y.backward()
    return y, net.embed.weight.grad(), list(net.collect_params())


def attention_cell_of_batches():
    def cell(q, k, v, valid):
        score = npx.batch_dot(q, k, transpose_b=True) / math.sqrt(q.shape[-1])
        weight = npx.softmax(
            np.where(np.expand_dims(gen_mask(score[:, 0], valid), 1), score, -1e6), axis=-1
        )
        return npx.batch_dot(weight, v)

    q, k, v = np.array(_rand(2, 1, 3)), np.array(_rand(2, 4, 3)), np.array(_rand(2, 4, 2))
    return cell(q, k, v, np.array([2, 4]))


def additive_attention():
    class Additive(nn.Block):
        def __init__(self, hidden):
            super().__init__()
            self.w_k = nn.Dense(hidden, use_bias=False, flatten=False)
            self.w_q = nn.Dense(hidden, use_bias=False, flatten=False)
            self.w_v = nn.Dense(1, use_bias=False, flatten=False)

        def forward(self, q, k, v):
            q, k = self.w_q(q), self.w_k(k)
            features = np.tanh(np.expand_dims(q, axis=2) + np.expand_dims(k, axis=1))
            scores = np.squeeze(self.w_v(features), axis=-1)
            return npx.batch_dot(npx.softmax(scores), v)

    net = Additive(4)
    q, k, v = np.array(_rand(2, 1, 3)), np.array(_rand(2, 4, 2)), np.array(_rand(2, 4, 2, seed=3))
    _fill(net, q, k, v)
    return net(q, k, v)
