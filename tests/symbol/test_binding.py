import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, GraphError
from gluonish.ndarray import NDArray, ones


def _dense() -> mx.sym.Symbol:
    layer: mx.sym.Symbol = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc")
    return layer


def test_shapes_follow_from_some() -> None:
    executor = _dense().simple_bind(mx.cpu(), x=(4, 5))
    assert {k: v.shape for k, v in executor.arg_dict.items()} == {
        "x": (4, 5),
        "fc_weight": (3, 5),
        "fc_bias": (3,),
    }


def test_dtypes_follow_from_some() -> None:
    executor = _dense().simple_bind(mx.cpu(), type_dict={"x": "float64"}, x=(4, 5))
    assert executor.arg_dict["fc_weight"].dtype is np.float64
    assert executor.outputs[0].dtype is np.float64


def test_unknown_shapes_are_named() -> None:
    with pytest.raises(GraphError, match=r"simple_bind: expected shapes .*'fc_weight'"):
        _dense().simple_bind(mx.cpu())


def test_names_without_a_request_get_no_gradient() -> None:
    executor = _dense().simple_bind(mx.cpu(), grad_req={"fc_weight": "add"}, x=(4, 5))
    assert [g is None for g in executor.grad_arrays] == [True, False, True]


def test_a_buffer_lends_its_memory() -> None:
    buffer: dict[str, NDArray] = {}
    _dense().simple_bind(mx.cpu(), shared_buffer=buffer, x=(4, 5))
    small = _dense().simple_bind(mx.cpu(), shared_buffer=buffer, x=(2, 5))
    small.arg_dict["x"][:] = 5
    assert buffer["x"].shape == (4, 5)
    assert buffer["x"].asnumpy()[:, 0].tolist() == [5, 5, 0, 0]


def test_an_executor_shares_the_named_arguments() -> None:
    first = _dense().simple_bind(mx.cpu(), x=(4, 5))
    names = ["fc_weight", "fc_bias"]
    second = _dense().simple_bind(mx.cpu(), shared_exec=first, shared_arg_names=names, x=(2, 5))
    assert second.arg_dict["fc_weight"] is first.arg_dict["fc_weight"]
    assert second.arg_dict["x"] is not first.arg_dict["x"]


def test_gradients_are_shared_with_their_arguments() -> None:
    first = _dense().simple_bind(mx.cpu(), x=(4, 5))
    names = ["fc_weight", "fc_bias"]
    second = _dense().simple_bind(mx.cpu(), shared_exec=first, shared_arg_names=names, x=(2, 5))
    assert second.grad_dict["fc_weight"] is first.grad_dict["fc_weight"]
    assert second.grad_dict["x"] is not first.grad_dict["x"]
    wider = _dense().simple_bind(mx.cpu(), shared_exec=first, shared_arg_names=names, x=(2, 6))
    assert wider.grad_dict["fc_weight"] is not first.grad_dict["fc_weight"]
    silent = _dense().simple_bind(mx.cpu(), grad_req="null", shared_exec=first, x=(2, 5))
    assert silent.grad_dict["fc_weight"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": ones((4, 5))}, "expected an array in args for fc_weight"),
        ([ones((4, 5))], "expected 3 arrays in args"),
    ],
)
def test_missing_arrays_are_refused(arguments: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _dense().bind(mx.cpu(), arguments)


def test_an_unknown_request_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"grad_req to be one of .*'some'"):
        _dense().simple_bind(mx.cpu(), grad_req="some", x=(4, 5))


def test_a_word_is_no_device() -> None:
    with pytest.raises(ArgumentTypeError, match="expected ctx to be a Context, got 'cpu'"):
        _dense().bind("cpu", [])


def test_unknown_storage_types_are_refused() -> None:
    with pytest.raises(ArgumentError, match="storage type for fc_weight among 'default'"):
        _dense().simple_bind(mx.cpu(), stype_dict={"fc_weight": "sparse"}, x=(4, 5))
