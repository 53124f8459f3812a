"""Networks in float64 and float16, cast before and after their parameters are there."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, fill, normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn = mx.nd, mx.gluon, mx.gluon.nn
    out: dict[str, Any] = {}
    x, y = normal(1, 6, 2, 5, 5), classes(2, 3, 6)

    def make(prefix: str) -> Any:
        net = nn.HybridSequential(prefix=prefix)
        with net.name_scope():
            net.add(nn.Conv2D(3, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(2, 1))
            net.add(nn.Dense(4, activation="tanh"), nn.LayerNorm(), nn.Dense(3))
        return net

    early = make("early_")
    early.cast("float64")
    early.initialize()
    early(nd.array(x, dtype="float64"))
    fill(mx, early.collect_params(), 3)
    late = make("late_")
    late.initialize()
    late(nd.array(x))
    fill(mx, late.collect_params(), 3)
    if hybridize:
        early.hybridize()
        late.hybridize()
    late.cast(np.float64)
    for net in (early, late):
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
        losses = []
        for _ in range(3):
            with mx.autograd.record():
                loss = loss_fn(net(nd.array(x, dtype="float64")), nd.array(y, dtype="float64"))
            loss.backward()
            trainer.step(6)
            losses.append(loss.mean())
        out[f"{net.prefix} losses"] = [v.asscalar() for v in losses]
        out[f"{net.prefix} kinds"] = [
            *sorted({np.dtype(p.dtype).name for p in net.collect_params().values()}),
            np.dtype(losses[0].dtype).name,
            np.dtype(net[3].weight.grad().dtype).name,
        ]
        out[f"{net.prefix} weight"] = net[0].weight.data().asnumpy()
    half = nd.array(x, dtype="float16")
    out["half"] = [np.dtype(v.dtype).name for v in (half, half * 2, half.sum(), half.mean(axis=0))]
    out["half values"] = (half * 2 + 1).sum(axis=(1, 2, 3)).asnumpy().astype("float32")
    embed = nn.Embedding(5, 3, dtype="float16")
    embed.initialize(mx.init.One())
    out["embed"] = np.dtype(embed(nd.array([1, 2])).dtype).name
    weight16 = nd.array(normal(4, 3, 4), dtype="float16")
    weight32 = weight16.astype("float32")
    grad = nd.array(normal(5, 3, 4), dtype="float16")
    nd.mp_sgd_update(weight16, grad, weight32, out=weight16, lr=0.1, wd=0.01)
    out["mp"] = [weight16.asnumpy().astype("float32"), weight32.asnumpy()]
    optimizer = mx.optimizer.SGD(learning_rate=0.1, momentum=0.9, multi_precision=True)
    state = optimizer.create_state_multi_precision(0, weight16)
    for _ in range(3):
        optimizer.update_multi_precision(0, weight16, grad, state)
    out["momentum"] = weight16.asnumpy().astype("float32")
    out["state kinds"] = [np.dtype(s.dtype).name for s in state]
    out["casts"] = [
        np.dtype(nd.cast(nd.array([1.7, -1.7]), t).dtype).name
        for t in ("float64", "float16", "int32", "uint8", "int64", "int8")
    ]
    early.cast("float32")
    out["back"] = early(nd.array(x)).asnumpy()
    try:
        late(nd.array(x)).asnumpy()
        out["mixed"] = "accepted"
    except Exception:
        out["mixed"] = "refused"
    return out
