from collections.abc import Callable, Iterator
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.mxnet_rules import Rules, follow_mxnet
from gluonish.core.numpy_mode import NumpyScope
from gluonish.engine import use_engine
from gluonish.ndarray import NDArray, eager
from gluonish.ndarray.prepared_call import _MAX_CALLS, PreparedCall
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator, apply, find_operator
from tests.python_calls import python_calls

A = np.arange(16, dtype=np.float32).reshape(4, 4)

# Most Python calls of a repeated call, without its own lambda; each takes 30 to 80 ns.
FEWEST: dict[str, tuple[int, Callable[..., Any]]] = {
    "x + y": (7, lambda x, y: x + y),
    "x * y": (7, lambda x, y: x * y),
    "x / y": (9, lambda x, y: x / y),
    "x > y": (8, lambda x, y: x > y),
    "x * 0.5": (10, lambda x, y: x * 0.5),
    "-x": (8, lambda x, y: -x),
    "nd.exp": (11, lambda x, y: nd.exp(x)),
    "nd.dot": (15, lambda x, y: nd.dot(x, y)),
    "nd.broadcast_add": (10, lambda x, y: nd.broadcast_add(x, y)),
    "nd.concat": (13, lambda x, y: nd.concat(x, y, dim=1)),
    "x.sum()": (28, lambda x, y: x.sum(axis=1)),
}


def np_copy(xp: Any, out: Any, x: Any) -> None:
    xp.copyto(out, x)


def np_double(xp: Any, out: Any, x: Any) -> None:
    xp.add(x, x, out=out)


def pair() -> tuple[NDArray, NDArray]:
    return nd.array(A), nd.array(A + 1)


@pytest.fixture(autouse=True)
def _threaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Mixed precision, which another test may have turned on, wraps calls for good.
    monkeypatch.setattr(NDArray, "__apply__", staticmethod(eager.invoke))
    with use_engine("ThreadedEnginePerDevice"):
        yield


@pytest.mark.parametrize("what", FEWEST)
def test_a_repeated_call_makes_few_python_calls(what: str) -> None:
    most, function = FEWEST[what]
    x, y = pair()
    for _ in range(3):
        function(x, y)
    names = python_calls(partial(function, x, y))
    assert "_run_prepared" in names
    assert len(names) <= most, names


def test_a_recorded_call_makes_two_more() -> None:
    x, y = pair()
    plain = python_calls(lambda: [x + y, x + y][1])
    x.attach_grad()
    with autograd.record():
        x + y
        recorded = python_calls(lambda: [x + y, x + y][1])
    assert len(recorded) <= len(plain) + 4, recorded


def test_the_scope_of_a_record_makes_few_python_calls() -> None:
    def record() -> None:
        with autograd.record():
            pass

    assert len(python_calls(record)) <= 6


def test_shapes_and_dtypes_are_told_apart() -> None:
    op = find_operator("broadcast_add")
    for dtype in ("float32", "float64", "int32"):
        for shape in ((4, 4), (2, 8), (16,)):
            x = nd.array(A.reshape(shape), dtype=dtype)
            for _ in range(2):
                found = x + x
                assert found.shape == shape
                assert found.dtype == np.dtype(dtype)
                np.testing.assert_array_equal(found.asnumpy(), A.reshape(shape) * 2)
    assert len(op.prepared) >= 9


def test_nd_and_np_arrays_keep_their_class() -> None:
    x = nd.array(A)
    for _ in range(2):
        assert type(nd.relu(x)) is NDArray
        assert type(mx.npx.relu(x.as_np_ndarray())) is mx.np.ndarray


@pytest.mark.parametrize("number", [0.0, -0.0, 2.5, np.inf])
def test_numbers_differ_from_call_to_call(number: float) -> None:
    x = nd.array(A)
    x * 1.5
    before = len(find_operator("_mul_scalar").prepared)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal((x * number).asnumpy(), A * np.float32(number))
    assert len(find_operator("_mul_scalar").prepared) == before


def test_a_number_that_integers_lack_is_refused_each_time() -> None:
    x = nd.array(A, dtype="int32")
    x + 1.0
    for _ in range(2):
        with pytest.raises(mx.base.MXNetError, match="expected a finite number for int32 data"):
            x + float("inf")


def test_signatures_are_bounded() -> None:
    op = find_operator("broadcast_add")
    for n in range(1, _MAX_CALLS + 20):
        x = nd.ones((n,))
        x + x
    assert 0 < len(op.prepared) <= _MAX_CALLS


def test_a_mode_that_inference_reads_counts_in_each_call() -> None:
    x, y = nd.ones((4, 1)), nd.ones((4, 4))
    assert nd.elemwise_add(x, y).shape == (4, 4)
    before = follow_mxnet(Rules.MXNET1)
    try:
        with pytest.raises(mx.base.MXNetError, match="expected arrays of equal shape"):
            nd.elemwise_add(x, y)
    finally:
        follow_mxnet(before)
    assert nd.elemwise_add(x, y).shape == (4, 4)


