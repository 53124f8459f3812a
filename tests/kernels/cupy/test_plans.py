"""Plans of hybridized blocks on the double: what a step gets that works in place."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.gluon import nn
from tests.kernels.cupy.arrays import Array


class Chain(nn.HybridBlock):
    """Elementwise operators, each of which may write over what it reads."""

    def forward(self, x: Any) -> Any:
        return (nd.sqrt(nd.abs(nd.exp(x * 2) - 1)) + 3).sum(axis=1)


def test_step_in_place_reads_and_writes_one_object(
    gpus: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    strangers = []

    def watch(name: str, function: Any) -> None:
        def watched(*args: Any, **kwargs: Any) -> Any:
            out = kwargs.get("out", args[-1] if len(args) > 1 else None)
            for x in args:
                two = isinstance(x, Array) and isinstance(out, Array) and x is not out
                if two and np.shares_memory(x._raw, out._raw):
                    strangers.append(name)
            return function(*args, **kwargs)

        monkeypatch.setattr(gpus, name, watched)

    net = Chain()
    net.initialize()
    net.hybridize(static_alloc=True)
    x = nd.array(np.linspace(0, 1, 24).reshape(4, 6), ctx=mx.gpu(0))
    want = net(x).asnumpy()
    for name in ("multiply", "exp", "subtract", "absolute", "sqrt"):
        watch(name, getattr(gpus, name))
    np.testing.assert_array_equal(net(x).asnumpy(), want)
    assert strangers == []
