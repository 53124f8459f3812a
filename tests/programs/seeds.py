"""Random numbers repeat after mx.random.seed, and have the moments they should."""

from types import ModuleType
from typing import Any

import numpy as np


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, nn = mx.nd, mx.gluon.nn

    def draw() -> list[Any]:
        net = nn.HybridSequential()
        net.add(nn.Dense(3, in_units=4), nn.Dropout(0.5))
        net.initialize(mx.init.Xavier())
        if hybridize:
            net.hybridize()
        with mx.autograd.train_mode():
            y = net(nd.ones((20, 4)))
        found = [
            y,
            nd.random.uniform(-1, 1, shape=(50,)),
            nd.random.normal(2, 3, shape=(50,)),
            nd.random.randint(0, 9, shape=(50,)),
            nd.random.gamma(2, 2, shape=(5,)),
            nd.random.shuffle(nd.arange(30)),
            nd.random.multinomial(nd.array([0.2, 0.8]), shape=20),
            nd.random_uniform(shape=(3,)),
            mx.random.uniform(shape=(2,)),
            nd.random.exponential(2.0, shape=(4,)),
            nd.random.randn(2, 3, loc=1.0),
        ]
        return [f.asnumpy() for f in found]

    mx.random.seed(42)
    first = draw()
    second = draw()
    mx.random.seed(42)
    third = draw()
    mx.random.seed(7, ctx=mx.cpu(0))
    big = nd.random.normal(1.0, 2.0, shape=(20000,)).asnumpy()
    return {
        "repeats": [bool(np.array_equal(a, b)) for a, b in zip(first, third, strict=True)],
        "moves on": [
            bool(not np.array_equal(a, b)) for a, b in zip(first[:4], second[:4], strict=True)
        ],
        "dtypes": [str(a.dtype) for a in first],
        "shapes": [str(a.shape) for a in first],
        "moments": [round(float(big.mean())), round(float(big.std()))],
    }
