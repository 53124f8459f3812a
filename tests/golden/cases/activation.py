"""Cases of activations and the softmax family."""

from tests.golden.case import Case, distinct, integers, normal, values

_ACTIVATIONS = ("relu", "sigmoid", "softrelu", "softsign", "tanh")
_LEAKY = ("leaky", "elu", "selu", "gelu")

CASES = [
    *[Case("Activation", [distinct(2, 3)], {"act_type": kind}) for kind in _ACTIVATIONS],
    Case("Activation", [normal(2, 3, dtype="float16")], {"act_type": "tanh"}),
    Case("Activation", [normal(1)], {"act_type": "softrelu"}),
    Case("Activation", [normal(2, 3)], {"act_type": "swish"}, invalid=True),
    Case("Activation", [normal(2, 3)], {}, invalid=True),
    Case("Activation", [normal(2, 3)], {"act_type": "relu", "slope": 1}, invalid=True),
    *[
        Case(
            "LeakyReLU",
            [distinct(2, 3)],
            {"act_type": kind, "slope": 0.3},
            wrong_grad="the gradient of selu below zero misses a factor" if kind == "selu" else "",
            rtol=1e-4 if kind == "gelu" else None,
        )
        for kind in _LEAKY
    ],
    Case("LeakyReLU", [distinct(2, 3, 4), normal(3)], {"act_type": "prelu"}),
    Case(
        "LeakyReLU",
        [distinct(2, 3, 4), normal(2)],
        {"act_type": "prelu"},
        invalid=True,
        wrong="reads past the end of gamma",
    ),
    *[
        Case(op, [normal(2, 3, 4)], attrs)
        for op in ("softmax", "log_softmax", "softmin")
        for attrs in ({}, {"axis": 1}, {"axis": -2, "temperature": 2.0})
    ],
    *[Case(op, [normal(3, 4)], {"axis": 5}, invalid=True) for op in ("softmax", "log_softmax")],
    Case("softmax", [normal(2, 3, dtype="float16")], {"dtype": "float32"}),
    Case(
        "softmax",
        [normal(2, 4), values([1, 3], "int32")],
        {"use_length": True},
        grad=(0,),
    ),
    Case("softmax", [integers(0, 5, 2, 3, dtype="int32")], invalid=True),
]
