"""What programs do with arrays all day."""

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error


def _rand(*shape, seed=0):
    return onp.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def moving_average():
    x = np.array(_rand(8))
    padded = np.concatenate([np.zeros(2), x])
    return np.stack([padded[i : i + 8] for i in range(3)]).mean(axis=0), np.cumsum(x) / np.arange(
        1, 9
    )


def min_max_scaling():
    x = np.array(_rand(4, 3))
    low, high = x.min(axis=0), x.max(axis=0)
    return (x - low) / (high - low), low, high


def covariance_matrix():
    x = np.array(_rand(6, 3))
    x = x - x.mean(axis=0, keepdims=True)
    return x.T @ x / (x.shape[0] - 1)


def cosine_similarity_matrix():
    x = np.array(_rand(3, 4))
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.matmul(x, x.T)


def softmax_with_temperature():
    x = np.array(_rand(2, 4))
    return [npx.softmax(x / t, axis=-1) for t in (0.5, 1, 2)]


def entropy_of_rows():
    p = npx.softmax(np.array(_rand(3, 4)))
    return -(p * np.log(p + 1e-12)).sum(axis=1)


def one_hot_and_back():
    y = np.array([2, 0, 1])
    o = npx.one_hot(y, 3)
    return o, o.argmax(axis=1), (o.argmax(axis=1) == y).all()


def counts_of_classes():
    y = np.array([0, 2, 2, 1, 2])
    return npx.one_hot(y, 3).sum(axis=0), [int((y == i).sum()) for i in range(3)]


def train_test_split():
    x = np.arange(10)
    order = onp.random.RandomState(0).permutation(10)
    x = x[np.array(order, dtype="int64")]
    return x[:7].shape, x[7:].shape, np.sort(np.concatenate([x[:7], x[7:]]))


def batches_by_slicing():
    x = np.arange(10).reshape(5, 2)
    return [x[i : i + 2] for i in range(0, 5, 2)]


def padded_batches():
    rows = [np.array([1.0]), np.array([2.0, 3.0])]
    n = max(r.shape[0] for r in rows)
    return np.stack([np.pad(r, ((0, n - r.shape[0]),)) for r in rows])


def image_normalization_by_hand():
    x = np.array(onp.arange(24).reshape(2, 4, 3), dtype="uint8")
    y = x.astype("float32") / 255
    mean, std = np.array([0.4, 0.5, 0.6]), np.array([0.2, 0.2, 0.2])
    return ((y - mean) / std).transpose(2, 0, 1)


def flips_and_crops_by_slicing():
    x = np.arange(24).reshape(2, 3, 4)
    return x[:, :, ::-1], x[:, ::-1], x[:, 1:, 1:3]


def mask_by_where():
    x = np.array(_rand(2, 3))
    return np.where(np.abs(x) > 0.5, x, np.zeros_like(x)), (np.abs(x) > 0.5).sum()


def threshold_in_place():
    x = np.array(_rand(2, 3))
    x[x < 0] = 0
    return x


def running_maximum():
    x = np.array([1.0, 3.0, 2.0, 5.0])
    best, found = x[0], []
    for v in x:
        best = np.maximum(best, v)
        found.append(best)
    return np.stack(found)


def top_predictions():
    p = npx.softmax(np.array(_rand(2, 5)))
    value, index = npx.topk(p, k=2, ret_typ="both")
    return value, index.astype("int32"), [[int(i) for i in row] for row in index]


def sorted_by_score():
    s = np.array([0.2, 0.9, 0.5])
    order = s.argsort()[::-1]
    return order, s[order], [["a", "b", "c"][int(i)] for i in order]


def matrix_of_distances():
    x, y = np.array(_rand(3, 2)), np.array(_rand(2, 2, seed=1))
    xx, yy = (x**2).sum(axis=1, keepdims=True), (y**2).sum(axis=1)
    return np.sqrt(np.maximum(xx + yy - 2 * np.dot(x, y.T), 0))


def nearest_neighbours():
    x, y, labels = np.array(_rand(4, 2)), np.array(_rand(2, 2, seed=1)), np.array([0, 1, 0, 1])
    d = ((np.expand_dims(y, 1) - np.expand_dims(x, 0)) ** 2).sum(axis=-1)
    return labels[d.argmin(axis=1)], d.min(axis=1)


