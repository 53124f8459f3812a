from itertools import permutations
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError
from gluonish.core.spec import PartialSpec, Spec
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMIN, log_softmax, softmax
from gluonish.ops.registry import Operator, apply
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue

_FLOATS = ("float16", "float32", "float64")
_DATA = np.random.default_rng(6).standard_normal((3, 4, 2)) * 2


def _softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def test_softmax_and_its_gradients() -> None:
    check_operator(SOFTMAX, [_DATA], {"axis": 1}, lambda x: _softmax(x, 1), zero_size=[_DATA[:0]])


def test_log_softmax_and_its_gradients() -> None:
    check_operator(LOG_SOFTMAX, [_DATA], {}, lambda x: np.log(_softmax(x)))


def test_softmin_and_its_gradients() -> None:
    check_operator(SOFTMIN, [_DATA], {"axis": 0}, lambda x: _softmax(-x, 0))


@pytest.mark.parametrize("op", [SOFTMAX, LOG_SOFTMAX, SOFTMIN], ids=lambda op: str(op.name))
def test_temperature_divides_the_data(op: Operator) -> None:
    check_operator(op, [_DATA], {"temperature": 2.5})
    attrs = {**op.schema.defaults, "temperature": 2.5}
    found = apply(op, [ArrayValue(_DATA)], attrs).array
    np.testing.assert_allclose(
        found, apply(op, [ArrayValue(_DATA / 2.5)], op.schema.defaults).array
    )


def test_what_lies_behind_the_length_becomes_zero() -> None:
    length = np.array([[1, 4], [3, 0], [2, 9]], np.int32)

    def expected(x: Any, n: Any) -> Any:
        e = np.exp(x) * (np.arange(4)[:, None] < n[:, None])
        return e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)

    check_operator(SOFTMAX, [_DATA, length], {"axis": 1, "use_length": True}, expected)


def test_large_values_do_not_overflow() -> None:
    data = ArrayValue(np.array([[1e4, 0.0, -1e4]], np.float32))
    assert softmax(data).array.tolist() == [[1, 0, 0]]
    assert log_softmax(data).array.tolist() == [[0, -1e4, -2e4]]


def test_the_result_may_have_another_dtype_and_the_gradient_keeps_the_datas() -> None:
    data = ArrayValue(_DATA.astype(np.float16))
    attrs = SOFTMAX.schema.parse("softmax", {"dtype": "float32"})
    out = apply(SOFTMAX, [data], attrs)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out.array, _softmax(data.array.astype(np.float64)), rtol=1e-5)
    (found,) = SOFTMAX.gradient(out, data, out, **attrs)  # type: ignore[misc]
    assert found.dtype == np.float16


@pytest.mark.parametrize(
    ("op", "specs", "attrs", "message"),
    [
        (SOFTMAX, [((2, 3), "float32")], {"axis": 2}, "softmax: expected axis"),
        (SOFTMAX, [((2, 3), "int32")], {}, "softmax: expected floating data"),
        (
            SOFTMAX,
            [((2, 3), "float32"), ((2,), "bool")],
            {"use_length": True},
            r"softmax: expected length \(2,\) of numbers",
        ),
        (LOG_SOFTMAX, [((2, 3), "float32")], {"use_length": True}, "expected use_length=False"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(
    op: Operator, specs: list[Any], attrs: dict[str, Any], message: str
) -> None:
    given = [Spec(shape, np.dtype(dtype)) for shape, dtype in specs]
    with pytest.raises(OperatorError, match=message):
        op.infer(*given, **op.schema.parse(op.name, attrs))


def test_lengths_may_be_bound_as_floats() -> None:
    lengths = mx.sym.softmax(mx.sym.var("x"), mx.sym.var("length"), use_length=True)
    bound = lengths.simple_bind(mx.cpu(), x=(2, 3), length=(2,))
    assert bound.arg_dict["length"].dtype == np.float32
    bound.arg_dict["length"][:] = mx.nd.array([1, 2])
    assert bound.forward()[0].asnumpy().tolist() == [[1, 0, 0], [0.5, 0.5, 0]]


def test_the_lengths_shape_follows_from_the_data() -> None:
    inputs, outputs = [PartialSpec((2, 5, 3), np.dtype(np.float32)), PartialSpec()], [PartialSpec()]
    attrs = SOFTMAX.schema.parse("softmax", {"axis": 1, "use_length": True})
    SOFTMAX.complete(inputs, outputs, attrs)  # type: ignore[misc]
    assert inputs[1].shape == (2, 3)
    assert outputs[0] == inputs[0]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize(("source", "result"), list(permutations(_FLOATS, 2)))
def test_long_rows_in_another_dtype(name: str, source: str, result: str, hybridize: bool) -> None:
    class Net(HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return getattr(F, name)(x, dtype=result)

    values = np.random.default_rng(3).standard_normal((4, 500)).astype(source)
    x, net = mx.nd.array(values, dtype=source), Net()
    net.hybridize(hybridize)
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward(y)
    sign = -1 if name == "softmin" else 1
    exact, head = _softmax(sign * values.astype(np.float64)), y.asnumpy().astype(np.float64)
    slope = sign * exact * (head - (head * exact).sum(-1, keepdims=True))
    if name == "log_softmax":
        slope = head - exact * head.sum(-1, keepdims=True)
        exact = np.log(exact)
    assert (y.dtype, x.grad.dtype) == (np.dtype(result), np.dtype(source))
    tolerance = 1e-2 if "float16" in (source, result) else 1e-5
    np.testing.assert_allclose(head, exact, rtol=tolerance, atol=1e-7)
    np.testing.assert_allclose(
        x.grad.asnumpy(), slope, rtol=tolerance, atol=tolerance * abs(slope).max()
    )


@pytest.mark.parametrize(("name", "value"), [("softmax", 1), ("log_softmax", 0), ("softmin", 1)])
def test_one_number_is_a_row_of_itself(name: str, value: float) -> None:
    with mx.util.np_shape(True):
        x = mx.nd.array(2.0).reshape(())
        x.attach_grad()
        with mx.autograd.record():
            y = getattr(mx.nd, name)(x)
        y.backward()
        assert (y.shape, y.asscalar(), x.grad.asscalar()) == ((), value, 0)
