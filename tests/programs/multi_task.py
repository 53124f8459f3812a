"""Several outputs with a loss each, weighed by head gradients or by learned uncertainties."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_class(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class MultiTask(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.HybridSequential(prefix="body_")
                with self.body.name_scope():
                    self.body.add(nn.Dense(6, activation="tanh"), nn.LayerNorm())
                self.label = nn.Dense(3, prefix="label_")
                self.value = nn.Dense(1, prefix="value_")
                self.tags = nn.Dense(4, prefix="tags_", bias_initializer="ones")
                self.log_variance = self.params.get("log_variance", shape=(3,), init="zeros")

        def hybrid_forward(self, F: Any, x: Any, log_variance: Any) -> Any:
            hidden = self.body(x)
            return {"x": (self.label(hidden), self.value(hidden))}["x"] + (
                self.tags(hidden),
                F.exp(-log_variance),
                F.sum(log_variance),
            )

    return MultiTask


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, autograd = mx.nd, mx.gluon, mx.autograd
    net = make_class(mx)(prefix="multi_")
    net.initialize()
    x = nd.array(normal(1, 6, 5))
    label, value = nd.array(classes(2, 3, 6)), nd.array(normal(3, 6, 1))
    tags = nd.array(classes(4, 2, 6, 4))
    net(x)
    fill(mx, net.collect_params(), 5)
    if hybridize:
        net.hybridize()
    ce, l2 = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L2Loss()
    bce = gluon.loss.SigmoidBCELoss(from_sigmoid=False)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    out: dict[str, Any] = {}
    losses = []

    def parts_of() -> tuple[list[Any], Any, Any]:
        a, b, c, precision, penalty = net(x)
        positive = nd.array([1.0, 2.0, 0.5, 1.0])
        return [ce(a, label), l2(b, value), bce(c, tags, None, positive)], precision, penalty

    for step in range(2):
        with autograd.record():
            parts, _, penalty = parts_of()
        heads = [nd.full((6,), weight) for weight in (1.0, 0.5, 2.0)]
        autograd.backward([*parts, penalty], [*heads, nd.zeros((1,))])
        out[f"{step} heads"] = net.label.weight.grad().asnumpy()
        trainer.step(6)
        losses.append([part.mean().asscalar() for part in parts])
    for _ in range(2):
        with autograd.record():
            parts, precision, penalty = parts_of()
            total = sum(part.mean() * precision[i] for i, part in enumerate(parts)) + penalty
        total.backward(retain_graph=True)
        first = net.value.weight.grad().copy()
        total.backward()
        out["twice"] = bool((first == net.value.weight.grad()).asnumpy().all())
        trainer.step(1)
        losses.append([part.mean().asscalar() for part in parts])
    with autograd.record():
        parts, precision, _ = parts_of()
    shared = list(net.body.collect_params().values())
    grads = [
        autograd.grad(part, [p.data() for p in shared], retain_graph=True) for part in parts[:2]
    ]
    out["alignment"] = [(a * b).sum().asscalar() for a, b in zip(*grads, strict=True)]
    with autograd.record():
        parts, _, _ = parts_of()
        for part in parts:
            part.backward(retain_graph=True)
    out["last"] = net.tags.weight.grad().asnumpy()
    return {**out, "losses": losses, **values_of(net.collect_params())}
