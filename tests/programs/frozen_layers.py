"""Layers frozen with grad_req='null' through collect_params' regular expressions."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    net = nn.HybridSequential(prefix="frozen_")
    with net.name_scope():
        net.add(nn.Dense(6, in_units=4, activation="relu"), nn.BatchNorm(in_channels=6))
        net.add(nn.Dense(5, in_units=6), nn.Dense(3, in_units=5))
    net.initialize()
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    x, y = mx.nd.array(normal(1, 8, 4)), mx.nd.array(classes(2, 3, 8))
    net.collect_params("frozen_dense0_.*|.*gamma").setattr("grad_req", "null")
    net.collect_params(".*dense1.*").setattr("lr_mult", 0.1)
    net[3].bias.wd_mult = 0.0
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5, "wd": 0.1})
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []

    def steps(count: int) -> None:
        for _ in range(count):
            with mx.autograd.record():
                loss = loss_fn(net(x), y)
            loss.backward()
            trainer.step(8)
            losses.append(loss.mean().asscalar())

    steps(2)
    frozen = values_of(net.collect_params("frozen_dense0_.*"))
    try:
        net[0].weight.grad()
        refused = "no error"
    except RuntimeError as error:
        refused = f"RuntimeError naming it: {net[0].weight.name in str(error)}"
    net.collect_params("frozen_dense0_.*").setattr("grad_req", "write")
    with mx.autograd.record():
        loss = loss_fn(net(x), y)
    loss.backward()
    return {
        "losses": losses,
        "refused": refused,
        "requests": [p.grad_req for p in net.collect_params().values()],
        "gradient after thaw": net[0].weight.grad().asnumpy(),
        **{f"frozen {k}": v for k, v in frozen.items()},
        **values_of(net.collect_params()),
    }
