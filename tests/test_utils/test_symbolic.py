from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import test_utils
from gluonish.core.errors import ArgumentError, ArgumentTypeError

X, Y, G = (np.array(v, np.float32) for v in ([1, 2, 3], [4, 5, 6], [1, 1, 2]))
x, y = mx.sym.var("x"), mx.sym.var("y")
OUT = x * y + x
DX, DY = G * (Y + 1), G * X
NORM = mx.sym.BatchNorm(mx.sym.var("data"), name="bn", fix_gamma=False, eps=1e-3)
ONE, ZERO = np.ones(3, np.float32), np.zeros(3, np.float32)
DATA = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


def test_simple_forward_gives_numpy_arrays() -> None:
    np.testing.assert_array_equal(test_utils.simple_forward(OUT, x=X, y=mx.nd.array(Y)), X * Y + X)
    both = test_utils.simple_forward(mx.sym.Group([x + y, x * y]), x=X, y=Y.astype("float64"))
    np.testing.assert_array_equal(both, [X + Y, X * Y])
    assert both[0].dtype == np.float32
    moments: dict[str, Any] = {"bn_moving_mean": ZERO, "bn_moving_var": ONE}
    got = test_utils.simple_forward(NORM, data=DATA, bn_gamma=ONE, bn_beta=ZERO, **moments)
    np.testing.assert_allclose(got, DATA / np.sqrt(1.001), rtol=1e-5)


@pytest.mark.parametrize("inputs", [{"x": X}, {"x": X, "y": Y, "z": X}])
def test_simple_forward_wants_all_inputs_and_no_others(inputs: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"^simple_forward: expected location"):
        test_utils.simple_forward(OUT, **inputs)


@pytest.mark.parametrize("location", [[X, Y], (X, Y), {"x": X, "y": mx.nd.array(Y)}])
def test_right_outputs_pass(location: Any) -> None:
    (got,) = test_utils.check_symbolic_forward(OUT, location, [X * Y + X])
    np.testing.assert_array_equal(got.asnumpy(), X * Y + X)
    test_utils.check_symbolic_forward(OUT, location, {OUT.list_outputs()[0]: X * Y + X})


def test_wrong_outputs_fail_with_their_name() -> None:
    name = OUT.list_outputs()[0]
    with pytest.raises(AssertionError, match=f"EXPECTED_{name}=.*FORWARD_{name}="):
        test_utils.check_symbolic_forward(OUT, [X, Y], [X * Y + X + 1])
    test_utils.check_symbolic_forward(OUT, [X, Y], [X * Y + X + 1], rtol=0.5)
    test_utils.check_symbolic_forward(OUT, [X, Y], [X * Y + X + 1], atol=1.1)


def test_dtype_of_the_check_is_that_of_the_arrays() -> None:
    for dtype in ("float16", "float32", "float64"):
        (got,) = test_utils.check_symbolic_forward(OUT, [X, Y], [X * Y + X], dtype=dtype)
        assert np.dtype(got.dtype) == dtype
    doubles = [X.astype("float64"), Y.astype("float64")]
    (got,) = test_utils.check_symbolic_forward(OUT, doubles, [X * Y + X], dtype="asnumpy")
    assert got.dtype is np.float64
    with pytest.raises(ArgumentError, match="dtype to be one of float16, float32, float64"):
        test_utils.check_symbolic_forward(OUT, [X, Y], [X], dtype="int32")


def test_nan_is_equal_on_request() -> None:
    nan = np.array([np.nan], np.float32)
    test_utils.check_symbolic_forward(x + 0, [nan], [nan], equal_nan=True)
    with pytest.raises(AssertionError):
        test_utils.check_symbolic_forward(x + 0, [nan], [nan])


@pytest.mark.parametrize("states", [[ZERO, ONE], {"bn_moving_mean": ZERO, "bn_moving_var": ONE}])
def test_auxiliary_states_come_in_order_or_by_name(states: Any) -> None:
    expected = [DATA / np.sqrt(1.001)]
    test_utils.check_symbolic_forward(NORM, [DATA, ONE, ZERO], expected, aux_states=states)
    for wrong in (None, [ZERO], {"bn_moving_mean": ZERO, "other": ONE}):
        with pytest.raises(ArgumentError, match="expected aux_states"):
            test_utils.check_symbolic_forward(NORM, [DATA, ONE, ZERO], expected, aux_states=wrong)


