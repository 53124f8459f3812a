"""Uses that meet several parts at once."""

import copy
import os

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn, rnn
from mxnet.gluon import probability as mgp

from tests.programs_2_0.errors import error


def _rand(*shape, seed=0):
    return onp.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def _small():
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="tanh", in_units=2), nn.Dense(1, in_units=3))
    net.initialize(mx.init.Constant(0.2))
    return net


def export_twice_and_reload_epochs():
    net = _small()
    net.hybridize()
    x = np.array(_rand(2, 2))
    net(x)
    net.export("m", epoch=1)
    net[1].bias.set_data(np.array([5.0]))
    net.export("m", epoch=2)
    a = gluon.SymbolBlock.imports("m-symbol.json", ["data"], "m-0001.params")(x)
    b = gluon.SymbolBlock.imports("m-symbol.json", ["data"], "m-0002.params")(x)
    return b - a, sorted(os.listdir("."))


def imported_block_as_a_layer():
    net = _small()
    net.hybridize()
    x = np.array(_rand(2, 2))
    net(x)
    net.export("m")
    whole = nn.Sequential()
    whole.add(
        gluon.SymbolBlock.imports("m-symbol.json", ["data"], "m-0000.params"),
        nn.Dense(2, in_units=1),
    )
    whole[1].initialize(mx.init.One())
    return whole(x)


def internal_outputs_of_exported():
    net = _small()
    net.hybridize()
    x = np.array(_rand(2, 2))
    net(x)
    sym, params = net.export(None)
    inner = sym.get_internals()
    names = [n for n in inner.list_outputs() if "output" in n]
    return len(names), len(inner.list_arguments()), sorted(params)


def symbol_file_of_exported():
    net = _small()
    net.hybridize()
    net(np.array(_rand(2, 2)))
    net.export("m")
    s = mx.sym.load("m-symbol.json")
    return s.list_arguments(), s.list_auxiliary_states(), s.infer_shape(data=(4, 2))[1]


def parameters_as_a_dictionary_of_numpy():
    net = _small()
    d = {k: p.data().asnumpy() for k, p in net.collect_params().items()}
    other = _small()
    other.load_dict({k: np.array(v * 2) for k, v in d.items()})
    return other[0].weight.data(), other[1].bias.data()


def load_only_a_part():
    a = _small()
    a.save_parameters("a.params")
    chosen = {k: v for k, v in npx.load("a.params").items() if k.startswith("0.")}
    b = _small()
    b.load_dict({k: v * 3 for k, v in chosen.items()}, allow_missing=True)
    return b[0].weight.data(), b[1].weight.data(), error(_small().load_dict, chosen)


def deep_copies_of_arrays_in_lists():
    xs = [np.ones(2), np.zeros(1)]
    ys = copy.deepcopy(xs)
    xs[0][:] = 7
    return ys, xs


def hooks_change_nothing():
    net = _small()
    seen = []
    net[0].register_forward_pre_hook(lambda b, x: seen.append(x[0].shape))
    net[1].register_forward_hook(lambda b, x, y: seen.append((x[0].shape, y.shape)))
    return net(np.array(_rand(2, 2))), seen


def dropout_is_the_same_for_a_seed():
    net = nn.Dropout(0.5)
    found = []
    for _ in range(2):
        mx.random.seed(4)
        with autograd.train_mode():
            found.append(net(np.ones(50)))
    return bool((found[0] == found[1]).all())


def gradients_of_a_sum_over_blocks():
    a, b = _small(), _small()
    x = np.array(_rand(2, 2))
    with autograd.record():
        y = (a(x) + 2 * b(x)).sum()
    y.backward()
    return a[1].bias.grad(), b[1].bias.grad()


def record_inside_record():
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
        with autograd.record(train_mode=False):
            z = y * x
            inner = autograd.is_training()
        outer = autograd.is_training()
    z.backward()
    return x.grad, inner, outer


