"""A multilayer perceptron: SGD with momentum and weight decay on a classification batch."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    net = nn.HybridSequential(prefix="mlp_")
    with net.name_scope():
        net.add(nn.Dense(16, activation="relu"))
        net.add(nn.Dense(8, activation="tanh", use_bias=False))
        net.add(nn.Dense(4))
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    x, y = mx.nd.array(normal(1, 12, 5)), mx.nd.array(classes(2, 4, 12))
    net(x)
    fill(mx, net.collect_params(), 3)
    if hybridize:
        net.hybridize()
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    settings = {"learning_rate": 0.2, "momentum": 0.9, "wd": 1e-3}
    trainer = gluon.Trainer(net.collect_params(), "sgd", settings)
    losses = []
    for _ in range(6):
        with mx.autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        trainer.step(x.shape[0])
        losses.append(loss.mean().asscalar())
    return {
        "losses": losses,
        "output": net(x).asnumpy(),
        "classes": net(x).argmax(axis=1).asnumpy(),
        "repr": repr(net),
        "names": list(net.collect_params().keys()),
        **values_of(net.collect_params()),
    }
