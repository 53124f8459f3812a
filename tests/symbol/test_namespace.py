import inspect

import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.initializer import Xavier


def test_a_variable_declares_what_it_is_told() -> None:
    x = sym.var("x", attr={"mood": "calm"}, shape=(1, 0), lr_mult=1, dtype="int32", __z__="1")
    assert x.list_attr() == {
        "mood": "calm",
        "__shape__": "(1, 0)",
        "__lr_mult__": "1",
        "lr_mult": "1",
        "__dtype__": "4",
        "__z__": "1",
    }


def test_an_initializer_is_written_as_json() -> None:
    assert str(sym.var("x", init=Xavier()).attr("__init__")).startswith('["xavier", {')
    assert sym.var("x", init="zeros").attr("__init__") == "zeros"


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"z": "1"}, "expected attributes named __key__, got 'z'"),
        ({"attr": {"a": 1}}, "expected attribute a to be a str, got 1"),
    ],
)
def test_other_attributes_are_refused(kwargs: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        sym.var("x", **kwargs)  # type: ignore[arg-type]


def test_a_name_is_a_string() -> None:
    with pytest.raises(ArgumentTypeError, match="expected name to be a str, got 3"):
        sym.var(3)  # type: ignore[arg-type]


def test_every_operator_has_a_function_with_signature_and_docstring() -> None:
    function = sym.FullyConnected
    assert list(inspect.signature(function).parameters) == [
        *("data", "weight", "bias", "num_hidden", "no_bias", "flatten", "name", "attr", "out")
    ]
    assert "num_hidden" in str(function.__doc__)
    assert function is sym.FullyConnected


def test_an_unknown_function_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'no_such_operator'"):
        _ = sym.no_such_operator  # type: ignore[attr-defined]


def test_attributes_are_spelled_as_the_user_spelled_them() -> None:
    x = sym.var("x")
    y = sym.Convolution(x, kernel=[3, 3], num_filter=4, no_bias=1)
    assert y.list_attr() == {"kernel": "[3, 3]", "num_filter": "4", "no_bias": "1"}
    assert sym.clip(x, 0, 6.5).list_attr() == {"a_min": "0", "a_max": "6.5"}
    assert sym.Cast(x, dtype=np.float16).list_attr() == {"dtype": "float16"}
    assert sym.sum(x, axis=(np.int64(1),)).list_attr() == {"axis": "(1,)"}


def test_attributes_left_out_are_not_spelled() -> None:
    x = sym.var("x")
    assert sym.sum(x).list_attr() == {}
    assert sym.sum(x, axis=None).list_attr() == {"axis": "None"}
    assert sym.Convolution(x, kernel=3, num_filter=4, stride=None).list_attr() == {
        "kernel": "3",
        "num_filter": "4",
    }


def test_inputs_left_out_become_variables() -> None:
    y = sym.FullyConnected(num_hidden=3, name="fc")
    assert y.list_arguments() == ["fc_data", "fc_weight", "fc_bias"]
    bare = sym.FullyConnected(data=sym.var("x"), no_bias=True, num_hidden=3, name="fc")
    assert bare.list_arguments() == ["x", "fc_weight"]


def test_variadic_operators_take_inputs_one_by_one_or_as_a_list() -> None:
    x, y = sym.var("x"), sym.var("y")
    assert sym.Concat(x, y, dim=1).list_arguments() == ["x", "y"]
    assert sym.Concat(*[x, y], dim=1).list_attr() == {"dim": "1", "num_args": "2"}


def test_operators_have_modules_of_their_own() -> None:
    assert sym.op.relu is sym.relu
    assert "relu" in dir(sym)
    assert "relu" in dir(sym.op)
    assert sym._internal._plus_scalar(sym.var("x"), scalar=1).list_arguments() == ["x"]


def test_symbols_that_stand_for_no_input_are_refused_where_there_are_inputs() -> None:
    x = sym.var("x")
    with pytest.raises(OperatorError, match="relu: expected Symbols for data, got one for 'foo'"):
        sym.relu(x, foo=x)  # type: ignore[call-arg]
    assert sym.random.randn(2, 3, data=x).list_arguments() == []
    assert sym.random.normal(shape=(2,), data=x).infer_shape()[1] == [(2,)]