def block_diagonal():
    a, b = np.ones((2, 2)), np.full((1, 1), 3.0)
    x = np.zeros((3, 3))
    x[:2, :2] = a
    x[2:, 2:] = b
    return x


def outer_sums():
    a, b = np.arange(3), np.arange(2)
    return a.reshape(-1, 1) + b, np.add(a.reshape(3, 1), b.reshape(1, 2))


def time_shifted_features():
    x = np.arange(6)
    return np.stack([x[2:], x[1:-1], x[:-2]], axis=1), x[1:] - x[:-1]


def polynomial_features():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    return np.concatenate([np.ones((2, 1)), x, x**2, x[:, :1] * x[:, 1:]], axis=1)


def chained_reshapes():
    x = np.arange(24)
    return x.reshape(2, 3, 4).transpose(0, 2, 1).reshape(8, 3)[5], x.reshape(4, -1).T[1:3]


def swapping_columns():
    x = np.arange(6).reshape(2, 3)
    return x[:, [2, 0, 1]], x[:, np.array([1, 1, 0], dtype="int32")]


def strings_of_numbers():
    x = np.array([[1.5, 2.25], [3.0, -4.0]])
    return f"{x.mean().item():.3f}", "%.2f" % x.sum().item(), str(x.shape), str(x[0].tolist())


def numbers_to_python():
    x = np.array([1.5, 2.5])
    return float(x[0]), int(x[1]), x.tolist(), x.asnumpy().tolist(), x.sum().item(), bool(x[0] > 1)


def dictionary_of_arrays():
    d = {"w": np.ones(2), "b": np.zeros(1)}
    return {k: v + 1 for k, v in d.items()}, sum(v.size for v in d.values())


def sum_of_list():
    return (
        sum([np.ones(2), np.ones(2)]),
        sum(np.arange(4)),
        max(np.arange(3)),
        min(np.array([2.0, 1.0])),
    )


def comparisons_chained():
    x = np.arange(5)
    return np.logical_and(x > 0, x < 4), ((x > 0) * (x < 4)), (x == 2).any()


def accumulating_losses():
    total, n = np.zeros(()), 0
    for i in range(3):
        total = total + np.array(_rand(4, seed=i)).sum()
        n += 4
    return total / n, total.shape


def clipping_weights():
    net = nn.Dense(2, in_units=3)
    net.initialize(mx.init.Constant(0.7))
    for p in net.collect_params().values():
        p.set_data(np.clip(p.data(), -0.5, 0.5))
    return net.weight.data()


def copying_target_network():
    a, b = nn.Dense(2, in_units=2), nn.Dense(2, in_units=2)
    a.initialize(mx.init.One())
    b.initialize(mx.init.Zero())
    for p, q in zip(a.collect_params().values(), b.collect_params().values()):
        q.set_data(0.25 * p.data() + 0.75 * q.data())
    a.save_parameters("a.params")
    a.load_parameters("a.params")
    return b.weight.data()


def norms_of_all_weights():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
    net.initialize(mx.init.Constant(0.5))
    total = sum((p.data() ** 2).sum() for p in net.collect_params().values())
    return np.sqrt(total), {
        k: float(np.linalg.norm(p.data())) for k, p in net.collect_params().items()
    }


def regularized_loss():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.Constant(0.5))
    with autograd.record():
        loss = gluon.loss.L2Loss()(net(np.array(_rand(3, 2))), np.ones((3, 1))).mean()
        for p in net.collect_params(".*weight").values():
            loss = loss + 0.01 * (p.data() ** 2).sum() + 0.001 * np.abs(p.data()).sum()
    loss.backward()
    return loss, net.weight.grad()


def gradient_of_chosen_outputs():
    x = np.array(_rand(2, 3))
    x.attach_grad()
    with autograd.record():
        y = npx.softmax(x)
        z = npx.pick(y, np.array([0, 2])).sum()
    z.backward()
    return x.grad


def saliency_map():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3, activation="tanh"), nn.Dense(2))
    net.initialize(mx.init.Constant(0.1))
    x = np.array(_rand(1, 1, 5, 5))
    x.attach_grad()
    with autograd.record():
        y = net(x)[:, 1]
    y.backward()
    return np.abs(x.grad).max(axis=1)