def pause_inside_blocks():
    class Net(nn.Block):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(2, in_units=2), nn.Dense(1, in_units=2)

        def forward(self, x):
            with autograd.pause():
                h = self.a(x)
            return self.b(h)

    net = Net()
    net.initialize(mx.init.One())
    with autograd.record():
        y = net(np.ones((1, 2)))
    y.backward()
    return net.b.weight.grad(), net.a.weight.grad()


def mixture_density_head():
    net = nn.Dense(6, in_units=2)
    net.initialize(mx.init.Constant(0.1))
    x, y = np.array(_rand(3, 2)), np.array(_rand(3, 1, seed=1))
    with autograd.record():
        logits, mu, log_s = np.split(net(x), 3, axis=1)
        d = mgp.Normal(mu, np.exp(log_s))
        total = npx.log_softmax(logits) + d.log_prob(y)
        loss = -np.log(np.exp(total).sum(axis=1)).mean()
    loss.backward()
    return loss, net.bias.grad()


def evidence_bound():
    mu, s = np.array([0.5, -0.5]), np.array([1.0, 2.0])
    mu.attach_grad()
    s.attach_grad()
    with autograd.record():
        q, p = mgp.Normal(mu, s), mgp.Normal(np.zeros(2), np.ones(2))
        loss = mgp.kl_divergence(q, p).sum()
    loss.backward()
    return loss, mu.grad, s.grad


def bernoulli_likelihood_trains():
    w = np.zeros((2, 1))
    w.attach_grad()
    x, y = np.array(_rand(6, 2)), (np.array(_rand(6, 1, seed=3)) > 0).astype("float32")
    found = []
    for _ in range(3):
        with autograd.record():
            loss = -mgp.Bernoulli(logit=np.dot(x, w)).log_prob(y).mean()
        loss.backward()
        w -= 0.5 * w.grad
        found.append(loss)
    return found, w


def poisson_regression():
    w = np.array([0.1, -0.2])
    w.attach_grad()
    x, y = np.array(_rand(4, 2)), np.array([0.0, 1.0, 2.0, 3.0])
    with autograd.record():
        loss = -mgp.Poisson(np.exp(np.dot(x, w))).log_prob(y).sum()
    loss.backward()
    return loss, w.grad


def states_carried_over_batches():
    net = rnn.GRU(2, input_size=1)
    net.initialize(mx.init.Constant(0.3))
    state, found = net.begin_state(batch_size=1), []
    for i in range(3):
        y, state = net(np.full((1, 1, 1), float(i)), state)
        found.append(y)
    whole, _ = net(np.arange(3).reshape(3, 1, 1), net.begin_state(batch_size=1))
    return np.concatenate(found), whole


def reversed_sequences():
    x = np.arange(12).reshape(3, 2, 2)
    return npx.sequence_reverse(x) if hasattr(npx, "sequence_reverse") else np.flip(x, 0)


def masked_mean_and_max():
    x, n = np.array(_rand(2, 3, 2)), np.array([2, 3])
    m = npx.sequence_mask(np.ones((2, 3, 1)), n, use_sequence_length=True, axis=1)
    return (x * m).sum(axis=1) / n.reshape(-1, 1), np.where(
        np.broadcast_to(m, x.shape), x, -1e9
    ).max(axis=1)


def data_of_dictionaries():
    rows = [{"a": i, "b": onp.ones(2, "float32") * i} for i in range(4)]

    def collate(batch):
        return {k: np.array(onp.stack([onp.asarray(r[k]) for r in batch])) for k in batch[0]}

    return list(gluon.data.DataLoader(gluon.data.SimpleDataset(rows), 2, batchify_fn=collate))


def weighted_sampling():
    class Weighted(gluon.data.Sampler):
        def __init__(self, order):
            self._order = order

        def __iter__(self):
            return iter(self._order)

        def __len__(self):
            return len(self._order)

    d = gluon.data.ArrayDataset(onp.arange(4) * 10)
    return list(gluon.data.DataLoader(d, 2, sampler=Weighted([3, 3, 0, 1])))


