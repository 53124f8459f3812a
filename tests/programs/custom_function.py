"""autograd.Function with saved tensors, several inputs and outputs, inside a network."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    class ScaledSigmoid(mx.autograd.Function):
        def __init__(self, scale: float) -> None:
            super().__init__()
            self.scale = scale

        def forward(self, x: Any, w: Any) -> Any:
            y = 1 / (1 + mx.nd.exp(-x * w))
            self.save_for_backward(y, x, w)
            return y * self.scale, x + w

        def backward(self, dy: Any, dz: Any) -> Any:
            y, x, w = self.saved_tensors
            inner = dy * self.scale * y * (1 - y)
            return inner * w + dz, inner * x + 2 * dz

    class Net(mx.gluon.Block):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.first = mx.gluon.nn.Dense(4, in_units=3)
                self.second = mx.gluon.nn.Dense(2, in_units=4)

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            a, b = ScaledSigmoid(3.0)(x, x.tanh())
            return self.second(a - b)

    return Net


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    net = make_classes(mx)(prefix="fun_")
    net.initialize()
    fill(mx, net.collect_params(), 1)
    x = mx.nd.array(normal(2, 5, 3))
    x.attach_grad()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = []
    for _ in range(3):
        with mx.autograd.record():
            loss = mx.gluon.loss.L2Loss()(net(x), mx.nd.ones((5, 2)))
        loss.backward()
        trainer.step(5)
        losses.append(loss.asnumpy())
    return {"losses": losses, "by input": x.grad.asnumpy(), **values_of(net.collect_params())}
