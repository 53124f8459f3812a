"""Write loss.json beside this file: what MXNet 1.9.1's losses give, and their gradients.

Run with an interpreter that has mxnet 1.9.1 and numpy 1.23.5. Each case is a loss, its arguments,
its inputs (None for one left out), how many of them get a gradient, the loss, and the gradients of
its sum.
"""

import json
from pathlib import Path

import mxnet as mx
import numpy as np

R = np.random.RandomState(11)


def normal(*shape):
    return R.randn(*shape).astype(np.float32)


def uniform(*shape):
    return R.uniform(0.05, 0.95, shape).astype(np.float32)


def signs(*shape):
    return R.choice([-1.0, 1.0], shape).astype(np.float32)


def classes(count, *shape):
    return R.randint(0, count, shape).astype(np.float32)


def log_softmax(x):
    return (x - np.log(np.exp(x).sum(axis=-1, keepdims=True))).astype(np.float32)


def distribution(*shape):
    values = uniform(*shape)
    return values / values.sum(axis=-1, keepdims=True)


def more():
    """Return cases of every loss with the arguments that the others leave at their defaults."""
    pointwise = [
        ("L2Loss", {}),
        ("L1Loss", {}),
        ("HuberLoss", {"rho": 0.7}),
        ("HingeLoss", {"margin": 0.5}),
        ("SquaredHingeLoss", {"margin": 1.5}),
        ("LogisticLoss", {}),
        ("SigmoidBinaryCrossEntropyLoss", {}),
        ("KLDivLoss", {"from_logits": False}),
        ("PoissonNLLLoss", {}),
    ]
    cases = []
    for name, arguments in pointwise:
        full = {**arguments, "weight": 1.5, "batch_axis": 1}  # type: ignore[dict-item]
        label = signs if "Hinge" in name or name == "LogisticLoss" else uniform
        for options, weights in ((full, uniform(1, 3, 1)), (arguments, uniform(1))):
            cases.append((name, options, [normal(2, 3, 2), label(2, 3, 2), weights]))
        if name != "KLDivLoss":
            cases.append((name, arguments, [normal(4, 1), label(4)]))
    softmax = "SoftmaxCrossEntropyLoss"
    cases += [
        (softmax, {"batch_axis": 1, "weight": 0.5}, [normal(2, 3, 4), classes(4, 2, 3)]),
        (softmax, {"axis": 1, "batch_axis": 2}, [normal(2, 3, 4), classes(3, 2, 1, 4)]),
        (softmax, {"axis": 0}, [normal(3, 4), classes(3, 4)]),
        (softmax, {"axis": 1, "sparse_label": False}, [normal(2, 3, 2), uniform(2, 3, 2)]),
        (
            softmax,
            {"sparse_label": False, "from_logits": True},
            [log_softmax(normal(2, 3)), distribution(6).reshape(6), uniform(2, 1)],
        ),
        (softmax, {}, [normal(3, 4), np.float32([-1, 2, 9])]),
        (softmax, {}, [normal(3, 4), classes(4, 3, 1), uniform(3)]),
        (
            "SigmoidBinaryCrossEntropyLoss",
            {"from_sigmoid": True, "weight": 2, "batch_axis": 1},
            [uniform(3, 4), uniform(12), uniform(3, 1), 2 * uniform(4)],
        ),
        ("KLDivLoss", {"weight": 2, "batch_axis": 1}, [log_softmax(normal(2, 3)), distribution(3)]),
        ("PoissonNLLLoss", {"from_logits": False}, [uniform(3, 2), classes(4, 6), uniform(1, 2)]),
        ("TripletLoss", {"batch_axis": 1, "margin": 0}, [normal(3, 4), normal(3, 4), normal(12)]),
        ("CosineEmbeddingLoss", {"weight": 2}, [normal(2, 2, 3), normal(2, 2, 3), signs(2, 2)]),
        ("CosineEmbeddingLoss", {"margin": 0.3}, [normal(6), normal(2, 3), signs(2)]),
        ("CTCLoss", {"layout": "TNC"}, [normal(5, 2, 4), np.float32([[0, 1, 1], [2, -1, -1]])]),
        ("CTCLoss", {"label_layout": "TN", "weight": 0.5}, [normal(2, 5, 4), classes(3, 3, 2)]),
    ]
    return cases


