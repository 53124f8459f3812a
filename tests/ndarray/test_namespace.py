import inspect

import pytest

import gluonish.ndarray as nd
from gluonish.core.context import cpu
from gluonish.core.errors import OperatorError


def test_operator_is_a_function_with_signature_and_docstring() -> None:
    signature = inspect.signature(nd.FullyConnected)
    assert list(signature.parameters)[:4] == ["data", "weight", "bias", "num_hidden"]
    assert signature.parameters["no_bias"].default is False
    assert nd.FullyConnected.__name__ == "FullyConnected"
    assert "num_hidden" in nd.FullyConnected.__doc__  # type: ignore[operator]


def test_function_is_made_once() -> None:
    assert nd.relu is nd.relu


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_operator"):
        nd.no_such_operator  # type: ignore[attr-defined]  # noqa: B018


def test_directory_lists_functions_and_operators() -> None:
    names = dir(nd)
    assert {"relu", "zeros", "NDArray", "FullyConnected"} <= set(names)


def test_inputs_may_come_by_name_and_name_is_ignored() -> None:
    assert nd.relu(data=nd.array([-1, 1]), name="act").tolist() == [0, 1]


def test_missing_input_is_named() -> None:
    with pytest.raises(OperatorError, match="expected an array for data, got none"):
        nd.relu()  # type: ignore[call-arg]
    with pytest.raises(OperatorError, match="FullyConnected: expected an array for weight"):
        nd.FullyConnected(nd.ones((2, 2)), num_hidden=2)


@pytest.mark.parametrize("ctx", [cpu(1), "cpu(1)"])
def test_operator_without_inputs_takes_a_context(ctx: object) -> None:
    assert nd._zeros(shape=(2,), ctx=ctx).context == cpu(1)  # type: ignore[attr-defined]
    assert nd.random_uniform(shape=(2,), ctx=ctx).context == cpu(1)


def test_variadic_operator_takes_arrays_or_a_list() -> None:
    x = nd.ones((1, 2))
    assert nd.concat(x, x, dim=0).shape == nd.concat(*[x, x], dim=0).shape == (2, 2)
    assert nd.add_n(x, x, x).tolist() == [[3, 3]]


def test_docstring_tells_what_the_face_adds() -> None:
    doc = nd.FullyConnected.__doc__
    assert doc is not None
    assert "    name: Accepted; only Symbols have names.\n" in doc
    assert "    out: NDArray that the result is written to" in doc


def test_operators_have_modules_of_their_own() -> None:
    assert nd.op.relu is nd.relu
    assert "relu" in dir(nd.op)
    assert nd._internal._plus_scalar(nd.ones((2,)), scalar=1).tolist() == [2, 2]
    with pytest.raises(AttributeError, match="no_such_operator"):
        _ = nd.op.no_such_operator  # type: ignore[attr-defined]
