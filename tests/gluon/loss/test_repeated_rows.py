"""Cross entropies that repeat run as a graph, to the bit as by the operator."""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.engine import use_engine
from gluonish.gluon.loss import SoftmaxCrossEntropyLoss, repeated_rows
from gluonish.gluon.mixed_precision.training import autocast
from tests.python_calls import python_calls

SHAPE = (64, 10)
CALLS = repeated_rows._REPEATS + 2


@pytest.fixture(autouse=True)
def no_graphs() -> Iterator[None]:
    repeated_rows._graphs.clear()
    repeated_rows._counts.clear()
    yield
    repeated_rows._graphs.clear()
    repeated_rows._counts.clear()


def scores(shape: tuple[int, ...] = SHAPE, dtype: str = "float32") -> nd.NDArray:
    return nd.array(np.random.RandomState(0).randn(*shape) * 5, dtype=dtype)


def labels(shape: tuple[int, ...] = SHAPE, dtype: str = "float32") -> nd.NDArray:
    return nd.array(np.random.RandomState(1).randint(0, shape[1], shape[0]), dtype=dtype)


def gradient(loss: Callable[..., Any], *inputs: nd.NDArray) -> tuple[Any, Any]:
    x = inputs[0]
    x.attach_grad()
    with autograd.record():
        value = loss(*inputs)
    value.backward(nd.arange(len(value), dtype=value.dtype))
    return value.asnumpy(), x.grad.asnumpy()


def double_gradient(loss: Callable[..., Any], *inputs: nd.NDArray) -> tuple[Any, Any]:
    x = inputs[0]
    x.attach_grad()
    with autograd.record():
        (first,) = autograd.grad(loss(*inputs), [x], create_graph=True)
        total = (first * first).sum()
    total.backward()
    return first.asnumpy(), x.grad.asnumpy()


def summed_gradient(loss: Callable[..., Any], *inputs: nd.NDArray) -> tuple[Any, Any]:
    x = inputs[0]
    x.attach_grad("add")
    with autograd.record():
        value = loss(*inputs)
    value.backward(retain_graph=True)
    value.backward()
    return value.asnumpy(), x.grad.asnumpy()


def without_training(loss: Callable[..., Any], *inputs: nd.NDArray) -> tuple[Any, Any]:
    x = inputs[0]
    x.attach_grad()
    with autograd.record(train_mode=False):
        value = (x * 2) + 0
        with autograd.pause():
            apart = loss(*inputs)
        total = loss(value, *inputs[1:]).sum()
    total.backward()
    return apart.asnumpy(), x.grad.asnumpy()


