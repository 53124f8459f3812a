from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError, ArgumentTypeError

X, Y = (np.array(v, np.float32) for v in ([1, 2, 3], [4, 5, 6]))
x, y = mx.sym.var("x"), mx.sym.var("y")
OUT = x * y + x


def wrong_by(error: float) -> Any:
    """A Symbol that is x, and whose gradient is 1 + error."""
    return x * (1 + error) - mx.sym.BlockGrad(x * error)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    np.random.seed(0)  # noqa: NPY002  # the generator of the random weights


def test_numeric_grad_is_the_gradient_of_the_sum() -> None:
    executor = OUT.bind(mx.cpu(), {"x": mx.nd.array(X), "y": mx.nd.array(Y)})
    got = test_utils.numeric_grad(executor, {"x": X, "y": mx.nd.array(Y)}, eps=1e-2)
    np.testing.assert_allclose(got["x"], Y + 1, rtol=1e-3)
    np.testing.assert_allclose(got["y"], X, rtol=1e-3)
    assert got["x"].dtype == np.float32
    np.testing.assert_array_equal(executor.arg_dict["x"].asnumpy(), X)
    double = test_utils.numeric_grad(executor, {"x": X}, None, 1e-2, False, np.float64)
    assert (list(double), double["x"].dtype) == (["x"], np.float64)
    with pytest.raises(ArgumentError, match=r"^numeric_grad: expected names among .* got 'z'"):
        test_utils.numeric_grad(executor, {"z": X})


def test_numeric_grad_starts_each_pass_from_the_same_states() -> None:
    data = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    norm = mx.sym.BatchNorm(mx.sym.var("data"), name="bn", use_global_stats=True)
    one, zero = mx.nd.ones(3), mx.nd.zeros(3)
    executor = norm.bind(mx.cpu(), [mx.nd.array(data), one, zero], aux_states=[zero, one])
    states = {"bn_moving_mean": np.zeros(3), "bn_moving_var": np.full(3, 4.0)}
    got = test_utils.numeric_grad(executor, {"data": data}, states, 1e-2)
    np.testing.assert_allclose(got["data"], np.full((4, 3), 0.5), rtol=1e-2)


@pytest.mark.parametrize("dtype", ["float32", np.float64])
def test_right_gradient_passes(dtype: Any) -> None:
    test_utils.check_numeric_gradient(OUT, [X, Y], dtype=dtype)
    location = {"x": mx.nd.array(X, dtype=dtype), "y": Y}
    test_utils.check_numeric_gradient(OUT, location, dtype=dtype)


@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-2), ("float64", 1e-4)])
def test_wrong_gradient_fails(dtype: str, error: float) -> None:
    test_utils.check_numeric_gradient(wrong_by(0.0), [X], dtype=dtype)
    with pytest.raises(AssertionError, match=r"NUMERICAL_x=.*BACKWARD_x="):
        test_utils.check_numeric_gradient(wrong_by(error), [X], dtype=dtype)
    test_utils.check_numeric_gradient(wrong_by(error), [X], rtol=0.1, dtype=dtype)
    test_utils.check_numeric_gradient(wrong_by(error), [X], atol=0.1, dtype=dtype)


def test_all_outputs_count() -> None:
    group = mx.sym.Group([x * y, wrong_by(0.5)])
    with pytest.raises(AssertionError, match="NUMERICAL_x"):
        test_utils.check_numeric_gradient(group, {"x": X, "y": Y})
    test_utils.check_numeric_gradient(mx.sym.Group([x * y, x + y]), [X, Y])


def test_only_named_arguments_are_checked() -> None:
    wrong = wrong_by(0.5) * y
    test_utils.check_numeric_gradient(wrong, {"x": X, "y": Y}, grad_nodes=["y"])
    with pytest.raises(AssertionError):
        test_utils.check_numeric_gradient(wrong, {"x": X, "y": Y}, grad_nodes=["x"])


def test_requests_are_checked_too() -> None:
    for request in ("write", "add", "null"):
        test_utils.check_numeric_gradient(OUT, [X, Y], grad_nodes={"x": request})
    with pytest.raises(AssertionError):
        test_utils.check_numeric_gradient(wrong_by(0.5), [X], grad_nodes={"x": "add"})


def test_gradient_may_be_sparse() -> None:
    table = np.array([[1, 2], [3, 4]], np.float32)
    test_utils.check_numeric_gradient(x * x, [table], grad_stype_dict={"x": "row_sparse"})


def test_training_is_that_of_the_backward_pass() -> None:
    data = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float64)
    norm = mx.sym.BatchNorm(mx.sym.var("data"), name="bn", fix_gamma=False)
    one, zero = np.ones(3), np.zeros(3)
    given: dict[str, Any] = {"aux_states": [zero, one], "dtype": np.float64, "rtol": 1e-3}
    test_utils.check_numeric_gradient(norm, [data, one, zero], atol=1e-3, **given)
    with pytest.raises(AssertionError):
        test_utils.check_numeric_gradient(
            norm, [data, one, zero], use_forward_train=False, atol=1e-3, **given
        )


def test_step_can_be_chosen() -> None:
    test_utils.check_numeric_gradient(x * x * x, [X], numeric_eps=1e-2)
    with pytest.raises(AssertionError):
        test_utils.check_numeric_gradient(x * x * x, [X], numeric_eps=1.0)


def test_input_keeps_its_values() -> None:
    location: list[Any] = [X.copy(), mx.nd.array(Y)]
    test_utils.check_numeric_gradient(OUT, location)
    np.testing.assert_array_equal(location[0], X)
    np.testing.assert_array_equal(location[1].asnumpy(), Y)


def test_unknown_names_and_types_are_refused() -> None:
    with pytest.raises(ArgumentError, match="grad_req among"):
        test_utils.check_numeric_gradient(OUT, [X, Y], grad_nodes=["z"])
    with pytest.raises(ArgumentTypeError, match="grad_nodes as a list or dict, got str"):
        test_utils.check_numeric_gradient(OUT, [X, Y], grad_nodes="x")
    with pytest.raises(ArgumentError, match="got int32"):
        test_utils.check_numeric_gradient(OUT, [X, Y], dtype="int32")
