"""Functions of np that want shapes, in hybridized blocks, where Symbols have none."""

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.user_functions import NumpyScope  # type: ignore[attr-defined]


class Calls(mx.gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def hybrid_forward(self, F, *arrays):
        return self.function(F.np, *arrays)


def _results(function, arrays, *, hybridize):
    with NumpyScope(shape=True, array=True):
        net = Calls(function)
        if hybridize:
            net.hybridize()
        made = net(*[mx.np.array(x) for x in arrays])
        return [x.asnumpy() for x in (made if isinstance(made, list | tuple) else [made])]


@pytest.mark.parametrize(
    ("function", "shape", "expected"),
    [
        (lambda F, x: F.array_split(x, 3), (7, 2), lambda x: np.array_split(x, 3)),
        (lambda F, x: F.split(x, (1, 3)), (4, 2), lambda x: np.split(x, (1, 3))),
        (lambda F, x: F.hsplit(x, 2), (4, 2), lambda x: np.hsplit(x, 2)),
        (lambda F, x: F.hsplit(x, 2), (4,), lambda x: np.hsplit(x, 2)),
        (lambda F, x: F.vsplit(x, (1, 2)), (4, 2), lambda x: np.vsplit(x, (1, 2))),
        (lambda F, x: F.dsplit(x, 2), (1, 2, 4), lambda x: np.dsplit(x, 2)),
        (lambda F, x: F.flip(x), (3, 4), lambda x: [np.flip(x)]),
        *[
            (
                lambda F, x, o=o: F.linalg.norm(x, ord=o, axis=(0, 1)),
                (3, 4),
                lambda x, o=o: [np.linalg.norm(x, ord=o, axis=(0, 1))],
            )
            for o in ("fro", "nuc", 1, -1, np.inf, -np.inf)
        ],
        (lambda F, x: F.linalg.norm(x, ord=3), (4,), lambda x: [np.linalg.norm(x, ord=3)]),
        *[
            (
                lambda F, x, m=m: F.pad(x, ((1, 1), (2, 0)), mode=m),
                (3, 4),
                lambda x, m=m: [np.pad(x, ((1, 1), (2, 0)), mode=m)],
            )
            for m in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum")
        ],
        (lambda F, x: F.resize(x, (5, 3)), (3, 4), lambda x: [np.resize(x, (5, 3))]),
        (lambda F, x: F.diag_indices_from(x), (3, 3), lambda x: [np.diag_indices_from(x)]),
        (
            lambda F, x: F.unravel_index(x.astype("int64"), (3, 9)),
            (4,),
            lambda x: [np.unravel_index(x.astype("int64"), (3, 9))],
        ),
        (lambda F, x: F.flip(x) + F.flip(x * 2), (2, 2), lambda x: [np.flip(x) * 3]),
    ],
)
def test_hybridized_calls_give_what_numpy_gives(function, shape, expected):
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    wanted = expected(x)
    found = _results(function, [x], hybridize=True)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-5)


def test_the_rank_may_change_from_call_to_call():
    with NumpyScope(shape=True, array=True):
        net = Calls(lambda F, x: F.flip(x))
        net.hybridize()
        for shape in ((3,), (2, 3), (2, 3, 4)):
            x = np.random.default_rng(0).normal(size=shape).astype("float32")
            np.testing.assert_array_equal(net(mx.np.array(x)).asnumpy(), np.flip(x))


def test_gradients_go_through():
    with NumpyScope(shape=True, array=True):
        net = Calls(lambda F, x: F.pad(x, ((1, 1), (0, 2)), mode="edge"))
        net.hybridize()
        x = mx.np.ones((2, 3))
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
        y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [[2, 2, 6], [2, 2, 6]])


def test_random_vectors_have_the_shape_of_size_and_parameters():
    covariance = np.eye(2, dtype="float32")
    for size, shape in ((None, (2,)), (3, (3, 2))):
        (found,) = _results(
            lambda F, m, c, size=size: F.random.multivariate_normal(m, c, size),
            [np.zeros(2, "float32"), covariance],
            hybridize=True,
        )
        assert found.shape == shape


def test_an_exported_graph_with_such_a_call_can_be_read(tmp_path):
    with NumpyScope(shape=True, array=True):
        net = Calls(lambda F, x: F.flip(x))
        net.hybridize()
        x = mx.np.array([[1.0, 2.0], [3.0, 4.0]])
        net(x)
        net.export(str(tmp_path / "net"))
        again = mx.gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"])
        np.testing.assert_array_equal(again(x).asnumpy(), [[4, 3], [2, 1]])


@pytest.mark.parametrize("method", ["sum", "mean", "cumsum", "prod", "var", "std"])
@pytest.mark.parametrize("dtype", [np.float64, np.dtype("float64"), "float64"])
@pytest.mark.parametrize("hybridize", [False, True])
def test_a_dtype_may_be_a_type(method, dtype, hybridize):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    (found,) = _results(
        lambda F, a: getattr(a, method)(axis=0, dtype=dtype), [x], hybridize=hybridize
    )
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, getattr(x.astype("float64"), method)(axis=0))


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("shape", [(9, 20), (-1, 20)])
def test_parameters_of_a_block_with_numpy_semantics_are_its_arrays(hybridize, shape):
    @mx.util.use_np
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.w = self.params.get("w", shape=shape, allow_deferred_init=True)

        def hybrid_forward(self, F, x, w):
            return F.np.dot(x, w)

    net = Net()
    net.initialize()
    if hybridize:
        net.hybridize()
    net(mx.np.ones((4, 9)))
    assert type(net.w.data()) is mx.np.ndarray
    assert net.w.data().shape == (9, 20)


def test_use_np_covers_what_a_class_inherits():
    class Base:
        def method(self):
            return mx.util.is_np_array()

        @property
        def quality(self):
            return mx.util.is_np_array()

    @mx.util.use_np
    class Derived(Base):
        @staticmethod
        def plain():
            return mx.util.is_np_shape()

    assert (Derived().method(), Derived().quality, Derived.plain()) == (True, True, True)
    assert (Base().method(), Base().quality) == (False, False)
