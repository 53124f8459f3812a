"""Optimizers, initializers and metrics of a user's own, registered and called by name."""

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, fill, normal, values_of


@cache
def make_optimizers(mx: ModuleType) -> None:
    nd = mx.nd

    @mx.optimizer.Optimizer.register
    class Lookahead(mx.optimizer.Optimizer):
        def __init__(self, pull: float = 0.5, every: int = 2, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.pull, self.every = pull, every

        def create_state(self, index: int, weight: Any) -> Any:
            zeros = nd.zeros(weight.shape, weight.context, dtype=weight.dtype)
            return {"slow": weight.copy(), "mom": zeros}

        def update(self, index: int, weight: Any, grad: Any, state: Any) -> None:
            self._update_count(index)
            lr, wd = self._get_lr(index), self._get_wd(index)
            grad = grad * self.rescale_grad
            if self.clip_gradient is not None:
                grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
            state["mom"][:] = 0.9 * state["mom"] - lr * (grad + wd * weight)
            weight += state["mom"]
            if self._index_update_count[index] % self.every == 0:
                state["slow"] += self.pull * (weight - state["slow"])
                state["slow"].copyto(weight)

    @mx.optimizer.register
    class SignAdam(mx.optimizer.Adam):
        def create_state(self, index: int, weight: Any) -> Any:
            return nd.zeros_like(weight)

        def update(self, index: int, weight: Any, grad: Any, state: Any) -> None:
            self._update_count(index)
            state[:] = self.beta1 * state + (1 - self.beta1) * grad * self.rescale_grad
            nd.sgd_update(weight, nd.sign(state), out=weight, lr=self._get_lr(index), wd=0.0)


@cache
def make_initializer(mx: ModuleType) -> None:
    @mx.init.register
    class Ramp(mx.init.Initializer):
        def __init__(self, start: float = 0.0, stop: float = 1.0) -> None:
            super().__init__(start=start, stop=stop)
            self.start, self.stop = start, stop

        def _init_weight(self, name: str, arr: Any) -> None:
            arr[:] = mx.nd.array(np.linspace(self.start, self.stop, arr.size)).reshape(arr.shape)

        def _init_bias(self, name: str, arr: Any) -> None:
            arr[:] = 0.25 if "0" in name else -0.25


@cache
def make_metric(mx: ModuleType) -> Any:
    @mx.metric.register
    class Within(mx.metric.EvalMetric):
        def __init__(self, margin: float = 1.0, name: str = "within", **kwargs: Any) -> None:
            super().__init__(name, margin=margin, **kwargs)
            self.margin = margin

        def update(self, labels: Any, preds: Any) -> None:
            for label, pred in zip(labels, preds, strict=True):
                close = np.abs(label.asnumpy() - pred.asnumpy().ravel()) < self.margin
                self.sum_metric += float(close.sum())
                self.num_inst += close.size

    return Within


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn = mx.nd, mx.gluon, mx.gluon.nn
    make_optimizers(mx)
    make_initializer(mx)
    within = make_metric(mx)
    x, y = nd.array(normal(1, 8, 4)), nd.array(classes(2, 3, 8))
    out: dict[str, Any] = {}
    for name, settings in {
        "lookahead": {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.4, "every": 2},
        "signadam": {"learning_rate": 0.05, "beta1": 0.8},
    }.items():
        net = nn.HybridSequential(prefix=f"{name}_")
        with net.name_scope():
            net.add(nn.Dense(5, activation="relu"), nn.Dense(1))
        net.initialize("ramp")
        if hybridize:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), name, settings)
        metrics = mx.metric.create(["mae", "within", within(0.5, name="half")])
        metrics.add(mx.metric.np(lambda label, pred: float((label - pred.ravel()).max()), "gap"))
        losses = []
        for _ in range(5):
            with mx.autograd.record():
                pred = net(x)
                loss = gluon.loss.L2Loss()(pred, y)
            loss.backward()
            trainer.step(8)
            metrics.update([y], [pred])
            losses.append(loss.mean().asscalar())
        out[f"{name} losses"] = losses
        out[f"{name} names"], out[f"{name} metrics"] = metrics.get()
        out[f"{name} config"] = str(sorted(within(0.5).get_config().items()))
        out.update(values_of(net.collect_params()))
    ramp = mx.init.create("ramp", stop=2.0)
    out["dumps"] = ramp.dumps()
    p = gluon.Parameter("some_weight", shape=(2, 3))
    p.initialize(ramp)
    out["ramp"] = p.data().asnumpy()
    created = mx.optimizer.create("lookahead", pull=0.25, rescale_grad=0.5)
    updater = mx.optimizer.get_updater(created)
    weight = nd.ones((3,))
    for _ in range(3):
        updater(0, nd.array([1.0, 2.0, 3.0]), weight)
    out["updater"] = weight.asnumpy()
    out["kinds"] = [type(created).__name__, sorted(updater.states[0])[0]]
    try:
        mx.optimizer.create("nonesuch")
    except Exception as error:
        out["unknown"] = "nonesuch" in str(error)
    net = nn.Dense(2, in_units=2, prefix="fixed_")
    net.initialize()
    fill(mx, net.collect_params(), 9)
    trainer = gluon.Trainer(net.collect_params(), created)
    out["optimizer kept"] = trainer.optimizer is created
    return out