def concatenated_datasets():
    a, b = gluon.data.ArrayDataset(onp.arange(2)), gluon.data.ArrayDataset(onp.arange(3) + 10)
    both = gluon.data.SimpleDataset([a[i] for i in range(2)] + [b[i] for i in range(3)])
    return [int(x) for x in both], len(both)


def normalization_statistics_of_loader():
    d = gluon.data.ArrayDataset(_rand(10, 3))
    total, square, n = np.zeros(3), np.zeros(3), 0
    for x in gluon.data.DataLoader(d, 4):
        total, square, n = total + x.sum(axis=0), square + (x**2).sum(axis=0), n + x.shape[0]
    return total / n, np.sqrt(square / n - (total / n) ** 2)


def trainer_over_two_blocks():
    a, b = nn.Dense(2, in_units=2), nn.Dense(1, in_units=2)
    a.initialize(mx.init.One())
    b.initialize(mx.init.One())
    params = {
        **{"a." + k: v for k, v in a.collect_params().items()},
        **{"b." + k: v for k, v in b.collect_params().items()},
    }
    t = gluon.Trainer(params, "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = b(a(np.ones((1, 2)))).sum()
    loss.backward()
    t.step(1)
    return a.weight.data(), b.weight.data(), len(params)


def learned_scalar_parameters():
    class Temperature(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.t = gluon.Parameter("t", shape=(1,), init=mx.init.Constant(2.0))

        def forward(self, x):
            return npx.softmax(x / self.t.data())

    net = Temperature()
    net.initialize()
    net.hybridize()
    with autograd.record():
        y = npx.pick(net(np.array(_rand(2, 3))), np.array([0, 1])).sum()
    y.backward()
    return y, net.t.grad()


def parameter_used_twice():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = gluon.Parameter("w", shape=(2, 2), init="ones")

        def forward(self, x):
            return np.dot(np.tanh(np.dot(x, self.w.data())), self.w.data().T)

    net = Net()
    net.initialize()
    found = []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        with autograd.record():
            y = net(np.array([[0.1, 0.2]])).sum()
        y.backward()
        found += [y, net.w.grad().copy()]
    return found


def stacked_outputs_of_layers():
    net = _small()
    x = np.array(_rand(2, 2))
    outs = []
    for layer in net:
        x = layer(x)
        outs.append(x.mean())
    return np.stack(outs), np.array([float(o) for o in outs])


def legacy_and_new_arrays_meet():
    x = mx.nd.array([1.0, 2.0])
    y = x.as_np_ndarray() * 2
    z = mx.nd.relu(y.as_nd_ndarray() - 3)
    return y, z, (z.as_np_ndarray() + y).sum()


def array_in_conditional_expression():
    x = np.array([0.5])
    return (
        "big" if x > 0.4 else "small",
        [i for i in range(3) if np.array(i) > 0.5],
        not np.array([0.0]),
    )


def error_then_normal_work():
    a = error(lambda: np.ones((2, 3)) @ np.ones((2, 3)))
    return a, np.ones((2, 3)) @ np.ones((3, 2)), error(npx.pick, np.ones((2, 3)), np.zeros(5))


def network_of_lambdas_and_layers():
    net = nn.HybridSequential()
    net.add(
        nn.HybridLambda(lambda x: x.reshape(x.shape[0], -1)),
        nn.Dense(2, in_units=4),
        nn.HybridLambda("relu"),
    )
    net.initialize(mx.init.Constant(-0.1))
    x = np.array(_rand(2, 2, 2))
    a = net(x)
    net.hybridize()
    return a, net(x)


def schedule_of_momentum_by_optimizer():
    net = nn.Dense(1, in_units=1)
    net.initialize(mx.init.One())
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.5})
    for m in (0.5, 0.9):
        t.optimizer.momentum = m
        with autograd.record():
            loss = net(np.ones((1, 1))).sum()
        loss.backward()
        t.step(1)
    return net.weight.data(), t.optimizer.num_update, t.optimizer.momentum
