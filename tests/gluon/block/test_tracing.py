import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import gluonish.ndarray as nd
import gluonish.numpy as mnp
import gluonish.numpy_extension as npx
from gluonish import autograd
from gluonish.core.errors import OperatorError, ParameterError
from gluonish.engine import use_engine
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.symbol_block import SymbolBlock
from gluonish.gluon.nn import Activation, Dense, HybridSequential, Sequential
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray, array, ones

HERE = Path(__file__).name
TIMEOUT_S = 60


@pytest.fixture
def numpy_semantics() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


class Function(HybridBlock):
    """A block around a function, in the style of 2.0."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(prefix="net_")
        self.function = function

    def forward(self, x: Any, *args: Any) -> Any:
        return self.function(x, *args)


class Wrong(HybridBlock):
    """A layer of 4 inputs, then a sum that does not fit, then a root of a negative matrix."""

    def __init__(self) -> None:
        super().__init__(prefix="net_")
        with self.name_scope():
            self.dense = Dense(3, in_units=4)

    def compute(self, F: ModuleType, x: Any) -> Any:
        if self.style == "layer":
            return self.dense(x)
        if self.style == "trace":
            return F.broadcast_add(x, F.ones((7,)))
        return F.linalg_potrf(-x)

    style = "layer"


class OldWrong(Wrong):
    has_hybrid_forward = True

    def hybrid_forward(self, F: ModuleType, x: Any, **params: Any) -> Any:
        return self.compute(F, x)


class NewWrong(Wrong):
    def forward(self, x: Any) -> Any:
        return self.compute(nd, x)


LINES = {
    "layer": "return self.dense(x)",
    "trace": "return F.broadcast_add(x, F.ones((7,)))",
    "run": "return F.linalg_potrf(-x)",
}


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEngine"])
@pytest.mark.parametrize("kind", [OldWrong, NewWrong])
@pytest.mark.parametrize("style", LINES)
def test_an_error_in_a_graph_names_the_line(style: str, kind: type[Wrong], engine: str) -> None:
    with use_engine(engine):
        net = kind()
        net.style = style
        net.initialize()
        net.hybridize()
        with pytest.raises(OperatorError) as caught:
            net(ones((2, 2))).asnumpy()
    text = str(caught.value)
    assert f"; at {HERE}:" in text
    assert text.endswith(f"in compute: {LINES[style]}")
    assert text.count("; at ") == 1


def test_a_later_call_of_another_shape_names_the_line() -> None:
    net = OldWrong()
    net.initialize()
    net.hybridize()
    net(ones((2, 4)))
    with pytest.raises(OperatorError, match=rf"net_dense0_fwd: .* at {HERE}:\d+ in compute: "):
        net(ones((2, 5)))


def test_a_gradient_that_fails_names_no_other_line() -> None:
    net = OldWrong()
    net.initialize()
    net.hybridize()
    x = ones((2, 4))
    x.attach_grad()
    with autograd.record():
        y = net(x)
    autograd.backward(y)
    assert x.grad.shape == (2, 4)


def test_an_error_in_a_loop_names_the_line_of_its_body() -> None:
    def body(row: Any, state: Any) -> Any:
        return nd.linalg_potrf(-row), state

    net = Function(lambda x: nd.contrib.foreach(body, x, nd.zeros((1,)))[0])
    net.hybridize()
    with pytest.raises(OperatorError, match=r"in body: return nd.linalg_potrf\(-row\), state$"):
        net(ones((2, 2, 2))).asnumpy()


def test_host_access_in_a_trace_names_the_line() -> None:
    net = Function(lambda x: x if x.sum() > 0 else -x)
    net.hybridize()
    with pytest.warns(UserWarning, match=rf"values: .*; at {HERE}:\d+ in <lambda>: "):
        net(ones((2,)))


def test_layers_without_a_line_of_the_user_name_none() -> None:
    net = HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Dense(2, in_units=3), Activation("relu"))
    net.initialize()
    net.hybridize()
    with pytest.raises(OperatorError) as caught:
        net(ones((2, 5)))
    assert "; at " not in str(caught.value)


class Pair(NamedTuple):
    first: Any
    second: Any


NESTED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "dicts": (
        lambda d: {"sum": d["a"] + d["b"][0], "rest": [d["a"], None]},
        ({"a": ones((2,)), "b": [ones((2,)) * 3]},),
    ),
    "named tuple": (lambda p: Pair(p.second, p.first), (Pair(ones((1,)), ones((2,)) * 2),)),
    "none and numbers": (
        lambda x, y, factor, flag, word: (x * factor if y is None else y, flag, word),
        (ones((2,)), None, 2.5, True, "word"),
    ),
    "deep": (lambda x, y: [(x, [y[0][1]]), (x + y[0][1],)], (ones((2,)), [(None, ones((2,)))])),
    "loop and branch": (
        lambda x, n: sum((x * i for i in range(n)), x) if x.shape[0] > 1 else x,
        (ones((3,)), 4),
    ),
}


def _plain(value: Any) -> Any:
    """Return a nesting with lists of numbers in place of arrays."""
    if isinstance(value, NDArray):
        return value.asnumpy().tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(_plain, value)]
    return value


@pytest.mark.parametrize("name", NESTED)
def test_nested_arguments_and_results_are_those_of_the_eager_call(name: str) -> None:
    function, args = NESTED[name]
    net = Function(function)
    want = _plain(net(*args))
    net.hybridize()
    for _ in range(2):
        assert _plain(net(*args)) == want


def test_control_flow_takes_arrays_that_forward_makes() -> None:
    def compute(x: Any) -> Any:
        zero = nd.zeros((1,))
        sums, total = nd.contrib.foreach(lambda row, state: (row + state, row + state), x, zero)
        _, (final,) = nd.contrib.while_loop(
            lambda y: (y < 20).sum(), lambda y: (nd.ones((1,)), [y * 2]), [total], 9
        )
        return sums, nd.contrib.cond(final.sum() > 3, lambda: final, lambda: nd.zeros((1,)))

    net = Function(compute)
    x = array([[1], [2], [3]])
    want = [y.asnumpy().tolist() for y in net(x)]
    net.hybridize()
    assert [y.asnumpy().tolist() for y in net(x)] == want


def test_own_parameters_need_an_infer_shape() -> None:
    class Lazy(HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="lazy_")
            self.weight = Parameter("weight", shape=(0,), allow_deferred_init=True)

        def forward(self, x: Any) -> Any:
            return x * self.weight.data()

    net = Lazy()
    net.initialize()
    with pytest.raises(
        ParameterError, match=r"a method infer_shape.* lazy_weight has the unknown shape \(0,\)"
    ):
        net(ones((2,)))


@pytest.mark.usefixtures("numpy_semantics")
def test_a_block_in_the_style_of_2_0_computes_with_numpy_arrays(tmp_path: Path) -> None:
    class Attention(HybridBlock):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.query = Dense(units, flatten=False)
            self.key = Dense(units, flatten=False)
            self.scale = Parameter("scale", shape=(1,), init="ones")

        def forward(self, x: Any, mask: Any = None) -> Any:
            scores = mnp.matmul(self.query(x), self.key(x).swapaxes(1, 2)) * self.scale.data()
            if mask is not None:
                scores = mnp.where(mask > 0, scores, mnp.full_like(scores, -1e9))
            return mnp.matmul(npx.softmax(scores, axis=-1), x)

    net = Attention(8)
    net.initialize()
    x = mnp.array(np.random.default_rng(0).standard_normal((2, 5, 4)), dtype="float32")
    mask = mnp.array(np.tril(np.ones((2, 5, 5))), dtype="float32")
    want = net(x, mask).asnumpy(), net(x).asnumpy()
    net.hybridize()
    got = net(x, mask=mask), net(x)
    assert [type(y) for y in got] == [mnp.ndarray, mnp.ndarray]
    for y, z in zip(got, want, strict=True):
        np.testing.assert_allclose(y.asnumpy(), z, rtol=1e-5, atol=1e-6)
    files = net.export(tmp_path / "attention")
    again = SymbolBlock.imports(files[0], "data", files[1])
    np.testing.assert_allclose(again(x).asnumpy(), want[1], rtol=1e-5, atol=1e-6)


def test_both_styles_mix_and_are_exported(tmp_path: Path) -> None:
    class Old(HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.inner = Function(lambda x: nd.tanh(x) * 2)
                self.dense = Dense(3)

        def hybrid_forward(self, F: ModuleType, x: Any) -> Any:
            return self.dense(self.inner(F.relu(x)))

    net = HybridSequential()
    net.add(Dense(4), Old(), Function(lambda x: x + 1))
    net.initialize()
    x = array(np.random.default_rng(0).standard_normal((2, 5)))
    want = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), want, rtol=1e-5)
    files = net.export(tmp_path / "mixed")
    again = SymbolBlock.imports(files[0], "data", files[1])
    np.testing.assert_allclose(again(x).asnumpy(), want, rtol=1e-5)


def test_a_plain_block_hybridizes_its_children_and_takes_keywords() -> None:
    class Outer(Block):
        def __init__(self) -> None:
            super().__init__()
            self.body = Sequential()
            self.body.add(Function(lambda x: x * 2))

        def forward(self, x: Any, *, shift: float = 0) -> Any:
            return self.body(x) + shift

    net = Outer()
    with pytest.warns(UserWarning, match="HybridSequential"):
        net.hybridize(static_alloc=True)
    assert net(ones((1,)), shift=3).asscalar() == 5
    assert len(net.body[0]._graphs) == 1


def test_clear_forgets_graphs_and_a_new_child_is_used() -> None:
    net = HybridSequential()
    net.add(Function(lambda x: x + 1))
    net.hybridize()
    net(ones((1,)))
    net.hybridize(clear=False)
    assert len(net._graphs) == 1
    net._clear_cached_op()
    assert not net._graphs
    net(ones((1,)))
    net.add(Function(lambda x: x * 5))
    assert net(ones((1,))).asscalar() == 10


def test_threads_trace_with_lines_of_their_own() -> None:
    def fails(number: int) -> str:
        net = OldWrong() if number % 2 else NewWrong()
        net.style = "trace" if number % 3 else "layer"
        net.initialize()
        net.hybridize()
        with pytest.raises(OperatorError) as caught:
            net(ones((2, 2)))
        return str(caught.value).rpartition("in compute: ")[2]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fails, range(24), timeout=TIMEOUT_S))
    assert found == [LINES["trace" if number % 3 else "layer"] for number in range(24)]


class Mixed(HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.np.exp(x.as_np_ndarray()), F.np.exp(x.as_np_ndarray()).as_nd_ndarray()


class MixedForward(HybridBlock):
    def forward(self, x: Any) -> Any:
        y = mnp.exp(x.as_np_ndarray())
        return y, y.as_nd_ndarray()


@pytest.mark.parametrize("kind", [Mixed, MixedForward])
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("source", [nd, mnp])
def test_outputs_are_of_the_class_that_they_were_made_of(
    kind: type[HybridBlock], recorded: bool, source: Any
) -> None:
    net = kind()
    net.hybridize()
    x = source.ones(2)
    x.attach_grad()
    for _ in range(3):
        with autograd.record(train_mode=False) if recorded else nullcontext():
            first, second = net(x)
        assert type(first) is mnp.ndarray
        assert type(second) is nd.NDArray
    if recorded:
        autograd.backward([second])
        assert x.grad.asnumpy() == pytest.approx([math.e, math.e])
