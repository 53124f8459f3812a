import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn

from tests.programs_2_0.errors import error

X = onp.array([[1.0, -0.5], [0.3, 0.8], [-1.2, 0.4], [0.9, 1.1]], "float32")
Y = onp.array([0.5, 1.0, -0.7, 2.0], "float32")


def _fit(optimizer, steps=4, dtype="float32", **options):
    """Weights after steps with an optimizer, from the same start."""
    net = nn.Dense(1, in_units=2, dtype=dtype)
    net.initialize(mx.init.Constant(0.3))
    trainer = gluon.Trainer(net.collect_params(), optimizer, options)
    loss_fn = gluon.loss.L2Loss()
    x, y = np.array(X, dtype=dtype), np.array(Y, dtype=dtype)
    losses = []
    for _ in range(steps):
        with autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        trainer.step(4)
        losses.append(float(loss.mean()))
    return losses, net.weight.data(), net.bias.data()


def sgd():
    return _fit("sgd", learning_rate=0.1)


def sgd_momentum_and_decay():
    return _fit("sgd", learning_rate=0.1, momentum=0.9, wd=0.01)


def sgd_clipped():
    return _fit("sgd", learning_rate=0.1, clip_gradient=0.05)


def sgd_rescaled():
    return _fit("sgd", learning_rate=0.1, rescale_grad=0.5)


def sgd_in_float64():
    return _fit("sgd", dtype="float64", learning_rate=0.1, momentum=0.9)


def nag():
    return _fit("nag", learning_rate=0.1, momentum=0.9)


def adam():
    return _fit("adam", learning_rate=0.1)


def adam_with_options():
    return _fit("adam", learning_rate=0.1, beta1=0.8, beta2=0.9, epsilon=1e-3, wd=0.1)


def adamax():
    return _fit("adamax", learning_rate=0.1)


def nadam():
    return _fit("nadam", learning_rate=0.1)


def adagrad():
    return _fit("adagrad", learning_rate=0.1)


def adadelta():
    return _fit("adadelta", learning_rate=1.0)


def rmsprop():
    return _fit("rmsprop", learning_rate=0.1)


def rmsprop_centered():
    return _fit("rmsprop", learning_rate=0.1, centered=True, momentum=0.5)


def ftrl():
    return _fit("ftrl", learning_rate=0.5, lamda1=0.01)


def ftml():
    return _fit("ftml", learning_rate=0.1)


def signum():
    return _fit("signum", learning_rate=0.01, momentum=0.9)


def lamb():
    return _fit("lamb", learning_rate=0.1)


def lars():
    return _fit("lars", learning_rate=0.1, momentum=0.9)


def lans():
    return _fit("lans", learning_rate=0.1)


def adamw():
    return _fit("adamw", learning_rate=0.1, wd=0.1)


def adabelief():
    return _fit("adabelief", learning_rate=0.1)


def dcasgd():
    return _fit("dcasgd", learning_rate=0.1)


def optimizer_objects():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), mx.optimizer.Adam(learning_rate=0.05))
    with autograd.record():
        loss = net(np.array(X)).sum()
    loss.backward()
    trainer.step(1)
    return net.weight.data(), type(trainer.optimizer).__name__


def optimizer_creation():
    names = ("sgd", "adam", "rmsprop", "adagrad", "nag", "lamb", "adamw")
    made = [mx.optimizer.create(name) for name in names]
    return [(type(o).__name__, o.lr, o.wd) for o in made], error(mx.optimizer.create, "nothing")


def optimizer_defaults():
    o = mx.optimizer.Adam()
    return o.lr, o.learning_rate, o.beta1, o.beta2, o.epsilon, o.wd, o.rescale_grad, o.clip_gradient


def optimizer_update_by_hand():
    o = mx.optimizer.SGD(learning_rate=0.5, momentum=0.9)
    w, g = mx.nd.ones(2), mx.nd.array([1.0, -1.0])
    state = o.create_state(0, w)
    for _ in range(2):
        o.update([0], [w], [g], [state])
    return w, state


def updater_function():
    u = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.1))
    w = np.ones(2)
    u(0, np.ones(2), w)
    return w


def registered_optimizer():
    @mx.optimizer.register
    class Plain(mx.optimizer.Optimizer):
        def __init__(self, learning_rate=0.1, **kwargs):
            super().__init__(learning_rate=learning_rate, **kwargs)

        def create_state(self, index, weight):
            return None

        def step(self, indices, weights, grads, states):
            for index, weight, grad in zip(indices, weights, grads):
                self._update_count(index)
                weight[:] = weight - self._get_lr(index) * self.rescale_grad * grad

    return _fit("plain", learning_rate=0.2)


def learning_rates():
    net = nn.Dense(1, in_units=2)
    net.initialize()
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    a = t.learning_rate
    t.set_learning_rate(0.01)
    return a, t.learning_rate, t.optimizer.lr


def schedulers_in_trainer():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    s = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.4)
    t = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": s, "learning_rate": 0.4})
    rates = []
    for _ in range(6):
        with autograd.record():
            loss = net(np.array(X)).sum()
        loss.backward()
        t.step(4)
        rates.append(t.learning_rate)
    return rates, net.weight.data()


