"""A trained network whose output layer is replaced, its features kept, and trained on."""

import os
import tempfile
from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def make_classes(mx: ModuleType) -> Any:
    nn = mx.gluon.nn

    class Net(mx.gluon.HybridBlock):
        def __init__(self, count: int, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            with self.name_scope():
                self.features = nn.HybridSequential(prefix="")
                self.features.add(nn.Dense(6, activation="relu"), nn.BatchNorm())
                self.output = nn.Dense(count)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.output(self.features(x))

    return Net


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn, net_class = mx.gluon, mx.gluon.nn, make_classes(mx)
    x, y = mx.nd.array(normal(1, 8, 4)), mx.nd.array(classes(2, 3, 8))
    old = net_class(7, prefix="old_")
    old.initialize()
    old(x)
    fill(mx, old.collect_params(), 3)
    new = net_class(3, prefix="new_")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "old.params")
        old.features.save_parameters(file)
        new.features.load_parameters(file, ctx=mx.cpu())
    new.output.initialize(mx.init.Zero())
    old.features.collect_params().setattr("lr_mult", 0.5)

    pretrained = net_class(7, prefix="pre_")
    pretrained.initialize()
    pretrained(x)
    fill(mx, pretrained.collect_params(), 3)
    with pretrained.name_scope():
        pretrained.output = nn.Dense(3, weight_initializer=mx.init.One())
    pretrained.output.initialize(ctx=mx.cpu())
    reused = net_class(3, prefix="reused_")
    reused.features = pretrained.features
    reused.output.initialize(mx.init.Constant(0.1))

    out: dict[str, Any] = {}
    for net in (new, pretrained, reused):
        if hybridize:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2})
        losses = []
        for _ in range(3):
            with mx.autograd.record():
                loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
            loss.backward()
            trainer.step(8)
            losses.append(loss.mean().asscalar())
        out[f"{net.prefix} losses"] = losses
        out[f"{net.prefix} repr"] = repr(net)
        out[f"{net.prefix} names"] = list(net.collect_params())
        out.update({f"{net.prefix} {k}": v for k, v in values_of(net.collect_params()).items()})
    return out
