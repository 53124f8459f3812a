"""all_finite over several calls."""

import gluonish as mx


def test_zero_in_out_stays_without_init_output() -> None:
    out = mx.nd.zeros((1,))
    mx.nd.all_finite(mx.nd.ones((2,)), init_output=False, out=out)
    assert out.asscalar() == 0
    mx.nd.all_finite(mx.nd.ones((2,)), out=out)
    assert out.asscalar() == 1


def test_infinity_in_any_array_counts() -> None:
    arrays = [mx.nd.ones((2,)), mx.nd.array([[1, float("inf")]])]
    assert mx.nd.multi_all_finite(*arrays, num_arrays=2).asscalar() == 0