def loop_with_metric_and_loss():
    net = nn.Dense(3, in_units=4)
    net.initialize(mx.init.Constant(0.1))
    net.weight.set_data(np.array(_rand(3, 4)))
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2})
    loss_fn, acc, mean = gluon.loss.SoftmaxCELoss(), gluon.metric.Accuracy(), gluon.metric.Loss()
    d = gluon.data.ArrayDataset(_rand(8, 4, seed=5), onp.arange(8, dtype="float32") % 3)
    log = []
    for _ in range(2):
        acc.reset()
        mean.reset()
        for x, y in gluon.data.DataLoader(d, 3):
            with autograd.record():
                out = net(x)
                loss = loss_fn(out, y)
            loss.backward()
            t.step(x.shape[0])
            acc.update(y, out)
            mean.update(0, loss)
        log.append((acc.get(), mean.get()))
    return log


def best_checkpoint_is_kept():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    best = float("inf")
    for i, loss in enumerate([3.0, 1.0, 2.0]):
        net.bias.set_data(np.array([i]))
        if loss < best:
            best = loss
            net.save_parameters("best.params")
    net.load_parameters("best.params")
    return best, net.bias.data()


def early_stopping_by_hand():
    history, best, patience = [1.0, 0.8, 0.9, 0.85, 0.95], float("inf"), 0
    for i, v in enumerate(np.array(history)):
        if v < best:
            best, patience = v, 0
        else:
            patience += 1
        if patience == 2:
            break
    return i, best


def confusion_of_predictions():
    y, p = np.array([0, 1, 1, 2]), np.array([0, 1, 2, 2])
    m = np.zeros((3, 3))
    for a, b in zip(y, p):
        m[int(a), int(b)] += 1
    return m, np.diag(m).sum() / m.sum()


def precision_and_recall():
    y, p = np.array([1, 0, 1, 1]) > 0, np.array([1, 1, 0, 1]) > 0
    tp = np.logical_and(y, p).sum()
    return tp / p.sum(), tp / y.sum()


def area_under_curve():
    y, s = onp.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    order = s.argsort().asnumpy().astype(int)
    ranks = onp.empty(4)
    ranks[order] = onp.arange(1, 5)
    return float((ranks[y == 1].sum() - 3) / 4)


def segmentation_scores():
    p, y = np.array([[0, 1], [1, 1]]), np.array([[0, 1], [0, 1]])
    inter, union = np.logical_and(p, y).sum(), np.logical_or(p, y).sum()
    return inter / union, (p == y).mean()


def mean_of_bool_comparison():
    return (np.array([1, 2, 3]) == np.array([1, 0, 3])).mean(), (np.arange(4) > 1).astype(
        "float32"
    ).mean()


def random_augmentation_keeps_shape():
    x = np.array(_rand(2, 3, 4, 4))
    noise = np.random.normal(0, 0.1, size=x.shape)
    keep = np.random.uniform(0, 1, size=(2, 1, 1, 1)) > 0.5
    y = np.where(keep, x[:, :, :, ::-1], x) + noise
    return y.shape, y.dtype.name, bool((np.abs(y).max() < 3).item())


def categorical_samples_by_gumbel():
    logits = np.array([[0.0, 50.0, 0.0]])
    g = -np.log(-np.log(np.random.uniform(1e-6, 1 - 1e-6, size=(20, 3))))
    return (logits + g).argmax(axis=1)


def epsilon_greedy():
    q = np.array([0.1, 0.9, 0.3])
    onp.random.seed(0)
    return [
        int(q.argmax()) if onp.random.rand() > 0.1 else onp.random.randint(3) for _ in range(4)
    ][:1]


def discounted_returns():
    r, g, found = np.array([1.0, 0.0, 2.0]), np.zeros(()), []
    for v in r[::-1]:
        g = v + 0.9 * g
        found.append(g)
    return np.stack(found[::-1])


def advantages_normalized():
    a = np.array(_rand(6))
    return (a - a.mean()) / (a.std() + 1e-8)


def replay_memory():
    memory = [(np.ones(2) * i, i % 2, float(i)) for i in range(5)]
    states = np.stack([m[0] for m in memory[1:4]])
    return states, np.array([m[1] for m in memory[1:4]]), np.array([m[2] for m in memory[1:4]])


