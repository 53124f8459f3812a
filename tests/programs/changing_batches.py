"""One hybridized net fed batches of several sizes, with every memory flag, in both modes."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of

FLAGS: list[dict[str, Any]] = [
    {},
    {"static_alloc": True},
    {"static_alloc": True, "static_shape": True},
    {"inline_limit": 4, "forward_bulk_size": 2},
]


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nn = mx.gluon.nn
    out: dict[str, Any] = {}
    for number, flags in enumerate(FLAGS):
        net = nn.HybridSequential(prefix="sizes_")
        with net.name_scope():
            net.add(nn.Conv2D(3, 3, padding=1), nn.BatchNorm(), nn.LeakyReLU(0.1))
            net.add(nn.AvgPool2D(), nn.Flatten(), nn.Dense(2))
        net.initialize()
        net(mx.nd.zeros((1, 2, 4, 4)))
        fill(mx, net.collect_params(), 3)
        if hybridize:
            net.hybridize(**flags)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        for step, size in enumerate((2, 5, 1, 2)):
            x = mx.nd.array(normal(step, size, 2, 4, 4))
            x.attach_grad()
            with mx.autograd.record():
                y = net(x)
                loss = y.square().sum()
            loss.backward()
            kept = net(x)
            out[f"{number} {step} predicted"] = kept.asnumpy()
            net(x * 2)
            out[f"{number} {step} kept"] = kept.asnumpy()
            out[f"{number} {step} trained"] = y.asnumpy()
            out[f"{number} {step} gradient"] = x.grad.asnumpy()
            trainer.step(size)
        out.update({f"{number} {k}": v for k, v in values_of(net.collect_params()).items()})
    return out