def set_rate_with_scheduler():
    net = nn.Dense(1, in_units=2)
    net.initialize()
    s = mx.lr_scheduler.FactorScheduler(step=2)
    t = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": s})
    return error(t.set_learning_rate, 0.1)


def multipliers():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    net.bias.lr_mult = 0.0
    net.weight.lr_mult = 2.0
    net.weight.wd_mult = 0.0
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 0.1})
    with autograd.record():
        loss = net(np.array(X)).sum()
    loss.backward()
    t.step(4)
    return net.weight.data(), net.bias.data()


def two_trainers():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
    net.initialize(mx.init.Constant(0.2))
    a = gluon.Trainer(net[0].collect_params(), "sgd", {"learning_rate": 0.1})
    b = gluon.Trainer(net[1].collect_params(), "adam", {"learning_rate": 0.01})
    with autograd.record():
        loss = (net(np.array(X)) ** 2).sum()
    loss.backward()
    a.step(1)
    b.step(1)
    return {k: p.data() for k, p in net.collect_params().items()}


def trainer_of_lists_and_dicts():
    a, b = (
        gluon.Parameter("a", shape=(2,), init="ones"),
        gluon.Parameter("b", shape=(2,), init="ones"),
    )
    a.initialize()
    b.initialize()
    t = gluon.Trainer({"a": a, "b": b}, "sgd", {"learning_rate": 1.0})
    with autograd.record():
        loss = (a.data() * 2 + b.data() * 3).sum()
    loss.backward()
    t.step(1)
    return a.data(), b.data()


def trainer_argument_errors():
    net = nn.Dense(1, in_units=2)
    net.initialize()
    return (
        error(gluon.Trainer, [1, 2], "sgd"),
        error(gluon.Trainer, net.collect_params(), "what"),
        error(gluon.Trainer, net.collect_params(), "sgd", {"no_such_option": 1}),
        error(gluon.Trainer, "text", "sgd"),
    )


def stale_gradient():
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=2), nn.Dense(1, in_units=2))
    net.initialize(mx.init.One())
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

    def step(**options):
        with autograd.record():
            loss = net[0](np.array(X)).sum()
        loss.backward()
        t.step(1, **options)

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return error(step), error(step, ignore_stale_grad=True), net[1].weight.data()


def allreduce_and_update():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, update_on_kvstore=False)
    with autograd.record():
        loss = net(np.array(X)).sum()
    loss.backward()
    t.allreduce_grads()
    net.weight.grad()[:] *= 2
    t.update(4)
    return net.weight.data()


def save_and_load_states():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())

    def step(t):
        with autograd.record():
            loss = (net(np.array(X)) ** 2).sum()
        loss.backward()
        t.step(4)

    t = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    step(t)
    step(t)
    t.save_states("t.states")
    net.save_parameters("net.params")
    step(t)
    after = net.weight.data().copy()
    net.load_parameters("net.params")
    u = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    u.load_states("t.states")
    step(u)
    return after, bool((net.weight.data() == after).all())


def gradient_accumulation():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    net.setattr("grad_req", "add")
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for i in range(2):
        with autograd.record():
            loss = gluon.loss.L2Loss()(
                net(np.array(X[2 * i : 2 * i + 2])), np.array(Y[2 * i : 2 * i + 2])
            )
        loss.backward()
    t.step(4)
    net.zero_grad()
    return net.weight.data(), net.weight.grad()


def clipping_in_loop():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.Constant(5))
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    norms = []
    for _ in range(3):
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(np.array(X)), np.array(Y))
        loss.backward()
        grads = [p.grad() for p in net.collect_params().values()]
        norms.append(gluon.utils.clip_global_norm(grads, 0.5))
        t.step(1)
    return norms, net.weight.data()


def classifier_of_blobs():
    onp.random.seed(0)
    x = onp.concatenate([onp.random.randn(30, 2) + 3, onp.random.randn(30, 2) - 3]).astype(
        "float32"
    )
    y = onp.array([0] * 30 + [1] * 30, "float32")
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    t = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=20, shuffle=True)
    for _ in range(10):
        for a, b in data:
            with autograd.record():
                loss = loss_fn(net(a), b)
            loss.backward()
            t.step(a.shape[0])
    acc = gluon.metric.Accuracy()
    acc.update(np.array(y), net(np.array(x)))
    return acc.get()[1] > 0.95


def linear_regression_recovers():
    onp.random.seed(1)
    x = onp.random.randn(100, 2).astype("float32")
    y = x @ onp.array([2.0, -3.4], "float32") + 4.2
    net = nn.Dense(1)
    net.initialize(mx.init.Normal(0.01))
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for _ in range(60):
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(np.array(x)), np.array(y))
        loss.backward()
        t.step(100)
    w = net.weight.data()
    return bool(abs(w[0, 0] - 2) < 0.05), bool(abs(net.bias.data()[0] - 4.2) < 0.05)


