"""One hybridized net called by several threads at once, and training beside bulk scopes."""

import threading
from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="thr_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    batches = [normal(s, 2, 1, 6, 6) for s in range(8)]
    net(mx.nd.array(batches[0]))
    fill(mx, net.collect_params(), 1)
    if hybridize:
        net.hybridize()
        net(mx.nd.array(batches[0]))
    results: list[Any] = [None] * len(batches)

    def infer(first: int) -> None:
        for number in range(first, len(batches), 4):
            results[number] = net(mx.nd.array(batches[number])).asnumpy()

    threads = [threading.Thread(target=infer, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for batch in batches[:3]:
        with mx.engine.bulk(10), mx.autograd.record():
            loss = net(mx.nd.array(batch)).square().mean()
        loss.backward()
        trainer.step(1)
    mx.engine.set_bulk_size(mx.engine.set_bulk_size(5))
    return {"results": results, **values_of(net.collect_params())}
