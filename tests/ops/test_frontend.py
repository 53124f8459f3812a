import inspect
from typing import Any

import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.frontend import bind_arguments, docstring_of, require_inputs, signature_of
from gluonish.ops.registry import find_operator

DENSE = find_operator("FullyConnected")
CONCAT = find_operator("Concat")


def test_arguments_bind_by_position_and_by_name() -> None:
    expected = bind_arguments(DENSE, ("x", "w", "b", 3), {})
    assert bind_arguments(DENSE, ("x",), {"bias": "b", "weight": "w", "num_hidden": 3}) == expected
    inputs, attrs = expected
    assert (inputs, attrs["num_hidden"], attrs["no_bias"]) == (["x", "w", "b"], 3, False)


def test_input_that_the_attributes_switch_off_goes() -> None:
    inputs, _ = bind_arguments(DENSE, ("x", "w"), {"num_hidden": 3, "no_bias": True})
    assert inputs == ["x", "w"]


def test_input_left_out_is_none_until_it_is_required() -> None:
    inputs, attrs = bind_arguments(DENSE, ("x",), {"num_hidden": 3})
    assert inputs == ["x", None, None]
    with pytest.raises(OperatorError, match="FullyConnected: expected an array for weight"):
        require_inputs(DENSE, inputs, attrs)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (range(20), {}, "expected at most"),
        (("x",), {"data": "y"}, "expected data once, got it twice"),
        (("x",), {"foo": 1}, "expected arguments among num_hidden"),
        (("x",), {}, "expected a value for num_hidden"),
        (("x",), {"num_hidden": "many"}, "expected num_hidden to be an int"),
    ],
)
def test_wrong_calls_are_refused(args: Any, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(OperatorError, match=f"FullyConnected: {message}"):
        bind_arguments(DENSE, tuple(args), kwargs)


@pytest.mark.parametrize("args", [("a", "b"), (["a", "b"],), (("a", "b"),)])
def test_variadic_operator_counts_its_inputs(args: Any) -> None:
    inputs, attrs = bind_arguments(CONCAT, args, {"dim": 0})
    assert (inputs, attrs["num_args"], attrs["dim"]) == (["a", "b"], 2, 0)


def test_variadic_operator_without_inputs_is_refused() -> None:
    with pytest.raises(OperatorError, match="Concat: expected at least one array"):
        bind_arguments(CONCAT, (), {})


def test_none_means_left_out_where_the_attribute_does_not_take_it() -> None:
    _, attrs = bind_arguments(DENSE, ("x",), {"num_hidden": 3, "no_bias": None})
    assert attrs["no_bias"] is False


def test_signature_has_inputs_attributes_and_the_faces_own() -> None:
    extra = [inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None)]
    signature = signature_of(DENSE, extra)
    names = list(signature.parameters)
    assert names[:4] == ["data", "weight", "bias", "num_hidden"]
    assert names[-1] == "out"
    assert signature.parameters["flatten"].default is True
    concat = signature_of(CONCAT, extra)
    assert concat.parameters["data"].kind is inspect.Parameter.VAR_POSITIONAL
    assert concat.parameters["dim"].kind is inspect.Parameter.KEYWORD_ONLY


def test_docstring_tells_every_argument() -> None:
    text = docstring_of(DENSE)
    assert text.split()[: len(DENSE.doc.split())] == DENSE.doc.split()
    for name in (*DENSE.inputs, *DENSE.schema.attributes):
        assert f"    {name}: " in text
