"""HybridBlocks with forward(x) in place of hybrid_forward, for packages that have them.

MXNet 1.9.1 runs such a block only unhybridized, which is what the golden numbers come from.
"""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nd, nn = mx.nd, mx.gluon.nn

    class Scaled(mx.gluon.HybridBlock):
        def __init__(self, size: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.scale = self.params.get("scale", shape=(size,), init="ones")
                self.shift = self.params.get_constant("shift", [0.5])

        def forward(self, x: Any) -> Any:
            return nd.broadcast_add(x * self.scale.data(), self.shift.data())

    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.conv = nn.Conv2D(4, 3, padding=1)
                self.norm = nn.BatchNorm()
                self.scaled = Scaled(6)
                self.hidden = nn.Dense(6, activation="tanh")
                self.out = nn.Dense(3)

        def forward(self, x: Any) -> Any:
            x = nd.relu(self.norm(self.conv(x)))
            batch, channels = x.shape[:2]
            pooled = x.reshape((batch, channels, -1)).max(axis=2)
            halves = [pooled[:, : channels // 2], pooled[:, channels // 2 :]]
            x = self.scaled(self.hidden(nd.concat(*halves[::-1], dim=1)))
            if channels > 2:
                x = x - x.mean(axis=1, keepdims=True)
            return self.out(x), x

    return Net


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_classes(mx)(prefix="fwd_")
    net.initialize()
    x, y = mx.nd.array(normal(1, 4, 2, 5, 5)), mx.nd.array(classes(2, 3, 4))
    net(x)
    fill(mx, net.collect_params(".*(weight|bias|gamma|beta|running|scale).*"), 3)
    if hybridize:
        net.hybridize()
    loss_fn = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = []
    for size in (4, 2, 4):
        with mx.autograd.record():
            scores, hidden = net(x[:size])
            loss = loss_fn(scores, y[:size]) + hidden.square().mean()
        loss.backward()
        trainer.step(size)
        losses.append(loss.mean().asscalar())
    scores, hidden = net(x)
    return {
        "losses": losses,
        "scores": scores.asnumpy(),
        "hidden": hidden.asnumpy(),
        **values_of(net.collect_params()),
    }
