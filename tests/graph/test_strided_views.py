"""Attention and its like: nothing is transposed or sliced into memory that a product reads."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon
from gluonish.graph.strided_views import StridedView, _reshaped
from gluonish.kernels.onednn import register as onednn

Form = Callable[[Any, Any], Any]
HEADS, WIDTH = 3, 32
pytestmark = pytest.mark.skipif(not onednn.enabled(), reason="oneDNN is not there")


def _parts(F: Any, x: Any) -> list[Any]:
    return list(F.split(x, num_outputs=3, axis=2))


def _split(F: Any, x: Any) -> Any:
    """(N, T, C) to (N heads, T, C / heads)."""
    x = F.transpose(F.reshape(x, shape=(0, 0, HEADS, -1)), axes=(0, 2, 1, 3))
    return F.reshape(x, shape=(-3, 0, 0))


def _joined(F: Any, x: Any) -> Any:
    x = F.reshape(x, shape=(-4, -1, HEADS, 0, 0))
    return F.reshape(F.transpose(x, axes=(0, 2, 1, 3)), shape=(0, 0, -3))


def by_parts(F: Any, x: Any) -> Any:
    """Each of the three is split by itself."""
    q, k, v = (_split(F, part) for part in _parts(F, x))
    return _joined(F, F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True)), v))


def at_once(F: Any, x: Any) -> Any:
    """All three are transposed at once, then split."""
    x = F.transpose(F.reshape(x, shape=(0, 0, 3, HEADS, -1)), axes=(2, 0, 3, 1, 4))
    q, k, v = F.split(x, num_outputs=3, axis=0, squeeze_axis=True)
    q, k, v = (F.reshape(part, shape=(-3, 0, 0)) for part in (q, k, v))
    return _joined(F, F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True)), v))


def read_twice(F: Any, x: Any) -> Any:
    """Somebody else reads the values, too, and the products before they are transposed."""
    q, k, v = (_split(F, part) for part in _parts(F, x))
    y = F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True)), F.relu(v))
    return _joined(F, y) + F.mean(y) + _joined(F, v)


def columns_apart(F: Any, x: Any) -> Any:
    """The axis in the middle is the last: neither axis of the matrices is without gaps."""
    x = F.transpose(F.reshape(x, shape=(0, 0, -1, 3)), axes=(3, 0, 1, 2))
    q, k, v = F.split(x, num_outputs=3, axis=0, squeeze_axis=True)
    return F.batch_dot(F.batch_dot(q, k, transpose_b=True), v)


def swapped(F: Any, x: Any) -> Any:
    """Axes are exchanged by another operator."""
    q, k, v = _parts(F, x)
    return F.batch_dot(F.batch_dot(F.SwapAxis(k, dim1=1, dim2=2), q), F.SwapAxis(v, dim1=1, dim2=2))


def interleaved(F: Any, x: Any) -> Any:
    """MXNet's own operators for it; time comes first."""
    x = F.reshape(x, shape=(80, -1, 0))
    scores = F.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
    return F.contrib.interleaved_matmul_selfatt_valatt(x, F.softmax(scores), heads=HEADS)


FORMS: dict[Form, set[str]] = {
    interleaved: {"transpose", "slice_axis"},
    by_parts: {"transpose", "SliceChannel"},
    at_once: {"transpose", "SliceChannel"},
    read_twice: set(),
    columns_apart: set(),
    swapped: {"SwapAxis", "SliceChannel"},
}


class Net(gluon.HybridBlock):
    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form
        with self.name_scope():
            self.dense = gluon.nn.Dense(3 * HEADS * WIDTH, flatten=False, in_units=HEADS * WIDTH)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self._form(F, F.tanh(self.dense(x)))


def _net(form: Form, dtype: str, batch: int, length: int = 80) -> tuple[Net, Any]:
    mx.random.seed(len(form.__name__))
    net = Net(form)
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    return net, mx.nd.random.normal(shape=(batch, length, HEADS * WIDTH)).astype(dtype)


def _steps(net: Net) -> list[str]:
    """The operators that the newest graph's forward runs, in order."""
    plans = [p for g in net._graphs.values() for p in g._cached._plans.values()]
    return [step.op.name for step in plans[-1].forward.layout.instructions]


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_products_read_and_write_in_place(form: Form, batch: int) -> None:
    net, x = _net(form, "float32", batch)
    net.hybridize(static_alloc=True)
    net(x).wait_to_read()
    steps = _steps(net)
    moves = {"transpose", "SliceChannel", "SwapAxis"}
    for name in FORMS[form]:
        assert name not in steps
    if not FORMS[form]:
        assert moves.intersection(steps)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_results_and_gradients_are_those_of_single_operators(
    form: Form, batch: int, dtype: str
) -> None:
    net, x = _net(form, dtype, batch)
    found = []
    for hybrid in (False, True):
        if hybrid:
            net.hybridize(static_alloc=True)
        for _ in range(2):
            plain = net(x)
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        arrays = (plain, y, x.grad, *(p.grad() for p in net.collect_params().values()))
        found.append([a.astype("float32").asnumpy() for a in arrays])
    precision = {"float32": 1e-5, "float64": 1e-6, "float16": 2e-2, "bfloat16": 1e-1}[dtype]
    for eager, hybrid in zip(*found, strict=True):
        np.testing.assert_allclose(hybrid, eager, rtol=0, atol=precision * abs(eager).max())


def test_other_batches_and_lengths_have_views_of_their_own() -> None:
    net, _ = _net(by_parts, "float32", 1)
    eager = []
    arrays = [_net(by_parts, "float32", n, t)[1] for n, t in ((1, 40), (2, 7), (4, 65), (1, 1))]
    eager = [net(x).asnumpy() for x in arrays]
    net.hybridize(static_alloc=True)
    for _ in range(2):
        for x, want in zip(arrays, eager, strict=True):
            np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5, atol=1e-6)


_SHAPES = [(24,), (2, 12), (4, 6), (2, 3, 4), (4, 3, 2), (1, 24, 1), (2, 2, 2, 3), (3, 8), (6, 4)]


@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("shape", _SHAPES, ids=str)
def test_a_reshaped_view_is_what_numpy_can_do_without_a_copy(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(axes)
    strides = tuple(n // array.itemsize for n in array.strides)
    found = _reshaped(StridedView(0, array.shape, strides), shape)
    wanted = array.reshape(shape)
    if found is None:
        assert not np.shares_memory(wanted, array)
        return
    memory = np.ascontiguousarray(array.base).view(np.uint8).reshape(-1)
    np.testing.assert_array_equal(found.of(np, memory, array.dtype), wanted)
    assert np.shares_memory(wanted, array)
