"""Training interrupted: parameters and trainer states saved, loaded in a new net, continued."""

import os
import tempfile
from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    x, y = mx.nd.array(normal(1, 8, 4)), mx.nd.array(classes(2, 3, 8))
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()

    def make() -> Any:
        net = nn.HybridSequential(prefix="saved_")
        with net.name_scope():
            net.add(nn.Dense(5, activation="relu"), nn.LayerNorm(), nn.Dense(3))
        if hybridize:
            net.hybridize()
        return net

    def train(net: Any, trainer: Any, count: int) -> list[float]:
        losses = []
        for _ in range(count):
            with mx.autograd.record():
                loss = loss_fn(net(x), y)
            loss.backward()
            trainer.step(8)
            losses.append(loss.mean().asscalar())
        return losses

    out: dict[str, Any] = {}
    for name, settings in {
        "sgd": {"learning_rate": 0.1, "momentum": 0.9},
        "adam": {"learning_rate": 0.01, "wd": 0.01},
    }.items():
        whole = make()
        whole.initialize()
        whole(x)
        fill(mx, whole.collect_params(), 3)
        trainer = gluon.Trainer(whole.collect_params(), name, settings)
        losses = train(whole, trainer, 2)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "x")
            whole.save_parameters(file + ".params")
            trainer.save_states(file + ".states")
            resumed = make()
            resumed.load_parameters(file + ".params")
            again = gluon.Trainer(resumed.collect_params(), name, settings)
            again.load_states(file + ".states")
        out[f"{name} losses"] = losses + train(whole, trainer, 2)
        out[f"{name} resumed"] = train(resumed, again, 2)
        out.update({f"{name} {k}": v for k, v in values_of(whole.collect_params()).items()})
        for key, value in values_of(resumed.collect_params()).items():
            out[f"{name} resumed {key}"] = value
    return out
