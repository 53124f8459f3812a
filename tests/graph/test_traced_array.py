"""What a traced ``forward`` sees: equal results hybridized and not, whatever it does."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd

HERE = re.escape("test_traced_array.py")


class Function(gluon.HybridBlock):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.asnumpy().tolist() if isinstance(value, nd.NDArray) else value


def data(face: str) -> Any:
    values = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
    return mx.np.array(values) if face == "np" else nd.array(values)


def unpacked(x: Any) -> Any:
    a, b = nd.unravel_index(nd.array([1, 2]) + x[0, :2] * 0, (2, 3))
    return a + 1, b


def changed_in_place(x: Any) -> Any:
    y = x * 1
    same = y
    y += 2
    y *= x
    return same, y


def changed_whole(x: Any) -> Any:
    y = x * 1
    y[:] = x + 1
    y += x
    return y


def changed_under_a_view(x: Any) -> Any:
    y = x * 1
    view = y.reshape((3, 2))
    y += 2
    return view


def changed_argument(x: Any) -> Any:
    x += 1
    return x


def gradient_inside(x: Any) -> Any:
    y = x.copy()
    y.attach_grad()
    with autograd.record():
        z = (y * y).sum()
    z.backward()
    return y.grad


TRACED: dict[str, tuple[str, Callable[..., Any]]] = {
    "iteration": ("nd", lambda x: nd.concat(*[row * 2 for row in x], dim=0)),
    "iteration, np": ("np", lambda x: mx.np.concatenate([row * 2 for row in x])),
    "unpacked rows": ("nd", lambda x: (lambda a, b: a + b)(*x)),
    "unpacked outputs": ("nd", unpacked),
    "in place": ("nd", changed_in_place),
    "in place, np": ("np", changed_in_place),
    "whole": ("nd", changed_whole),
    "whole, np": ("np", changed_whole),
    "arrays made inside": ("nd", lambda x: nd.concat(nd.ones((2, 3)), x, nd.zeros((2, 3)) + x)),
    "indices of np": ("np", lambda x: x[mx.np.array([1, 0], dtype="int32")]),
    "faces": ("np", lambda x: (x.as_nd_ndarray() * 2).as_np_ndarray()),
    "methods": ("nd", lambda x: x.copy().expand_dims(0).squeeze(0).flatten().astype("int32").T),
    "without gradient": ("nd", lambda x: x.detach() + x),
    "size": ("nd", lambda x: x * len(x) + x.size + x.ndim + x.shape[1]),
}
UNTRACED: dict[str, tuple[str, Callable[..., Any]]] = {
    "asnumpy": ("nd", lambda x: x + float(x.asnumpy().sum())),
    "asnumpy, np": ("np", lambda x: x + float(x.asnumpy().sum())),
    "float": ("nd", lambda x: x * float(x.sum())),
    "item": ("np", lambda x: x * x.sum().item()),
    "branch": ("nd", lambda x: x if x.sum() > 0 else -x),
    "branch, np": ("np", lambda x: x if x.sum() > 100 else -x),
    "numpy": ("nd", lambda x: nd.array(np.exp(x.asnumpy()))),
    "index": ("nd", lambda x: x[nd.array([1, 0])]),
    "under a view": ("nd", changed_under_a_view),
    "argument": ("nd", changed_argument),
    "a number": ("nd", lambda x: 3.0),
    "gradient": ("nd", gradient_inside),
}


@pytest.mark.parametrize("name", TRACED)
def test_traced_forward_gives_what_it_gives_eagerly(name: str) -> None:
    face, function = TRACED[name]
    net = Function(function)
    want = plain(net(data(face)))
    net.hybridize()
    assert [plain(net(data(face))) for _ in range(2)] == [want, want]
    assert net._untraceable is None


def called(net: Any, face: str, *, train: bool) -> Any:
    with autograd.train_mode() if train else autograd.predict_mode():
        return net(data(face))


@pytest.mark.parametrize("name", UNTRACED)
def test_what_cannot_be_traced_runs_as_python_with_one_warning(name: str) -> None:
    face, function = UNTRACED[name]
    net = Function(function)
    want = plain(net(data(face)))
    net.hybridize()
    calls = [False, False, True]
    with pytest.warns(UserWarning, match=rf"runs without a graph; .*{HERE}:\d+") as caught:
        found = [plain(called(net, face, train=train)) for train in calls]
    assert found == [want] * 3
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(("face", "dtype"), [("nd", np.float32), ("np", np.dtype(np.float32))])
def test_traced_array_is_an_array_of_known_shape_and_dtype(face: str, dtype: Any) -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        both = isinstance(x, mx.nd.NDArray), isinstance(x, mx.np.ndarray)
        seen.append((*both, isinstance(x, mx.sym.Symbol), x.shape, x.dtype, x.context, x.stype))
        return x * 2

    net = Function(look)
    net(data(face))
    net.hybridize()
    net(data(face))
    net(data(face))
    context = mx.current_context()
    expected = (True, face == "np", False, (2, 3), dtype, context, "default")
    assert seen == [expected, expected]


class Outer(gluon.HybridBlock):
    def __init__(self, inner: gluon.HybridBlock) -> None:
        super().__init__()
        self.inner = inner
        self.other = gluon.nn.HybridLambda("relu")

    def forward(self, x: Any) -> Any:
        return self.inner(self.other(x))


def test_block_around_warns_once_and_its_other_blocks_stay_graphs() -> None:
    net = Outer(Function(lambda x: x * float(x.sum())))
    net.hybridize()
    with pytest.warns(UserWarning, match="runs without a graph") as caught:
        found = [plain(net(data("nd"))) for _ in range(2)]
    assert found == [plain(data("nd") * 21)] * 2
    assert len(caught) == 1
    assert net.other._graphs


def test_parameters_of_a_traced_forward_are_arrays_that_stay_as_they_are() -> None:
    class Scaled(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.scale = self.params.get("scale", shape=(1,), init="ones")

        def forward(self, x: Any) -> Any:
            scale = self.scale.data()
            assert isinstance(scale, nd.NDArray)
            return nd.broadcast_mul(x, scale + 1)

    net = Scaled()
    net.initialize()
    net.hybridize()
    x = data("nd")
    x.attach_grad()
    with autograd.record():
        net(x).sum().backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full((2, 3), 2))
    np.testing.assert_array_equal(net.scale.grad().asnumpy(), [21])


def test_control_flow_hands_arrays_to_its_bodies() -> None:
    kinds: set[bool] = set()

    def step(row: Any, state: Any) -> Any:
        kinds.update({isinstance(row, nd.NDArray), isinstance(state, nd.NDArray)})
        return row + state, row + state

    net = Function(lambda x: nd.contrib.foreach(step, x, x[0] * 0)[0])
    want = plain(net(data("nd")))
    net.hybridize()
    assert plain(net(data("nd"))) == want
    assert kinds == {True}
