import numpy as np
import pytest

import gluonish as mx


def make() -> tuple[mx.nd.CachedOp, list[mx.nd.NDArray]]:  # type: ignore[name-defined]
    x, y = mx.sym.var("x"), mx.sym.var("y")
    return mx.nd.CachedOp(x * y + x, [("static_alloc", "true")]), [  # type: ignore[attr-defined]
        mx.nd.array([1.0, 2.0]),
        mx.nd.array([3.0, 4.0]),
    ]


def test_call_computes_and_is_recorded() -> None:
    op, arrays = make()
    arrays[0].attach_grad()
    with mx.autograd.record():
        z = op(*arrays)
    z.backward()
    np.testing.assert_array_equal(z.asnumpy(), [4, 10])
    assert arrays[0].grad is not None
    np.testing.assert_array_equal(arrays[0].grad.asnumpy(), [4, 5])


def test_out_receives_the_result() -> None:
    op, arrays = make()
    out = mx.nd.zeros((2,))
    assert op(*arrays, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), [4, 10])


def test_wrong_number_of_arrays_is_refused() -> None:
    op, arrays = make()
    with pytest.raises(ValueError, match="CachedOp: expected 2 arrays"):
        op(arrays[0])


@pytest.mark.parametrize(
    ("flags", "operators"),
    [
        ({}, 1),
        ({"inline_limit": 4}, 4),
        ({"inline_limit": "9"}, 4),
        ({"inline_limit": 9, "static_alloc": True}, 1),
    ],
)
def test_more_operators_than_the_limit_are_one_node(
    flags: dict[str, object], operators: int
) -> None:  # as MXNet 1.9.1
    op = mx.nd.CachedOp(mx.sym.exp(mx.sym.relu(mx.sym.var("a") * 2 + 1)), flags)  # type: ignore[attr-defined]
    x = mx.nd.ones((2,))
    x.attach_grad()
    with mx.autograd.record():
        y = op(x)
    assert len(mx.autograd.get_symbol(y).get_internals().list_outputs()) == 1 + operators


def test_a_limit_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="CachedOp: expected inline_limit to be a whole number"):
        mx.nd.CachedOp(mx.sym.var("a"), {"inline_limit": "few"})  # type: ignore[attr-defined]
