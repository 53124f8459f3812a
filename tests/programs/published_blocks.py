"""Blocks of published networks: dense concatenation, squeeze and excite, depthwise, dilated."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn, block = mx.gluon.nn, mx.gluon.HybridBlock

    class DenseLayer(block):
        def __init__(self, growth: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.body = nn.HybridSequential(prefix="")
                self.body.add(nn.BatchNorm(), nn.Activation("relu"))
                self.body.add(nn.Conv2D(2 * growth, kernel_size=1, use_bias=False))
                self.body.add(nn.BatchNorm(), nn.Activation("relu"))
                self.body.add(nn.Conv2D(growth, kernel_size=3, padding=1, use_bias=False))

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.concat(x, self.body(x), dim=1)

    class SqueezeExcite(block):
        def __init__(self, channels: int, ratio: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.gate = nn.HybridSequential()
                self.gate.add(nn.GlobalAvgPool2D(), nn.Conv2D(channels // ratio, 1))
                self.gate.add(nn.LeakyReLU(0.1), nn.Conv2D(channels, 1), nn.Activation("sigmoid"))

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.broadcast_mul(x, self.gate(x))

    class Separable(block):
        def __init__(self, channels: int, out: int, stride: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self._shortcut = stride == 1 and channels == out
            with self.name_scope():
                self.out = nn.HybridSequential()
                self.out.add(nn.Conv2D(2 * channels, 1, use_bias=False), nn.BatchNorm(center=False))
                self.out.add(nn.HybridLambda(lambda F, x: F.clip(x, 0, 6, name="relu6")))
                self.out.add(
                    nn.Conv2D(2 * channels, 3, stride, 1, groups=2 * channels, use_bias=False)
                )
                self.out.add(nn.BatchNorm(), nn.Swish(), nn.Conv2D(out, 1), nn.BatchNorm())

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            y = self.out(x)
            return x + y if self._shortcut else y

    class Pyramid(block):
        def __init__(self, channels: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.branches = [
                    nn.Conv2D(channels, 3, padding=rate, dilation=rate, activation="softrelu")
                    for rate in (1, 2, 3)
                ]
                for branch in self.branches:
                    self.register_child(branch)
                self.pool = nn.AvgPool2D(3, 1, 1, count_include_pad=False)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.concat(*[b(x) for b in self.branches], self.pool(x), dim=1)

    def build() -> Any:
        net = nn.HybridSequential(prefix="zoo_")
        with net.name_scope():
            net.add(nn.Conv2D(6, 3, padding=1, use_bias=False), DenseLayer(4), DenseLayer(4))
            net.add(SqueezeExcite(14, 2), Separable(14, 8, 2), Separable(8, 8, 1), Pyramid(4))
            net.add(nn.InstanceNorm(), nn.MaxPool2D(3, 2, ceil_mode=True), nn.GlobalMaxPool2D())
            net.add(nn.Dropout(0), nn.Dense(5))
        return net

    return build


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_classes(mx)()
    net.initialize(mx.init.MSRAPrelu())
    x, y = mx.nd.array(normal(1, 4, 3, 10, 10)), mx.nd.array(classes(2, 5, 4))
    net(x)
    fill(mx, net.collect_params(), 5)
    if hybridize:
        net.hybridize()
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.005, "momentum": 0.9, "wd": 1e-3}
    )
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
        loss.backward()
        trainer.step(4)
        losses.append(loss.asnumpy())
    return {
        "losses": losses,
        "y": net(x).asnumpy(),
        "shapes": str([(k, p.shape) for k, p in net.collect_params().items()]),
        "repr": repr(net),
        **{k: v for k, v in values_of(net.collect_params()).items() if v.ndim == 1 and v.size < 20},
    }
