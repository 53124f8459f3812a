"""An epoch loop with metrics, gradient clipping, and a loss kept by a metric."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import classes, fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, metric = mx.gluon, mx.metric
    net = gluon.nn.Dense(4, in_units=5, prefix="met_")
    net.initialize()
    fill(mx, net.collect_params(), 1, scale=2.0)
    if hybridize:
        net.hybridize()
    x, y = mx.nd.array(normal(2, 20, 5)), mx.nd.array(classes(3, 4, 20))
    every = metric.CompositeEvalMetric([metric.Accuracy(), metric.TopKAccuracy(top_k=2)])
    every.add(metric.CrossEntropy())
    mean_loss = metric.Loss("my-loss")
    custom = metric.CustomMetric(
        lambda label, pred: float(np.abs(label - pred.argmax(1)).sum()), "off"
    )
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    out: dict[str, Any] = {}
    for epoch in range(2):
        every.reset()
        norms = []
        for start in range(0, 20, 8):
            a, b = x[start : start + 8], y[start : start + 8]
            with mx.autograd.record():
                pred = net(a)
                loss = loss_fn(pred, b)
            loss.backward()
            grads = [p.grad() for p in net.collect_params().values()]
            norms.append(float(gluon.utils.clip_global_norm(grads, 1.5)))
            trainer.step(a.shape[0])
            every.update([b], [pred.softmax()])
            mean_loss.update(0, loss)
            custom.update(b, pred)
        names, values = every.get()
        out[f"{epoch} names"], out[f"{epoch} values"] = names, values
        out[f"{epoch} norms"] = norms
        out[f"{epoch} loss"] = mean_loss.get()[1]
        out[f"{epoch} custom"] = custom.get_name_value()[0][1]
    out["text"] = [str(metric.Accuracy()), metric.create("acc").name, metric.create("mse").name]
    out["kinds"] = [str(every.get_name_value()[0][0])]
    return {**out, **values_of(net.collect_params())}
