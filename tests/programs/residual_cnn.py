"""A convolutional network with residual branches, batch norm, and an auxiliary output."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Branch(mx.gluon.HybridBlock):
        def __init__(self, channels: int, stride: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.HybridSequential(prefix="")
                self.body.add(
                    nn.Conv2D(channels, 3, strides=stride, padding=1, use_bias=False),
                    nn.BatchNorm(),
                    nn.Activation("relu"),
                    nn.Conv2D(channels, kernel_size=3, padding=1, groups=2, use_bias=False),
                    nn.BatchNorm(epsilon=1e-4, momentum=0.8),
                )
                self.shortcut = nn.HybridSequential(prefix="")
                self.shortcut.add(nn.Conv2D(channels, 1, stride, use_bias=False), nn.BatchNorm())

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.Activation(self.body(x) + self.shortcut(x), act_type="relu")

    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.features = nn.HybridSequential()
                with self.features.name_scope():
                    self.features.add(nn.Conv2D(4, (3, 3), padding=(1, 1), activation="relu"))
                    self.features.add(nn.MaxPool2D(2, 2))
                    self.features.add(Branch(8, 1), Branch(8, 2))
                self.pool = nn.GlobalAvgPool2D()
                self.flatten = nn.Flatten()
                self.head = nn.Dense(3)
                self.side = nn.Dense(2, in_units=8, flatten=True)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x = self.flatten(self.pool(self.features(x)))
            return self.head(x), F.sigmoid(self.side(x))

    return Net


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_classes(mx)(prefix="rescnn_")
    net.initialize()
    x, y = mx.nd.array(normal(1, 6, 2, 12, 12)), mx.nd.array(classes(2, 3, 6))
    target = mx.nd.array(normal(4, 6, 2))
    net(x)
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    cross_entropy, l2 = mx.gluon.loss.SoftmaxCELoss(), mx.gluon.loss.L2Loss(weight=0.5)
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            scores, side = net(x)
            total = cross_entropy(scores, y) + l2(side, target)
        total.backward()
        trainer.step(6)
        losses.append(total.asnumpy())
    scores, side = net(x)
    return {
        "losses": losses,
        "scores": scores.asnumpy(),
        "side": side.asnumpy(),
        "names": sorted(net.collect_params()),
        "repr": repr(net),
        **values_of(net.collect_params(".*(running|gamma|head).*")),
    }
