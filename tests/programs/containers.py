"""Nested Sequential: indexing, slicing, length, iteration, names; and ParameterDict's methods."""

import os
import tempfile
from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import fill, normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    net = nn.HybridSequential(prefix="nest_")
    with net.name_scope():
        inner = nn.HybridSequential()
        with inner.name_scope():
            inner.add(nn.Dense(3, in_units=2), nn.Dense(4, in_units=3))
        net.add(inner, nn.Dense(2, in_units=4), nn.HybridSequential(prefix="last_"))
        net[2].add(nn.Dense(5, in_units=2))
    net.initialize()
    fill(mx, net.collect_params(), 1)
    if hybridize:
        net.hybridize()
    x = mx.nd.array(normal(2, 3, 2))
    names = [b.name for b in net] + [net[-1].name, net[0][1].name, *(b.name for b in net[0:2])]
    params = net.collect_params()
    dictionary = gluon.ParameterDict("own_")
    own = dictionary.get("a", shape=(2, 3), init="ones", lr_mult=0.5)
    dictionary.get("b", shape=(0, 3), allow_deferred_init=True)
    constant = dictionary.get_constant("c", [[1.0, 2.0]])
    again = dictionary.get("a", shape=(2, 3))
    shared = gluon.ParameterDict("other_", shared=dictionary)
    dictionary.get("b").shape = (4, 3)
    dictionary.initialize(mx.init.Constant(2), ctx=mx.cpu())
    merged = gluon.ParameterDict()
    merged.update(dictionary)
    merged.setattr("wd_mult", 0.0)
    merged["own_b"].set_data(mx.nd.array(np.arange(12).reshape(4, 3)))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "own.params")
        merged.save(file)
        saved = {k: v.asnumpy() for k, v in mx.nd.load(file).items()}
        merged.zero_grad()
        merged["own_b"].set_data(mx.nd.zeros((4, 3)))
        merged.load(file, mx.cpu())
    merged.reset_ctx(mx.cpu(1))
    moved = str(merged.list_ctx())
    merged.reset_ctx([mx.cpu(0)])
    failures = []
    for action in (
        lambda: dictionary.get("a", shape=(5, 5)),
        lambda: merged["nothing"],
        lambda: gluon.Parameter("p", shape=(2, 0)).initialize(),
        lambda: gluon.Parameter("p", shape=(2, 2)).data(),
        lambda: net[7],
    ):
        try:
            action()
            failures.append("no error")
        except Exception as error:
            failures.append("refused" if error.args else "refused silently")
    return {
        "y": net(x).asnumpy(),
        "sliced": net[0:2](x).asnumpy(),
        "lengths": [len(net), len(net[0]), len(net[0:2]), len(params.keys()), len(list(merged))],
        "names": names,
        "kinds": [type(net[0:1]).__name__, type(net[0]).__name__],
        "params": list(params.keys()),
        "repr": [repr(net), repr(params), repr(own), repr(constant), repr(dictionary)],
        "own": [dictionary.prefix, shared.prefix, str(again is own), str("own_a" in merged)],
        "keys": sorted(merged.keys()),
        "items": [p.name for p in merged.values()],
        "moved": moved,
        "failures": failures,
        "saved": [saved[k] for k in sorted(saved)],
        "loaded": merged["own_b"].data().asnumpy(),
        "multipliers": [own.lr_mult, own.wd_mult, own.grad_req, str(own.dtype), str(own.shape)],
    }
