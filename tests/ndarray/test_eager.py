import weakref
from typing import Any

import numpy as np
import pytest

from gluonish import autograd
from gluonish import ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutogradError,
    DeviceError,
    OperatorError,
)
from gluonish.core.spec import Spec
from gluonish.ndarray.eager import invoke
from gluonish.ops.registry import Operator

ENGINES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")


def test_arrays_on_different_devices_are_refused() -> None:
    with pytest.raises(DeviceError, match=r"broadcast_add: .* got cpu\(0\), cpu\(1\); move them"):
        nd.ones(2) + nd.ones(2, ctx=cpu(1))


@pytest.mark.parametrize("extent", [1 << 42, 1 << 62])
def test_result_without_memory_is_an_error_with_its_size(extent: int) -> None:
    """NumPy has one error for what the system refuses, and another for what no address reaches."""
    tall, wide = nd.ones((1, 1)), nd.ones((1, 1))
    expected = rf"huge: .* float32\({extent}, 1\) of {extent * 4} bytes on cpu\(0\), got none"
    with pytest.raises(DeviceError, match=expected) as raised:
        invoke(_huge(extent), [tall, wide], {})
    assert isinstance(raised.value.__cause__, MemoryError | ValueError)


def _huge(extent: int) -> Operator:
    def infer(*_arrays: Spec) -> tuple[Spec]:
        return (Spec((extent, 1), np.dtype(np.float32)),)

    return Operator("huge", infer, lambda *_arrays: None, None, doc="Too much.")


def test_mixed_dtypes_are_refused() -> None:
    with pytest.raises(OperatorError, match="equal dtype, got int32 and float32; cast one"):
        nd.ones(2, dtype="int32") + nd.ones(2)


def test_input_that_is_no_array_is_named() -> None:
    with pytest.raises(ArgumentTypeError, match="broadcast_add: expected rhs to be an NDArray"):
        nd.broadcast_add(nd.ones(2), "one")


def test_out_receives_the_result_and_is_returned() -> None:
    out = nd.zeros(2)
    assert nd.broadcast_add(nd.ones(2), nd.ones(2), out=out) is out
    assert out.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("out", "error"),
    [(nd.zeros(3), ArgumentError), (nd.zeros(2, dtype="int32"), ArgumentTypeError)],
)
def test_out_of_another_shape_or_dtype_is_refused(out: nd.NDArray, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"broadcast_add: expected out to be float32\(2,\)"):
        nd.broadcast_add(nd.ones(2), nd.ones(2), out=out)


def test_out_that_is_no_array_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected out to be an NDArray, got str"):
        nd.relu(nd.ones(2), out="a")


def test_out_may_be_an_input_of_any_operator() -> None:
    x = nd.array([[1, 2], [3, 4]])
    nd.dot(x, x, out=x)
    assert x.tolist() == [[7, 10], [15, 22]]


def test_out_may_overlap_an_input() -> None:
    x = nd.array([1, 2, 3, 4])
    nd.broadcast_add(x[:3], x[:3], out=x[1:])
    assert x.tolist() == [1, 2, 4, 6]


def test_out_may_lie_on_another_device() -> None:
    out = nd.zeros(2, ctx=cpu(1))
    nd.broadcast_add(nd.ones(2), nd.ones(2), out=out)
    assert out.tolist() == [2, 2]


def test_out_takes_part_in_the_recorded_graph() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = nd.zeros(2)
        nd.broadcast_mul(x, x, out=y)
        z = y * y
    z.backward()
    assert x.grad.tolist() == [4, 32]


def test_out_inside_the_recorded_graph_is_refused() -> None:
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record(), pytest.raises(AutogradError, match="broadcast_mul with out"):
        nd.broadcast_mul(x, x, out=x)


def test_several_outputs_fill_a_list() -> None:
    outs = [nd.zeros((2, 1)), nd.zeros((2, 1))]
    nd.split(nd.array([[1, 2], [3, 4]]), num_outputs=2, axis=1, out=outs)
    assert [out.tolist() for out in outs] == [[[1], [3]], [[2], [4]]]


def test_a_loop_that_never_waits_keeps_no_variables_of_small_results() -> None:
    x = nd.ones((1 << 16) + 1)  # too large to be summed in the calling thread
    first = x.sum()
    variable = weakref.ref(first._var)
    del first
    for _ in range(300):
        x.sum()
    nd.waitall()
    assert variable() is None


def test_infinities_and_nans_come_without_a_warning() -> None:
    x = nd.array([1, 0, -1])
    assert (x / 0).tolist()[0] == np.inf
    assert np.isnan((x / 0).tolist()[1])
    assert nd.log(x).tolist()[1] == -np.inf
    assert nd.exp(x * 1000).tolist()[0] == np.inf


def test_failure_of_a_kernel_is_raised_at_the_wait_and_the_engine_goes_on() -> None:
    x = nd.ones(2)

    def fail(_out: Any) -> None:
        raise ZeroDivisionError("on purpose")

    x._write(fail, name="_failing")
    y = x + 1
    with pytest.raises(OperatorError, match="_failing: failed with ZeroDivisionError: on purpose"):
        y.asnumpy()
    assert (nd.ones(2) + 1).tolist() == [2, 2]


def test_out_is_returned_as_it_was_given() -> None:
    x, y = nd.zeros(2), nd.zeros((2, 2))
    calls = (
        lambda out: nd.exp(nd.zeros(2), out=out),
        lambda out: nd.random.uniform(1, 2, out=out),
        lambda out: nd.ones((2,), out=out),
    )
    for call in calls:
        for out in (x, [x], (x,)):
            x[:] = 0
            assert call(out) is out
            assert x.asnumpy().min() >= 1
    pair = (y, nd.zeros((2, 2)))
    assert nd.split(nd.ones((2, 4)), num_outputs=2, out=pair) is pair
    assert y.asnumpy().tolist() == [[1, 1], [1, 1]]
