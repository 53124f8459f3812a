"""Initializers by name, by object, by suffix, mixed, and as attributes; their repeatability."""

from types import ModuleType
from typing import Any

import numpy as np


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    init, nn = mx.init, mx.gluon.nn
    out: dict[str, Any] = {}
    exact = {
        "zeros": "zeros",
        "ones": "ones",
        "constant": init.Constant(1.5),
        "one": init.One(),
        "bilinear": init.Bilinear(),
        "eye": init.Constant(np.eye(4).tolist()),
    }
    for name, value in exact.items():
        shape = (2, 1, 4, 4) if name == "bilinear" else (4, 4)
        p = mx.gluon.Parameter("w_weight", shape=shape, init=value)
        p.initialize()
        out[name] = p.data().asnumpy()
    random = {
        "uniform": init.Uniform(0.5),
        "normal": "normal",
        "xavier": init.Xavier("gaussian", "in", 2),
        "msra": init.MSRAPrelu("avg", 0.1),
        "orthogonal": init.Orthogonal(),
        "Xavier": "Xavier",
    }
    for name, value in random.items():
        p = mx.gluon.Parameter("w_weight", shape=(60, 50))
        mx.random.seed(5)
        p.initialize(init=value)
        first = p.data().asnumpy()
        mx.random.seed(5)
        p.initialize(init=value, force_reinit=True)
        out[f"{name} repeats"] = bool((first == p.data().asnumpy()).all())
        bound = np.abs(first).max()
        out[f"{name} spread"] = [float(f"{first.std():.1g}"), bool(bound < 10 * first.std())]
    net = nn.HybridSequential(prefix="ini_")
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2, bias_initializer="ones", weight_initializer=init.One()))
        net.add(nn.BatchNorm(in_channels=3, gamma_initializer=init.Constant(0.5)))
        net.add(nn.Dense(2, in_units=3))
    net.initialize(init.Zero())
    for name, p in net.collect_params().items():
        out[f"net {name}"] = p.data().asnumpy()
    net.initialize(init.One(), force_reinit=True)
    for name, p in net.collect_params().items():
        out[f"again {name}"] = p.data().asnumpy()
    out["dumps"] = [init.Xavier(magnitude=2).dumps(), init.One().dumps(), init.Normal(0.2).dumps()]
    out["desc"] = str(init.InitDesc("some_weight", {"__init__": "x"}))
    lstm = mx.gluon.Parameter("l_bias", shape=(8,), init=init.LSTMBias(forget_bias=2.0))
    lstm.initialize()
    out["lstm bias"] = lstm.data().asnumpy()
    return out
