from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.errors import FileFormatError, OperatorError
from gluonish.ndarray import NDArray
from gluonish.operator import custom_op

_seen: list[Any] = []


def _grad(x: NDArray) -> NDArray:
    assert x.grad is not None
    return x.grad


class Square(mx.operator.CustomOp):
    """x * x, and a count of the calls."""

    def forward(self, is_train, req, in_data, out_data, aux):  # type: ignore[no-untyped-def]
        """Compute."""
        _seen.append((bool(is_train), autograd.is_recording(), autograd.is_training()))
        self.assign(out_data[0], req[0], nd.array(in_data[0].asnumpy() ** 2))
        aux[0][:] += 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):  # type: ignore[no-untyped-def]
        """Compute."""
        self.assign(in_grad[0], req[0], out_grad[0] * 2 * in_data[0])


class SquareProp(mx.operator.CustomOpProp):
    """Takes a setting that it does not use."""

    def __init__(self, scale: str = "1") -> None:
        super().__init__()
        _seen.append(scale)

    def list_auxiliary_states(self) -> list[str]:
        """One."""
        return ["count"]

    def infer_shape(self, in_shape):  # type: ignore[no-untyped-def]
        """Like the input; the count is one number."""
        return in_shape, [in_shape[0]], [[1]]

    def create_operator(self, ctx, in_shapes, in_dtypes):  # type: ignore[no-untyped-def]
        """Make it."""
        _seen.append((ctx, in_shapes, in_dtypes))
        return Square()


class Failing(mx.operator.CustomOp):
    """Raises."""

    def forward(self, **kwargs: Any) -> None:  # type: ignore[override]  # called by name
        """Raise."""
        raise ValueError("no luck")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(custom_op, "_props", {})
    mx.operator.register("square")(SquareProp)

    @mx.operator.register("failing")
    class _FailingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Failing:
            return Failing()

    _seen.clear()
    yield
    _seen.clear()


def test_a_call_computes_and_counts() -> None:
    x, count = nd.array([1, 2]), nd.zeros(1)
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, count, op_type="square", scale=3)
    y.backward()
    assert y.tolist() == [1, 4]
    assert _grad(x).tolist() == [2, 4]
    assert count.tolist() == [1]
    assert _seen == ["3", (mx.cpu(), [[2], [1]], [0, 0]), (True, False, True)]


def test_arrays_may_be_given_by_name() -> None:
    y = nd.Custom(count=nd.zeros(1), data=nd.array([3]), op_type="square")
    assert y.tolist() == [9]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: nd.Custom(x, op_type="square"), "expected an array for count"),
        (lambda x: nd.Custom(x, x, x, op_type="square"), "at most 2 inputs"),
        (lambda x: nd.Custom(x, op_type="other"), "op_type to be registered .*'other'"),
        (lambda x: nd.Custom(x, x, op_type="square", size=1), "settings of SquareProp"),
        (lambda x: nd.Custom(x, x), "expected op_type, got none"),
        (lambda x: nd.Custom(x, x, op_type="square"), r"count of shape \(1,\), got \(2,\)"),
    ],
)
def test_wrong_calls_are_refused(call: Any, message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        call(nd.ones(2))


def test_an_exception_waits_on_the_output_with_the_name() -> None:
    y = nd.Custom(nd.ones(2), op_type="failing")
    with pytest.raises(OperatorError, match=r"Custom\(failing\): forward failed: .*no luck"):
        y.asnumpy()


def test_an_exception_in_a_graph_names_the_node() -> None:
    executor = mx.sym.Custom(mx.sym.var("x"), op_type="failing", name="bad").bind(
        mx.cpu(), [nd.ones(2)]
    )
    (y,) = executor.forward()
    with pytest.raises(OperatorError, match=r"bad: .*Custom failed.*no luck"):
        y.asnumpy()


class _Symbolic(gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, count: Any) -> Any:
        return F.Custom(x * 2, count, op_type="square") + 1


class _Traced(gluon.HybridBlock):
    def forward(self, x: Any, count: Any) -> Any:
        return nd.Custom(x * 2, count, op_type="square") + 1


@pytest.mark.parametrize("kind", [_Symbolic, _Traced])
@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("size", [3, 20000])
def test_blocks_use_it(kind: type[gluon.HybridBlock], hybrid: bool, size: int) -> None:
    net = kind()
    net.hybridize(hybrid)
    x = nd.array(np.linspace(-1, 1, size))
    x.attach_grad()
    with autograd.record():
        y = net(x, nd.zeros(1))
    y.backward()
    np.testing.assert_allclose(y.asnumpy(), 4 * x.asnumpy() ** 2 + 1, rtol=1e-5)
    np.testing.assert_allclose(_grad(x).asnumpy(), 8 * x.asnumpy(), rtol=1e-5)


def test_a_symbol_makes_its_states_and_travels_in_files() -> None:
    y = mx.sym.Custom(mx.sym.var("x"), op_type="square", name="sq", scale=5)
    assert y.list_auxiliary_states() == ["sq_count"]
    assert y.infer_shape(x=(2, 3)) == ([(2, 3)], [(2, 3)], [(1,)])
    again = mx.sym.load_json(y.tojson())
    assert again.tojson() == y.tojson()
    executor = again.simple_bind(mx.cpu(), x=(2,))
    executor.forward(is_train=True, x=nd.array([3, 4]))
    executor.backward(nd.ones(2))
    assert executor.outputs[0].tolist() == [9, 16]
    assert executor.grad_dict["x"].tolist() == [6, 8]
    assert executor.aux_dict["sq_count"].tolist() == [1]


def test_a_file_with_an_unknown_operator_is_refused() -> None:
    text = mx.sym.Custom(mx.sym.var("x"), op_type="square").tojson()
    with pytest.raises(FileFormatError, match="other"):
        mx.sym.load_json(text.replace('"square"', '"other"'))


def test_a_loss_needs_no_gradient_of_its_output() -> None:
    class Loss(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):  # type: ignore[no-untyped-def]
            self.assign(out_data[0], req[0], in_data[0])

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):  # type: ignore[no-untyped-def]
            self.assign(in_grad[0], req[0], out_data[0] * 3)

    @mx.operator.register("loss")
    class _LossProp(mx.operator.CustomOpProp):
        def __init__(self) -> None:
            super().__init__(need_top_grad=False)

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Loss:
            return Loss()

    executor = mx.sym.Custom(mx.sym.var("x"), op_type="loss").bind(
        mx.cpu(), [nd.array([2])], [nd.zeros(1)]
    )
    executor.forward(is_train=True)
    executor.backward()
    assert executor.grad_arrays[0].tolist() == [6]


