"""A loss of one's own as a Loss block, with sample weights and masks."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    class Focal(mx.gluon.loss.Loss):
        def __init__(self, gamma: float = 2.0, weight: Any = None, batch_axis: int = 0) -> None:
            super().__init__(weight, batch_axis)
            self._gamma = gamma

        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            logp = F.pick(F.log_softmax(pred, axis=-1), label, axis=-1, keepdims=True)
            loss = -((1 - F.exp(logp)) ** self._gamma) * logp
            if sample_weight is not None:
                loss = F.broadcast_mul(loss, sample_weight)
            return F.mean(loss * (self._weight or 1.0), axis=self._batch_axis, exclude=True)

    return Focal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon = mx.gluon
    net = gluon.nn.Dense(5, in_units=3, prefix="focal_")
    net.initialize()
    fill(mx, net.collect_params(), 1)
    focal, huber = make_classes(mx)(1.5, weight=0.7), gluon.loss.HuberLoss(rho=0.5)
    if hybridize:
        net.hybridize()
        focal.hybridize()
        huber.hybridize()
    x, y = mx.nd.array(normal(2, 7, 3)), mx.nd.array(classes(3, 5, 7))
    mask = mx.nd.array(np.arange(7).reshape(7, 1) % 2)
    trainer = gluon.Trainer(net.collect_params(), mx.optimizer.SGD(learning_rate=0.3))
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            pred = net(x)
            loss = focal(pred, y, mask) + huber(pred, mx.nd.one_hot(y, 5), mask)
        loss.backward()
        trainer.step(7)
        losses.append(loss.asnumpy())
    return {"losses": losses, "repr": repr(focal), **values_of(net.collect_params())}