def type_checks():
    x = np.ones(2)
    return (
        isinstance(x, np.ndarray),
        isinstance(onp.ones(2), np.ndarray),
        isinstance(x, onp.ndarray),
        hasattr(x, "asnumpy"),
    )


def wrong_uses():
    x = np.ones((2, 3))
    return (
        error(lambda: x.reshape(7)),
        error(lambda: x @ x),
        error(lambda: float(x)),
        error(lambda: x + "a"),
    )


def no_attribute():
    return (
        error(lambda: np.ones(2).no_such_method),
        error(lambda: np.no_such_function),
        error(lambda: npx.nothing),
    )


def int_and_float_of_arrays():
    return error(lambda: int(np.ones(2))), float(np.ones((1, 1))), int(np.array([3.7]))


def save_many_and_resume():
    npx.savez("state.npz", step=np.array(7), w=np.arange(3))
    s = npx.load("state.npz")
    return int(s["step"]), s["w"], s["step"].shape


def arrays_from_text_files():
    onp.savetxt("x.txt", onp.arange(6).reshape(3, 2))
    return np.array(onp.loadtxt("x.txt"), dtype="float32")


def pandas_like_columns():
    columns = {"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]}
    x = np.array([columns[k] for k in sorted(columns)]).T
    return x, x.mean(axis=0), x[:, 1] > 4.5


def hybrid_block_with_many_functions():
    class Net(nn.HybridBlock):
        def forward(self, x):
            y = np.concatenate([np.sin(x), np.cos(x)], axis=-1)
            y = y - y.mean(axis=-1, keepdims=True)
            z = np.tile(np.expand_dims(y, 1), (1, 2, 1))
            s = np.stack([z.max(axis=1), z.min(axis=1)], axis=0).sum(axis=0)
            return np.squeeze(np.expand_dims(s, 0), 0), np.repeat(s, 2, axis=0), np.flip(s, axis=1)

    net = Net()
    x = np.array(_rand(2, 3))
    a = net(x)
    net.hybridize()
    return a, net(x)


def hybrid_block_with_comparisons():
    class Net(nn.HybridBlock):
        def forward(self, x, y):
            m = np.logical_or(x > y, x == 0)
            return np.where(m, x, y), m.astype("float32").sum(), np.maximum(x, y), np.minimum(x, 0)

    net = Net()
    x, y = np.array(_rand(2, 3)), np.array(_rand(2, 3, seed=1))
    a = net(x, y)
    net.hybridize()
    return a, net(x, y)


def hybrid_block_with_matrices():
    class Net(nn.HybridBlock):
        def forward(self, x):
            g = np.matmul(x, np.swapaxes(x, 1, 2))
            return (
                g,
                np.trace(g, axis1=1, axis2=2),
                np.linalg.norm(x, axis=2),
                np.einsum("bij->bji", x),
            )

    net = Net()
    x = np.array(_rand(2, 3, 2))
    a = net(x)
    net.hybridize()
    return a, net(x)


def hybrid_loss_function():
    class Loss(gluon.loss.Loss):
        def __init__(self):
            super().__init__(weight=1.0, batch_axis=0)

        def forward(self, p, y):
            return np.mean(np.log(np.cosh(p - y)), axis=1)

    loss = Loss()
    p, y = np.array(_rand(2, 3)), np.array(_rand(2, 3, seed=1))
    a = loss(p, y)
    loss.hybridize()
    return a, loss(p, y)


def changing_input_ranks():
    net = nn.Dense(2, flatten=False, in_units=3)
    net.initialize(mx.init.One())
    net.hybridize()
    return (
        net(np.ones((2, 3))).shape,
        net(np.ones((2, 4, 3))).shape,
        net(np.ones((1, 2, 2, 3))).shape,
    )


def integer_inputs_of_layers():
    net = nn.Embedding(5, 2)
    net.initialize(mx.init.Constant(0.5))
    return (
        net(np.array([[1, 2]], dtype="int32")),
        net(np.array([3], dtype="int64")),
        net(np.array([3.0])),
    )


def learning_rate_per_layer():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
    net.initialize(mx.init.One())
    net[0].setattr("lr_mult", 0.0)
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    for _ in range(2):
        with autograd.record():
            loss = net(np.ones((1, 2))).sum()
        loss.backward()
        t.step(1)
    return net[0].weight.data(), net[1].weight.data(), t.learning_rate