def test_only_props_are_registered() -> None:
    with pytest.raises(TypeError, match="expected a CustomOpProp"):
        mx.operator.register("x")(int)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("base", [mx.operator.NumpyOp, mx.operator.NDArrayOp])
def test_the_old_kinds_compute(base: type[mx.operator.PythonOp]) -> None:
    class Tripled(base):  # type: ignore[misc,valid-type]
        def forward(self, in_data: Any, out_data: Any) -> None:
            out_data[0][:] = in_data[0] * 3

        def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
            in_grad[0][:] = out_grad[0] * 3

    y = Tripled()(data=mx.sym.var("x"), name="t")
    executor = y.bind(mx.cpu(), [nd.array([1, 2])], [nd.zeros(2)])
    assert executor.forward(is_train=True)[0].tolist() == [3, 6]
    executor.backward(nd.ones(2))
    assert executor.grad_arrays[0].tolist() == [3, 3]


def test_operators_and_their_arguments_are_listed() -> None:
    assert "Convolution" in mx.operator.get_all_registered_operators()
    found = mx.operator.get_operator_arguments("Pad")
    assert found.narg == len(found.names) == len(found.types)
    assert found.names[:3] == ["data", "mode", "pad_width"]
    with pytest.raises(OperatorError, match="Nope"):
        mx.operator.get_operator_arguments("Nope")


@pytest.mark.parametrize(
    ("operator", "argument", "expected"),
    [
        ("Activation", "act_type", "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"),
        ("Pooling", "pool_type", "{'avg', 'lp', 'max', 'sum'},optional, default='max'"),
        ("Pooling", "count_include_pad", "boolean or None, optional, default=None"),
        (
            *("Convolution", "cudnn_tune"),
            "{None, 'fastest', 'limited_workspace', 'off'},optional, default='None'",
        ),
        ("Convolution", "kernel", "Shape(tuple), required"),
        ("Convolution", "stride", "Shape(tuple), optional, default=[]"),
        ("Convolution", "no_bias", "boolean, optional, default=0"),
        ("FullyConnected", "num_hidden", "int, required"),
        ("SoftmaxOutput", "grad_scale", "float, optional, default=1"),
        ("LeakyReLU", "slope", "float, optional, default=0.25"),
        ("sum", "axis", "Shape or None, optional, default=None"),
    ],
)
def test_arguments_are_described_as_mxnet_does(operator: str, argument: str, expected: str) -> None:
    found = mx.operator.get_operator_arguments(operator)
    assert found.types[found.names.index(argument)] == expected


class _Greedy(mx.operator.CustomOp):
    """Overwrites the gradient that it is given."""

    def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0])

    def backward(
        self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * 1)
        out_grad[0][:] = 9


class _GreedyProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> _Greedy:
        return _Greedy()


def test_gradient_that_an_operator_overwrites_is_not_given_to_others() -> None:
    mx.operator.register("greedy")(_GreedyProp)
    x = mx.nd.ones((3,))
    x.attach_grad()
    for _ in range(2):
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type="greedy")
        y.backward()
        with mx.autograd.record():
            y = x * 3
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3, 3])


@pytest.mark.parametrize("names", [["output"], ["y"], ["x", "y"], ["output0", "output1"]])
def test_outputs_of_a_symbol_have_the_users_names(
    names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SquareProp, "list_outputs", lambda self: names, raising=False)
    mx.operator.register("named_outputs")(SquareProp)
    symbol = mx.sym.Custom(mx.sym.var("data"), op_type="named_outputs", name="node")
    expected = [f"node_{name}" for name in names]
    assert symbol.list_outputs() == expected
    assert mx.sym.load_json(symbol.tojson()).list_outputs() == expected
    assert symbol[len(names) - 1].list_outputs() == expected[-1:]