@pytest.mark.parametrize("location", [[X], [X, Y, X], {"x": X}, {"x": X, "z": Y}])
def test_location_must_fit(location: Any) -> None:
    for check in (
        lambda: test_utils.check_symbolic_forward(OUT, location, [X]),
        lambda: test_utils.check_symbolic_backward(OUT, location, [G], [DX]),
        lambda: test_utils.check_numeric_gradient(OUT, location),
    ):
        with pytest.raises(ArgumentError, match="expected location"):
            check()


@pytest.mark.parametrize("location", [X, [[1, 2, 3], Y]])
def test_location_must_hold_arrays(location: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        test_utils.check_symbolic_forward(OUT, location, [X])


@pytest.mark.parametrize("request_", ["write", "add"])
def test_right_gradients_pass_and_wrong_ones_fail(request_: str) -> None:
    got = test_utils.check_symbolic_backward(OUT, [X, Y], [G], [DX, DY], grad_req=request_)
    assert sorted(got) == ["x", "y"]
    test_utils.check_symbolic_backward(OUT, [X, Y], (mx.nd.array(G),), {"y": DY})
    with pytest.raises(AssertionError, match=r"EXPECTED_y=.*BACKWARD_y="):
        test_utils.check_symbolic_backward(OUT, [X, Y], [G], [DX, DY * 2], grad_req=request_)


def test_gradients_that_are_not_asked_for_stay() -> None:
    requests = {"x": "null", "y": "add"}
    for grad_req in (requests, list(requests.values())):
        got = test_utils.check_symbolic_backward(
            OUT, [X, Y], [G], {"x": DX, "y": DY}, grad_req=grad_req
        )
        assert got["x"].asnumpy().std() > 0


def test_gradients_of_outputs_come_by_name() -> None:
    heads = {OUT.list_outputs()[0]: G}
    test_utils.check_symbolic_backward(OUT, [X, Y], heads, [DX, DY])
    with pytest.raises(AssertionError):
        test_utils.check_symbolic_backward(OUT, [X, Y], {next(iter(heads)): G * 2}, [DX, DY])
    with pytest.raises(ArgumentError, match="not a loss"):
        test_utils.check_symbolic_backward(OUT, [X, Y], None, [DX, DY])
    with pytest.raises(ArgumentTypeError, match="out_grads as a list"):
        test_utils.check_symbolic_backward(OUT, [X, Y], G, [DX, DY])  # type: ignore[arg-type]  # refused


def test_losses_need_no_gradients_of_outputs() -> None:
    loss = mx.sym.MakeLoss(x * x)
    test_utils.check_symbolic_backward(loss, [X], None, [2 * X])


def test_gradient_has_its_storage_type() -> None:
    table = np.array([[1, 2], [3, 4]], np.float32)
    got = test_utils.check_symbolic_backward(
        x * 2, [table], [table], [2 * table], grad_stypes={"x": "row_sparse"}
    )
    assert got["x"].stype == "row_sparse"


@pytest.mark.parametrize("grad_req", ["other", {"z": "write"}, ["write"] * 3])
def test_unknown_requests_are_refused(grad_req: Any) -> None:
    with pytest.raises(ArgumentError, match="expected grad_req"):
        test_utils.check_symbolic_backward(OUT, [X, Y], [G], [DX], grad_req=grad_req)


def test_speed_is_a_time() -> None:
    assert 0 < test_utils.check_speed(OUT, {"x": X, "y": Y}, N=2) < 1
    assert 0 < test_utils.check_speed(OUT, N=1, typ="forward", x=(3,), y=(3,)) < 1
    assert 0 < test_utils.check_speed(OUT, N=1, grad_req="add", x=(3,), y=(3,)) < 1
    refused: Any = (({"typ": "backward"}, "typ"), ({"N": 0}, "N of at least 1"))
    for options, match in refused:
        with pytest.raises(ArgumentError, match=match):
            test_utils.check_speed(OUT, {"x": X, "y": Y}, **options)
    with pytest.raises(ArgumentTypeError, match="location as a dict, got list"):
        test_utils.check_speed(OUT, [X, Y])  # type: ignore[arg-type]  # refused


def test_structure_is_the_order_of_operators() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    assert test_utils.same_symbol_structure(OUT, a * b + a)
    assert not test_utils.same_symbol_structure(OUT, a * b - a)
    assert not test_utils.same_symbol_structure(OUT, a * b)
