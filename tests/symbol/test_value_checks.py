"""`mx.check_values` in executors, Modules and CachedOps: nodes by their names."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd, sym
from gluonish.core import training_step
from gluonish.core.errors import NonFiniteError
from gluonish.engine import use_engine


@pytest.fixture(autouse=True)
def no_earlier_trainer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name the step of the newest Trainer, which may be another test's."""
    monkeypatch.setattr(training_step, "_latest", [])


def logarithm() -> Any:
    x = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
    return sym.log(sym.relu(x), name="logarithm")


def bound(output: Any) -> Any:
    executor = output.simple_bind(mx.cpu(), data=(2, 4))
    for array in executor.arg_dict.values():
        array[:] = -1
    return executor


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("train", [False, True])
def test_an_executor_names_the_node(engine: str, train: bool) -> None:
    with use_engine(engine):
        executor = bound(logarithm())
        executor.arg_dict["fc_bias"][:] = -9
        with mx.check_values(), pytest.raises(NonFiniteError) as caught:
            executor.forward(is_train=train)
    assert str(caught.value).startswith(
        "logarithm: log: expected finite values, got -infinity in its output (6 of 6 values, the "
        "first at [0, 0])"
    )


def test_an_executor_names_the_gradient() -> None:
    executor = bound(sym.sqrt(sym.relu(sym.var("data")), name="root"))
    with mx.check_values():
        executor.forward(is_train=True)
        with pytest.raises(NonFiniteError, match="root: sqrt: expected finite gradients"):
            executor.backward(nd.ones((2, 4)))


def test_results_of_an_executor_have_equal_bits() -> None:
    draws = []
    output = sym.Dropout(sym.BatchNorm(sym.var("data"), name="bn"), p=0.5)
    for checked in (False, True):
        mx.random.seed(2)
        executor = output.simple_bind(mx.cpu(), data=(8, 4))
        executor.arg_dict["data"][:] = np.arange(32).reshape(8, 4)
        with mx.check_values(values=checked, labels=False, gradients=False):
            executor.forward(is_train=True)
            executor.backward(nd.ones((8, 4)))
        arrays = [*executor.outputs, *executor.grad_arrays, *executor.aux_arrays]
        draws.append([x.asnumpy() for x in arrays if x is not None])
    for a, b in zip(*draws, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_module_names_labels() -> None:
    output = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=3), name="softmax")
    batches = mx.io.NDArrayIter(np.ones((8, 4), np.float32), np.arange(8) % 4, batch_size=4)
    module = mx.mod.Module(output)
    with (
        mx.check_values(),
        pytest.raises(IndexError, match="softmax: SoftmaxOutput: expected label"),
    ):
        module.fit(batches, num_epoch=1)


def test_a_cached_op_names_the_node() -> None:
    op = nd.CachedOp(logarithm())  # type: ignore[attr-defined]
    arrays = [nd.ones((2, 4)), -nd.ones((3, 4)), nd.zeros((3,))]
    with mx.check_values(), pytest.raises(NonFiniteError, match="logarithm: log: expected finite"):
        op(*arrays)
