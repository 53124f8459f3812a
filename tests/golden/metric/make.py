"""Write metric.json beside this file: what MXNet 1.9.1's metrics give.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5. Each case is arguments, batches of
(labels, preds), and what `get` and `get_global` return after all of them, with a `reset_local`
before the last batch.
"""

import json
from pathlib import Path

import mxnet as mx
import numpy as np

R = np.random.RandomState(7)


def scores(*shape):
    values = R.rand(*shape).astype(np.float32)
    return (values / values.sum(axis=-1, keepdims=True)).tolist()


def classes(count, *shape):
    return R.randint(0, count, shape).tolist()


def numbers(*shape):
    return R.randn(*shape).astype(np.float32).tolist()


def class_batches(count=4):
    return [
        [[classes(count, 6)], [scores(6, count)]],
        [[classes(count, 5), classes(count, 3)], [scores(5, count), scores(3, count)]],
        [[classes(count, 7)], [scores(7, count)]],
    ]


def number_batches():
    return [
        [[numbers(6)], [numbers(6)]],
        [[numbers(5, 2), numbers(3)], [numbers(5, 2), numbers(3, 1)]],
        [[numbers(4, 3)], [numbers(4, 3)]],
    ]


def same_shape_batches():
    return [[[numbers(6)], [numbers(6)]], [[numbers(5, 2)], [numbers(5, 2)]]]


CASES = [
    ("Accuracy", {}, class_batches()),
    ("Accuracy", {}, [[[classes(3, 2, 4)], [scores(2, 3, 4)]], [[classes(3, 5)], [classes(3, 5)]]]),
    ("Accuracy", {"axis": -1}, [[[classes(3, 2, 4)], [scores(2, 4, 3)]]]),
    (
        "Accuracy",
        {},
        [[[[[0], [1]]], [[[0.1, 0.9], [0.2, 0.8]]]], [[[0, 1, 1]], [[[0], [1], [0]]]]],
    ),
    ("TopKAccuracy", {"top_k": 2}, class_batches()),
    ("TopKAccuracy", {"top_k": 3, "name": "best"}, class_batches(5)),
    ("Loss", {}, number_batches()),
    ("CrossEntropy", {}, class_batches()),
    ("CrossEntropy", {"eps": 0.1}, class_batches()),
    ("NegativeLogLikelihood", {}, class_batches()),
    ("Perplexity", {"ignore_label": None}, class_batches()),
    ("Perplexity", {"ignore_label": 1}, class_batches()),
    ("Perplexity", {"ignore_label": None}, [[[classes(4, 2, 3)], [scores(6, 4)]]]),
    ("MAE", {}, number_batches()),
    ("MSE", {}, number_batches()),
    ("RMSE", {}, number_batches()),
    ("PearsonCorrelation", {}, same_shape_batches()),
    ("PearsonCorrelation", {"average": "micro"}, same_shape_batches()[:1]),
    ("F1", {}, class_batches(2)),
    ("F1", {"average": "micro"}, class_batches(2)),
    ("F1", {}, [[[[0, 0]], [[[0.9, 0.1], [0.8, 0.2]]]]]),
    ("MCC", {}, class_batches(2)),
    ("MCC", {"average": "micro"}, class_batches(2)),
    ("MCC", {}, [[[[0, 0]], [[[0.9, 0.1], [0.8, 0.2]]]]]),
    ("PCC", {}, class_batches(2)),
    ("PCC", {}, class_batches(5)),
]


def arrays(values):
    return [mx.nd.array(value) for value in values]


def run(name, arguments, batches):
    metric = getattr(mx.metric, name)(**arguments)
    config = metric.get_config()
    for i, (labels, preds) in enumerate(batches):
        if i and i == len(batches) - 1:
            metric.reset_local()
        metric.update(arrays(labels), arrays(preds))
    return {
        "metric": name,
        "arguments": arguments,
        "batches": batches,
        "config": config,
        "get": metric.get(),
        "get_global": metric.get_global(),
    }


made = [run(*case) for case in CASES]
Path(__file__).with_name("metric.json").write_text(json.dumps(made) + "\n", "utf-8")
