"""Transpositions between (N, C, ...) and (N, ..., C) around operators that store channels last."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.core.config import MXNET_DISABLED_GRAPH_PASSES

Form = Callable[[Any, Any, Any], Any]
LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def layer(F: Any, conv: Any, x: Any) -> Any:
    """Channels are last for operators of the last axis, and the sum is of arrays of that shape."""
    y = F.softmax(F.transpose(conv(x), axes=LAST))
    return conv(F.transpose(F.transpose(conv(x), axes=LAST) + y, axes=FIRST))


def ends_first(F: Any, conv: Any, x: Any) -> Any:
    """The result itself is a transposition, which nothing reads."""
    return F.transpose(F.softmax(F.transpose(conv(x), axes=LAST)), axes=FIRST)


def begins_last(F: Any, conv: Any, x: Any) -> Any:
    """The input itself is transposed."""
    return conv(F.transpose(F.transpose(x, axes=LAST), axes=FIRST))


def read_by_a_reshape(F: Any, conv: Any, x: Any) -> Any:
    """A reader takes the elements in order of the shape."""
    y = F.transpose(F.softmax(F.transpose(conv(x), axes=LAST)), axes=FIRST)
    return F.softmax(F.reshape(y, shape=(0, -1))).sum() + conv(y).sum()


def of_other_axes(F: Any, conv: Any, x: Any) -> Any:
    """Other axes move, too."""
    y = F.softmax(F.transpose(conv(x), axes=(0, 3, 2, 1)))
    return conv(F.transpose(y, axes=(0, 3, 2, 1)))


def twice(F: Any, conv: Any, x: Any) -> Any:
    """One array is moved for two readers, which change nothing in place."""
    y = F.transpose(conv(x), axes=LAST)
    return F.transpose(F.tanh(y) * F.softmax(y), axes=FIRST) * conv(F.transpose(y, axes=FIRST))


# Number of transpositions that are left.
FORMS: dict[Form, int] = {
    layer: 0, ends_first: 1, begins_last: 1, read_by_a_reshape: 1, of_other_axes: 2, twice: 1,
}  # fmt: skip


class Net(gluon.HybridBlock):
    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form
        with self.name_scope():
            self.conv = gluon.nn.Conv2D(6, 3, padding=1, groups=6, in_channels=6)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self._form(F, self.conv, x)


def _net(form: Form, dtype: str = "float32") -> tuple[Net, Any]:
    mx.random.seed(3)
    net = Net(form)
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    return net, mx.nd.random.normal(shape=(2, 6, 5, 4)).astype(dtype)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_transposition_to_what_memory_has_takes_no_step(form: Form) -> None:
    net, x = _net(form)
    net.hybridize(static_alloc=True)
    net(x).wait_to_read()
    plans = [p for g in net._graphs.values() for p in g._cached._plans.values()]
    steps = [step.op.name for step in plans[-1].forward.layout.instructions]
    assert steps.count("transpose") == FORMS[form]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_results_and_gradients_are_those_of_single_operators(form: Form, dtype: str) -> None:
    net, x = _net(form, dtype)
    found = []
    for how in ("imperative", "hybridized", "static", "without the layout"):
        if how != "imperative":
            net.hybridize(static_alloc=how == "static", static_shape=how == "static")
        disabled = {"channels_last"} if how == "without the layout" else set()
        with MXNET_DISABLED_GRAPH_PASSES.override(frozenset(disabled)):
            for _ in range(2):
                plain = net(x)
            x.attach_grad()
            with autograd.record():
                y = net(x)
            y.backward()
        arrays = (plain, y, x.grad, *(p.grad() for p in net.collect_params().values()))
        found.append([a.astype("float64").asnumpy() for a in arrays])
    precision = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 5e-2}[dtype]
    for other in found[1:]:
        for want, got in zip(found[0], other, strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=precision * abs(want).max())