CASES = [
    ("L2Loss", {}, [normal(3, 4), normal(3, 4)]),
    ("L2Loss", {"weight": 3, "batch_axis": 1}, [normal(3, 4), normal(12), uniform(3, 1)]),
    ("L1Loss", {}, [normal(3, 1), normal(3)]),
    ("L1Loss", {"weight": 0.5}, [normal(2, 3, 4), normal(2, 3, 4), uniform(2, 1, 1)]),
    ("HuberLoss", {}, [normal(3, 4), normal(3, 4)]),
    ("HuberLoss", {"rho": 0.5, "weight": 2}, [normal(3, 4), normal(3, 4), uniform(3, 1)]),
    ("SoftmaxCrossEntropyLoss", {}, [normal(5, 4), classes(4, 5)]),
    ("SoftmaxCrossEntropyLoss", {}, [normal(2, 5, 4), classes(4, 2, 5), uniform(2, 5, 1)]),
    ("SoftmaxCrossEntropyLoss", {"axis": 1}, [normal(2, 3, 4), classes(3, 2, 4)]),
    ("SoftmaxCrossEntropyLoss", {"from_logits": True}, [log_softmax(normal(3, 4)), classes(4, 3)]),
    (
        "SoftmaxCrossEntropyLoss",
        {"sparse_label": False, "weight": 2},
        [normal(3, 4), distribution(3, 4)],
    ),
    ("SigmoidBinaryCrossEntropyLoss", {}, [normal(3, 4) * 4, uniform(3, 4)]),
    (
        "SigmoidBinaryCrossEntropyLoss",
        {},
        [normal(3, 4), uniform(3, 4), uniform(3, 1), 3 * uniform(1, 4)],
    ),
    ("SigmoidBinaryCrossEntropyLoss", {"from_sigmoid": True}, [uniform(3, 4), uniform(3, 4)]),
    (
        "SigmoidBinaryCrossEntropyLoss",
        {"from_sigmoid": True},
        [uniform(3, 4), uniform(3, 4), None, 3 * uniform(1, 4)],
    ),
    ("KLDivLoss", {}, [log_softmax(normal(3, 4)), distribution(3, 4)]),
    (
        "KLDivLoss",
        {"from_logits": False, "axis": 0},
        [normal(3, 4), distribution(3, 4), uniform(3, 1)],
    ),
    ("PoissonNLLLoss", {}, [normal(3, 4), 1 + classes(4, 3, 4)]),
    (
        "PoissonNLLLoss",
        {"weight": 2, "from_logits": False},
        [uniform(3, 4), 1 + classes(4, 3, 4), uniform(3, 1)],
    ),
    ("HingeLoss", {}, [normal(3, 4), signs(3, 4)]),
    ("HingeLoss", {"margin": 2}, [normal(3, 1), signs(3), uniform(3, 1)]),
    ("SquaredHingeLoss", {}, [normal(3, 4), signs(3, 4)]),
    ("LogisticLoss", {}, [normal(3, 4) * 4, signs(3, 4)]),
    ("LogisticLoss", {"label_format": "binary"}, [normal(3, 4), classes(2, 3, 4), uniform(3, 1)]),
    ("TripletLoss", {}, [normal(3, 4), normal(3, 4), normal(3, 4)]),
    ("TripletLoss", {"margin": 5, "weight": 2}, [normal(3, 2, 2), normal(3, 4), normal(3, 4)]),
    ("CosineEmbeddingLoss", {}, [normal(4, 5), normal(4, 5), np.float32([1, -1, 1, -1])]),
    (
        "CosineEmbeddingLoss",
        {"margin": -0.5},
        [normal(4, 5), normal(4, 5), np.float32([1, -1, 0, -1]), uniform(4, 1)],
    ),
    ("SDMLLoss", {}, [normal(3, 4), normal(3, 4)]),
    ("SDMLLoss", {"smoothing_parameter": 0.1, "weight": 2.0}, [normal(2, 3), normal(2, 3)]),
    ("CTCLoss", {}, [normal(2, 5, 4), np.float32([[0, 1, 1], [2, -1, -1]])]),
    (
        "CTCLoss",
        {"layout": "TNC", "label_layout": "TN", "weight": 2},
        [
            normal(6, 3, 4),
            np.float32([[0, 1, 2], [2, 0, 1]]),
            np.float32([6, 4, 5]),
            np.float32([2, 1, 2]),
            uniform(3),
        ],
    ),
    (
        "CTCLoss",
        {},
        [normal(2, 5, 3), np.float32([[0, 1], [1, 0]]), None, np.float32([1, 2]), uniform(2)],
    ),
    *more(),
]
WITH_GRADIENT = {"TripletLoss": 3, "CosineEmbeddingLoss": 2, "SDMLLoss": 2}


def run(name, arguments, inputs):
    loss = getattr(mx.gluon.loss, name)(**arguments)
    arrays = [None if value is None else mx.nd.array(value) for value in inputs]
    wanted = arrays[: WITH_GRADIENT.get(name, 1)]
    for array in wanted:
        array.attach_grad()
    with mx.autograd.record():
        result = loss(*arrays)
    result.backward()
    return {
        "loss": name,
        "arguments": arguments,
        "text": repr(loss),
        "inputs": [None if value is None else value.tolist() for value in inputs],
        "output": result.asnumpy().tolist(),
        "gradients": [array.grad.asnumpy().tolist() for array in wanted],
    }


made = [run(*case) for case in CASES]
Path(__file__).with_name("loss.json").write_text(json.dumps(made) + "\n", "utf-8")