def training_by_hand():
    w, b = np.array([[0.1], [0.2]]), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    for _ in range(5):
        with autograd.record():
            loss = ((np.dot(np.array(X), w) + b - np.array(Y).reshape(-1, 1)) ** 2).mean()
        loss.backward()
        for p in (w, b):
            p[:] = p - 0.1 * p.grad
    return w, b, loss


def training_by_in_place_step():
    w = np.array([1.0, 2.0])
    w.attach_grad()
    for _ in range(3):
        with autograd.record():
            loss = (w * w).sum()
        loss.backward()
        w -= 0.1 * w.grad
    return w


def hybrid_and_eager_training_agree():
    found = []
    for hybrid in (False, True):
        net = nn.HybridSequential()
        net.add(
            nn.Dense(3, activation="tanh", in_units=2),
            nn.BatchNorm(in_channels=3),
            nn.Dense(1, in_units=3),
        )
        net.initialize(mx.init.Constant(0.2))
        net[0].weight.set_data(np.arange(6).reshape(3, 2) * 0.1)
        if hybrid:
            net.hybridize(static_alloc=True)
        t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        for _ in range(3):
            with autograd.record():
                loss = gluon.loss.L2Loss()(net(np.array(X)), np.array(Y))
            loss.backward()
            t.step(4)
        found.append([p.data() for p in net.collect_params().values()])
    return found


def frozen_weights_stay():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.Dense(1, in_units=2))
    net.initialize(mx.init.One())
    net[0].setattr("grad_req", "null")
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = net(np.array(X)).sum()
    loss.backward()
    t.step(4)
    return net[0].weight.data(), net[1].weight.data()


def kvstore_none():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=None)
    with autograd.record():
        loss = net(np.array(X)).sum()
    loss.backward()
    t.step(4)
    return net.weight.data()


def split_and_load():
    x = np.arange(8).reshape(4, 2)
    parts = gluon.utils.split_and_load(x, [mx.cpu(), mx.cpu(0)])
    return (
        parts,
        gluon.utils.split_data(np.arange(4), 2),
        error(gluon.utils.split_data, np.arange(3), 2),
    )


def uneven_split():
    return gluon.utils.split_data(np.arange(5), 2, even_split=False)


def parameters_not_initialized():
    net = nn.Dense(1)
    return error(gluon.Trainer, net.collect_params(), "sgd")


def learning_rate_of_schedule_by_epoch():
    net = nn.Dense(1, in_units=1)
    net.initialize()
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    rates = []
    for epoch in range(4):
        if epoch in (1, 3):
            t.set_learning_rate(t.learning_rate * 0.1)
        rates.append(t.learning_rate)
    return rates


def embedding_training():
    net = nn.HybridSequential()
    net.add(nn.Embedding(4, 2), nn.Dense(1))
    net.initialize(mx.init.Constant(0.5))
    t = gluon.Trainer(net.collect_params(), "adagrad", {"learning_rate": 0.1})
    for _ in range(2):
        with autograd.record():
            loss = (net(np.array([[0], [2]])) ** 2).sum()
        loss.backward()
        t.step(2)
    return net[0].weight.data(), net[1].weight.data()


def alternating_updates():
    d, g = nn.Dense(1, in_units=1), nn.Dense(1, in_units=1)
    for net in (d, g):
        net.initialize(mx.init.Constant(0.5))
    td = gluon.Trainer(d.collect_params(), "sgd", {"learning_rate": 0.1})
    tg = gluon.Trainer(g.collect_params(), "sgd", {"learning_rate": 0.1})
    bce = gluon.loss.SigmoidBCELoss()
    z = np.array([[1.0], [-1.0]])
    for _ in range(3):
        with autograd.record():
            loss = bce(d(z + 3), np.ones((2, 1))) + bce(d(g(z).detach()), np.zeros((2, 1)))
        loss.backward()
        td.step(2)
        with autograd.record():
            loss = bce(d(g(z)), np.ones((2, 1)))
        loss.backward()
        tg.step(2)
    return d.weight.data(), g.weight.data()


def distillation():
    x = np.array(X)
    teacher, student = nn.Dense(3, in_units=2), nn.Dense(3, in_units=2)
    teacher.initialize(mx.init.One())
    student.initialize(mx.init.Constant(0.1))
    teacher.weight.set_data(np.arange(6).reshape(3, 2))
    t = gluon.Trainer(student.collect_params(), "sgd", {"learning_rate": 0.5})
    loss_fn = gluon.loss.KLDivLoss(from_logits=False)
    for _ in range(2):
        soft = npx.softmax(teacher(x) / 2)
        with autograd.record():
            loss = loss_fn(student(x) / 2, soft)
        loss.backward()
        t.step(4)
    return loss, student.weight.data()


def adam_in_float64():
    return _fit("adam", dtype="float64", learning_rate=0.1)


def step_of_zero_batch():
    net = nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    t = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = net(np.array(X)).sum()
    loss.backward()
    return error(t.step, 0)


def adam_over_many_steps():
    return _fit("adam", steps=10, learning_rate=0.01)
