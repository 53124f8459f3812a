"""Data parallel training on two devices, the batch split by split_and_load."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    devices = [mx.cpu(0), mx.cpu(1)]
    out: dict[str, Any] = {}
    for store in ("local", "device", None):
        net = nn.HybridSequential(prefix="two_")
        with net.name_scope():
            net.add(nn.Conv2D(3, 3, activation="relu"), nn.BatchNorm(), nn.Dense(4))
        net.initialize(mx.init.Normal(0.1), ctx=devices)
        x, y = mx.nd.array(normal(1, 10, 1, 6, 6)), mx.nd.array(classes(2, 4, 10))
        net(x[:1].as_in_context(devices[0]))
        fill(mx, net.collect_params(), 3)
        if hybridize:
            net.hybridize(static_alloc=True)
        settings = {"learning_rate": 0.1, "momentum": 0.9}
        trainer = gluon.Trainer(net.collect_params(), "sgd", settings, kvstore=store)
        loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
        losses = []
        for _ in range(3):
            xs = gluon.utils.split_and_load(x, devices)
            ys = gluon.utils.split_and_load(y, ctx_list=devices, batch_axis=0)
            with mx.autograd.record():
                parts = [loss_fn(net(a), b) for a, b in zip(xs, ys, strict=True)]
            for part in parts:
                part.backward()
            if store is None:
                for p in net.collect_params().values():
                    if p.grad_req != "null":
                        total = sum(g.as_in_context(mx.cpu()) for g in p.list_grad())
                        for g in p.list_grad():
                            g[:] = total.as_in_context(g.context)
                trainer.update(10)
            else:
                trainer.step(10)
            losses.append(float(sum(part.sum().asscalar() for part in parts)))
        out[f"{store} losses"] = losses
        out[f"{store} contexts"] = [str(c) for c in net[0].weight.list_ctx()]
        for name, p in net.collect_params().items():
            for device, values in zip(p.list_ctx(), p.list_data(), strict=True):
                out[f"{store} {name} {device}"] = values.asnumpy()
    return out
