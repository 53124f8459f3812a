"""Gradients accumulated over batches by grad_req='add', cleared by zero_grad."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    net = nn.HybridSequential(prefix="acc_")
    with net.name_scope():
        net.add(nn.Dense(5, activation="sigmoid"), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    x, y = mx.nd.array(normal(1, 8, 3)), mx.nd.array(normal(2, 8, 2))
    net(x)
    fill(mx, net.collect_params(), 3)
    for p in net.collect_params().values():
        if p.grad_req != "null":
            p.grad_req = "add"
    if hybridize:
        net.hybridize(static_alloc=True)
    loss_fn = gluon.loss.L1Loss()
    trainer = gluon.Trainer(net.collect_params(), "nag", {"learning_rate": 0.1, "momentum": 0.5})
    losses, grads = [], []
    for _ in range(3):
        for start in range(0, 8, 4):
            with mx.autograd.record():
                loss = loss_fn(net(x[start : start + 4]), y[start : start + 4])
            loss.backward()
            losses.append(loss.asnumpy())
        grads.append(net[0].weight.grad().asnumpy())
        trainer.step(8)
        net.collect_params().zero_grad()
    z = mx.nd.ones((3,))
    z.attach_grad(grad_req="add")
    for _ in range(3):
        with mx.autograd.record():
            out = z * z * 2
        out.backward()
    return {
        "losses": losses,
        "grads": grads,
        "zeroed": net[2].weight.grad().asnumpy(),
        "array grad": z.grad.asnumpy(),
        **values_of(net.collect_params()),
    }