@pytest.mark.parametrize("weight", [None, 0.3])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
@pytest.mark.parametrize("shape", [SHAPE, (3, 4), (1, 1), (500, 70)])
@pytest.mark.parametrize(
    "use", [gradient, double_gradient, summed_gradient, without_training], ids=lambda f: f.__name__
)
def test_a_graph_gives_the_bits_of_the_operator(
    use: Callable[..., tuple[Any, Any]], shape: tuple[int, int], dtype: str, weight: float | None
) -> None:
    loss = SoftmaxCrossEntropyLoss(weight=weight)
    first = use(loss, scores(shape), labels(shape, dtype))
    assert not repeated_rows._graphs
    for _ in range(CALLS):
        last = use(loss, scores(shape), labels(shape, dtype))
    assert len(repeated_rows._graphs) == 1
    for a, b in zip(first, last, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


def test_values_are_those_of_float64() -> None:
    loss, x, y = SoftmaxCrossEntropyLoss(), scores(), labels()
    for _ in range(CALLS):
        found, grad = gradient(loss, x, y)
    wide, rows, chosen = x.asnumpy().astype(np.float64), np.arange(64), y.asnumpy().astype(int)
    soft = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    np.testing.assert_allclose(found, -np.log(soft[rows, chosen]), rtol=1e-5, atol=1e-6)
    soft[rows, chosen] -= 1
    np.testing.assert_allclose(grad, soft * rows[:, None], rtol=1e-5, atol=1e-5)


def test_losses_of_certain_rows_are_positive_zeros() -> None:
    loss, x = SoftmaxCrossEntropyLoss(), nd.array([[500, 0, 0]] * 300)
    for _ in range(CALLS):
        assert not np.signbit(loss(x, nd.zeros(300)).asnumpy()).any()


def numpy_arrays(x: nd.NDArray, y: nd.NDArray) -> tuple[Any, ...]:
    return x.as_np_ndarray(), y.as_np_ndarray()


OTHERS: dict[str, Callable[[nd.NDArray, nd.NDArray], tuple[Any, ...]]] = {
    "np": numpy_arrays,
    "float16": lambda x, y: (x.astype("float16"), y),
    "float64": lambda x, y: (x.astype("float64"), y),
    "labels of float16": lambda x, y: (x, y.astype("float16")),
    "columns": lambda x, y: (x, y.reshape((-1, 1))),
    "weights": lambda x, y: (x, y, nd.ones(64)),
    "axes": lambda x, y: (x.reshape((8, 8, 10)), y.reshape((8, 8))),
    "no rows": lambda x, y: (x[:0], y[:0]),
    "large": lambda x, y: (nd.zeros((512, 1000)), nd.zeros(512)),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_inputs_are_left_to_operators(case: str) -> None:
    loss = SoftmaxCrossEntropyLoss()
    inputs = OTHERS[case](scores(), labels())
    for _ in range(CALLS):
        value = loss(*inputs)
    assert type(value) is type(inputs[0])
    assert value.dtype == inputs[0].dtype
    assert not repeated_rows._graphs


def test_other_axes_are_left_to_operators() -> None:
    for options in ({"axis": 0}, {"batch_axis": 1}, {"from_logits": True}):
        loss = SoftmaxCrossEntropyLoss(**options)
        for _ in range(CALLS):
            loss(scores((10, 10)), labels((10, 10))).wait_to_read()
    assert not repeated_rows._graphs


def test_shapes_that_vary_are_not_planned() -> None:
    loss = SoftmaxCrossEntropyLoss()
    for rows in range(1, 300):
        loss(nd.zeros((rows, 3)), nd.zeros(rows)).wait_to_read()
    assert not repeated_rows._graphs
    assert len(repeated_rows._counts) <= repeated_rows._MAX_COUNTED


def test_the_number_of_graphs_is_bounded() -> None:
    loss = SoftmaxCrossEntropyLoss()
    for rows in range(1, repeated_rows._MAX_GRAPHS + 4):
        for _ in range(CALLS):
            loss(nd.zeros((rows, 3)), nd.zeros(rows)).wait_to_read()
    assert len(repeated_rows._graphs) == repeated_rows._MAX_GRAPHS


def test_an_error_is_the_operators_however_often() -> None:
    loss = SoftmaxCrossEntropyLoss()
    texts = set()
    for _ in range(CALLS):
        with pytest.raises(mx.base.MXNetError, match="one class index for each row") as caught:
            loss(scores(), labels()[:5])
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_values_are_checked_after_many_calls() -> None:
    loss, x, y = SoftmaxCrossEntropyLoss(), scores(), labels()
    for _ in range(CALLS):
        loss(x, y).wait_to_read()
    with mx.check_values(), pytest.raises(mx.base.MXNetError, match="_log_softmax_pick"):
        loss(x * np.inf, y)


def test_autocast_after_many_calls_reaches_the_operator() -> None:
    loss, x, y = SoftmaxCrossEntropyLoss(), scores(), labels()
    for _ in range(CALLS):
        loss(x, y).wait_to_read()
    with autocast("float16", target_precision_ops=["_log_softmax_pick"], fp32_ops=[]):
        assert loss(x, y).dtype == np.float16
    assert loss(x, y).dtype == np.float32


def test_a_loss_keeps_nothing_of_its_graph() -> None:
    loss, x, y = SoftmaxCrossEntropyLoss(), scores(), labels()
    for _ in range(CALLS):
        want = loss(x, y).asnumpy()
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert repr(other) == repr(loss)
        np.testing.assert_array_equal(other(x, y).asnumpy(), want)


def test_a_subclass_and_a_replaced_method_are_called() -> None:
    class Twice(SoftmaxCrossEntropyLoss):
        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            return 2 * super().hybrid_forward(F, pred, label, sample_weight)

    loss, twice, x, y = SoftmaxCrossEntropyLoss(), Twice(), scores(), labels()
    for _ in range(CALLS):
        want = loss(x, y).asnumpy()
        np.testing.assert_array_equal(twice(x, y).asnumpy(), 2 * want)
    vars(loss)["hybrid_forward"] = lambda F, pred, label: pred.sum()
    assert loss(nd.ones((2, 3)), nd.zeros(2)).asscalar() == 6


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_a_repeated_loss_makes_few_python_calls(kind: str) -> None:
    loss, x, y = SoftmaxCrossEntropyLoss(), scores(), labels()
    x.attach_grad()

    def call() -> None:
        with autograd.record():
            value = loss(x, y)
        value.backward()

    with use_engine(kind):
        for _ in range(70):  # the first 64 calls look at the labels
            call()
        names = python_calls(call)
    assert "CachedGraph.__call__" in names
    assert len(names) <= 120, names  # 196 by three operators
