"""Uneven batches over three devices, by every store and place of update; bare kvstores."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn = mx.nd, mx.gluon, mx.gluon.nn
    devices = [mx.cpu(i) for i in range(3)]
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    out: dict[str, Any] = {}
    for store, on_store, name, settings in (
        ("local", True, "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
        ("local", False, "adam", {"learning_rate": 0.01}),
        ("device", False, "sgd", {"learning_rate": 0.1, "momentum": 0.9}),
        ("device", True, "nag", {"learning_rate": 0.1, "momentum": 0.9}),
        ("device", None, "adam", {"learning_rate": 0.01}),
    ):
        case = f"{store} {on_store}"
        net = nn.HybridSequential(prefix="st_")
        with net.name_scope():
            net.add(nn.Dense(4, activation="relu"), nn.LayerNorm(), nn.Dense(3))
        net.initialize(mx.init.Normal(0.1), ctx=devices)
        x, y = nd.array(normal(1, 20, 5)), nd.array(classes(2, 3, 20))
        net(x[:1])
        fill(mx, net.collect_params(), 3)
        if hybridize:
            net.hybridize()
        trainer = gluon.Trainer(
            net.collect_params(), name, settings, kvstore=store, update_on_kvstore=on_store
        )
        losses, sizes = [], []
        for start, count in ((0, 8), (8, 7), (15, 5), (0, 20)):
            a = gluon.utils.split_and_load(x[start : start + count], devices, even_split=False)
            b = gluon.utils.split_and_load(y[start : start + count], devices, even_split=False)
            sizes.append([v.shape[0] for v in a])
            with mx.autograd.record():
                parts = [loss_fn(net(i), j) for i, j in zip(a, b, strict=True)]
            mx.autograd.backward(parts)
            if on_store is False:
                trainer.allreduce_grads()
                grads = [p.list_grad() for p in net.collect_params().values()]
                out[f"{case} reduced {start}"] = [g[1].asnumpy() for g in grads]
                trainer.update(count)
            else:
                trainer.step(count)
            losses.append(sum(part.sum().asscalar() for part in parts))
        out[f"{case} losses"], out[f"{case} sizes"] = losses, sizes
        for key, p in net.collect_params().items():
            values = [v.asnumpy() for v in p.list_data()]
            out[f"{case} {key}"] = values[0]
            out[f"{case} {key} same"] = all((v == values[0]).all() for v in values)
    for kind in ("local", "device"):
        store = mx.kv.create(kind)
        store.init("3", nd.ones((2, 3)))
        store.init(["a", "b"], [nd.zeros((2,)), nd.full((3,), 2.0)])
        pulled = [nd.zeros((2, 3), ctx=c) for c in devices]
        store.push("3", [nd.full((2, 3), i + 1.0, ctx=c) for i, c in enumerate(devices)])
        store.pull("3", out=pulled)
        out[f"{kind} pulled"] = [v.asnumpy() for v in pulled]
        store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
        store.push(["a", "b"], [nd.ones((2,)), nd.ones((3,))])
        target = [nd.zeros((2,)), nd.zeros((3,))]
        store.pull(["a", "b"], out=target)
        out[f"{kind} updated"] = [v.asnumpy() for v in target]
        sums = [nd.full((2,), i + 1.0, ctx=c) for i, c in enumerate(devices)]
        other = mx.kv.create(kind)
        other.init("s", nd.zeros((2,)))
        other.pushpull("s", sums, out=sums)
        out[f"{kind} pushpull"] = [v.asnumpy() for v in sums]
        out[f"{kind} about"] = [store.type, str(store.rank), str(store.num_workers)]
    try:
        gluon.utils.split_and_load(nd.ones((7, 2)), devices)
        out["uneven"] = "split"
    except ValueError:
        out["uneven"] = "refused"
    return out