def test_the_default_dtype_counts_in_each_call() -> None:
    x = mx.np.array([1, 2], dtype="int32")
    for wide, dtype in ((False, "float32"), (True, "float64"), (False, "float32")):
        with NumpyScope(dtype=wide):
            for _ in range(2):
                assert (x / x).dtype == np.dtype(dtype)


def test_a_new_kernel_counts_at_once() -> None:
    op = find_operator("broadcast_add")
    x = nd.array(A)
    x + x
    assert op.prepared
    op._set_kernels(op.fast_kernels)
    assert not op.prepared


@pytest.mark.parametrize("change", ["kernels", "override"])
def test_an_operator_that_changes_during_a_call_is_not_prepared_as_it_was(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"_test_changes_{change}"
    op = Operator(name, lambda x: (x,), np_copy, None, doc="A copy.")
    fast = FastKernel(BackEnd.NUMPY, name, lambda x: True, run=np_double)
    monkeypatch.setattr(op, "_fast_kernels", ())

    def kernel(xp: Any, out: Any, x: Any) -> None:
        np_copy(xp, out, x)
        if op.kernel is kernel:
            op.kernel = np_copy
            if change == "kernels":
                op._set_kernels((fast,))
            else:
                op.override(lambda inputs, _attrs, _out: inputs[0] * 2)

    op.kernel = kernel
    x = nd.array(A)
    np.testing.assert_array_equal(apply(op, (x,), {}).asnumpy(), A)
    for _ in range(3):
        np.testing.assert_array_equal(apply(op, (x,), {}).asnumpy(), A * 2)


def test_classes_that_are_made_in_their_own_way_are_made_so_each_time() -> None:
    class Counted(NDArray):
        __slots__ = ("number",)
        made = 0

        def __new__(cls, *_arguments: Any) -> "Counted":
            cls.made += 1
            array = super().__new__(cls)
            array.number = cls.made
            return array

        number: int

    x = Counted(A.copy(), *(getattr(nd.array(A), name) for name in ("_spec", "_device", "_var")))
    assert [(x + x).number for _ in range(3)] == [2, 3, 4]


def test_a_flag_that_selects_kernels_counts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight = nd.ones((4, 8)), nd.ones((2, 8))
    call = [nd.FullyConnected(x, weight, num_hidden=2, no_bias=True) for _ in range(2)][1]
    (found,) = [
        prepared
        for key, prepared in find_operator("FullyConnected").prepared.items()
        if isinstance(key, tuple) and key[1] == x._spec and key[2] == weight._spec
    ]
    assert isinstance(found, PreparedCall)
    assert found.holds([x, weight])
    monkeypatch.setenv("MXNET_MKLDNN_ENABLED", "0")
    assert not found.checks or not found.holds([x, weight])
    np.testing.assert_array_equal(call.asnumpy(), np.full((4, 2), 8))


def test_outputs_of_strided_inputs_keep_their_layout() -> None:
    x = nd.array(np.arange(48, dtype=np.float32).reshape(1, 4, 3, 4))
    nd.relu(x)
    strided = NDArray(
        np.ascontiguousarray(x.asnumpy().transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
        x._spec,
        x._device,
        x._var,
    )
    for _ in range(2):
        found = nd.relu(strided)
        assert not found._data.flags.c_contiguous
        np.testing.assert_array_equal(found.asnumpy(), x.asnumpy())


def test_random_and_train_dependent_calls_are_not_prepared() -> None:
    x = nd.ones((4, 4))
    for _ in range(2):
        nd.Dropout(x)
    assert not find_operator("Dropout").prepared


def test_a_failed_kernel_is_raised_at_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    op: Operator = find_operator("broadcast_minimum")
    x = nd.ones((3, 5))
    nd.broadcast_minimum(x, x)
    (call,) = [p for key, p in op.prepared.items() if isinstance(key, tuple) and key[1] == x._spec]

    def fail(*_arguments: object) -> None:
        raise ValueError("on purpose")

    monkeypatch.setattr(call, "kernel", fail)
    failed = nd.broadcast_minimum(x, x)
    after = failed + failed
    with pytest.raises(
        mx.base.MXNetError, match="broadcast_minimum: failed with ValueError: on purpose"
    ):
        after.asnumpy()
    op.prepared.clear()
    nd.waitall()


def test_hooks_see_prepared_calls() -> None:
    x = nd.ones((4, 4))
    x + x
    seen: list[str] = []
    engine = mx.engine.current_engine()
    before = engine.on_push

    def hook(function: Callable[[], None], lane: object, name: str) -> Callable[[], None]:
        seen.append(name)
        return function

    engine.on_push = hook
    try:
        x + x
    finally:
        engine.on_push = before
    assert seen == ["broadcast_add"]


def test_threads_share_prepared_calls() -> None:
    x = nd.array(A)
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(200):
            y = x
            for _ in range(3):
                y = y + x
            if not np.array_equal(y.asnumpy(), A * 4):
                wrong.append(y)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
