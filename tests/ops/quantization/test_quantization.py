"""Facts of quantized operators beyond the golden cases."""

import numpy as np
import pytest

from gluonish import nd
from gluonish.core.errors import OperatorError

RANDOM = np.random.default_rng(0)
contrib = nd.contrib


def quantized(x: np.ndarray, out_type: str = "int8") -> list[nd.NDArray]:
    found: list[nd.NDArray] = contrib.quantize_v2(nd.array(x), out_type=out_type)
    return found


def real(q: nd.NDArray, low: nd.NDArray, high: nd.NDArray) -> np.ndarray:
    """Return the numbers that int32 sums stand for."""
    limit = max(abs(float(low.asscalar())), abs(float(high.asscalar())))
    return q.asnumpy() * (limit / 2147483647)


@pytest.mark.parametrize("out_type", ["int8", "uint8"])
def test_quantizing_and_back_is_off_by_half_a_step_at_most(out_type: str) -> None:
    x = RANDOM.uniform(0, 2, (5, 6)).astype(np.float32)
    back = contrib.dequantize(*quantized(x, out_type)).asnumpy()
    step = x.max() / (127.5 if out_type == "int8" else 255.5)
    assert np.abs(back - x).max() <= step * 1.01


def test_zeros_stay_zeros() -> None:
    q, low, high = quantized(np.zeros((2, 3)))
    assert q.asnumpy().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert contrib.dequantize(q, low, high).asnumpy().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_asymmetric_quantizing_takes_all_of_a_byte() -> None:
    x = RANDOM.uniform(-1, 3, (4, 5, 6)).astype(np.float32)
    q, scale, shift = contrib.quantize_asym(nd.array(x))
    assert (q.asnumpy().min(), q.asnumpy().max()) == (0, 255)
    back = (q.asnumpy() - shift.asnumpy()) / scale.asnumpy()
    np.testing.assert_allclose(back, x, atol=0.51 / float(scale.asscalar()))
    assert (contrib.quantize_asym(nd.ones((2, 3)))[0].asnumpy() == 255).all()


def test_dense_layer_of_bytes_is_near_that_of_floats() -> None:
    x, w, b = (RANDOM.uniform(-1, 1, s).astype(np.float32) for s in ((4, 6), (3, 6), (3,)))
    (qx, *rx), (qw, *rw), (qb, *rb) = map(quantized, (x, w, b))
    found = real(*contrib.quantized_fully_connected(qx, qw, qb, *rx, *rw, *rb, num_hidden=3))
    np.testing.assert_allclose(found, x @ w.T + b, atol=0.06)


@pytest.mark.parametrize("out_type", ["int8", "uint8"])
def test_convolution_of_bytes_is_near_that_of_floats(out_type: str) -> None:
    x = RANDOM.uniform(0, 1, (2, 3, 6, 6)).astype(np.float32)
    w, b = (RANDOM.uniform(-1, 1, s).astype(np.float32) for s in ((4, 3, 3, 3), (4,)))
    (qx, *rx), (qw, *rw), (qb, *rb) = quantized(x, out_type), quantized(w), quantized(b)
    attrs = {"kernel": (3, 3), "num_filter": 4, "pad": (1, 1)}
    found = real(*contrib.quantized_conv(qx, qw, qb, *rx, *rw, *rb, **attrs))
    want = nd.Convolution(nd.array(x), nd.array(w), nd.array(b), **attrs).asnumpy()
    np.testing.assert_allclose(found, want, atol=0.15)


def test_products_of_bytes_are_near_those_of_floats() -> None:
    x, y = (RANDOM.uniform(-1, 1, (3, 4)).astype(np.float32) for _ in range(2))
    (qx, *rx), (qy, *ry) = quantized(x), quantized(y)
    found = real(*contrib.quantized_elemwise_mul(qx, qy, *rx, *ry))
    np.testing.assert_allclose(found, x * y, atol=0.02)
    floats = contrib.quantized_elemwise_mul(qx, qy, *rx, *ry, enable_float_output=True)
    np.testing.assert_allclose(floats.asnumpy(), x * y, atol=0.02)  # type: ignore[attr-defined]


def test_sum_with_uint8_and_int8_counts_both() -> None:
    x, y = RANDOM.uniform(0, 1, 5).astype(np.float32), RANDOM.uniform(-1, 1, 5).astype(np.float32)
    (qx, *rx), (qy, *ry) = quantized(x, "uint8"), quantized(y)
    found = real(*contrib.quantized_elemwise_add(qx, qy, *rx, *ry))
    np.testing.assert_allclose(found, x + y, atol=0.02)


def test_recurrent_layer_of_bytes_is_near_that_of_floats() -> None:
    x = RANDOM.uniform(-1, 1, (3, 2, 4)).astype(np.float32)
    parameters = nd.array(RANDOM.normal(0, 0.3, 4 * 5 * (4 + 5 + 2)))
    states = [nd.zeros((1, 2, 5)), nd.zeros((1, 2, 5))]
    attrs = {"state_size": 5, "num_layers": 1, "mode": "lstm", "state_outputs": True}
    q, scale, shift = contrib.quantize_asym(nd.array(x))
    found = contrib.quantized_rnn(q, parameters, *states, scale, shift, **attrs)
    want = nd.RNN(nd.array(x), parameters, *states, **attrs)
    for got, expected in zip(found, want, strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected.asnumpy(), atol=0.01)


def test_calibration_leaves_out_the_far_ends() -> None:
    sample = RANDOM.normal(0, 1, 20_000)
    sample[:3] = 40  # would take all steps but a few
    counts, edges = np.histogram(sample, bins=2001, range=(-40, 40))
    threshold, divergence = contrib.calibrate_entropy(nd.array(counts), nd.array(edges))
    assert 2.5 < float(threshold.asscalar()) < 8
    assert 0 < float(divergence.asscalar()) < 0.1


def test_range_that_is_half_given_is_refused() -> None:
    with pytest.raises(OperatorError, match="min_calib_range and max_calib_range"):
        contrib.quantize_v2(nd.ones(3), min_calib_range=-1)


def test_concat_counts_its_arrays_without_their_ranges() -> None:
    (qx, *rx), (qy, *ry) = quantized(np.ones((1, 2))), quantized(2 * np.ones((1, 2)))
    q, low, high = contrib.quantized_concat(qx, qy, *rx, *ry)
    assert (q.shape, high.asscalar()) == ((1, 4), 2)
    np.testing.assert_allclose(real_bytes(q, high), [[1, 1, 2, 2]], rtol=0.01)
    with pytest.raises(OperatorError, match="a minimum and a maximum for each"):
        contrib.quantized_concat(qx, qy, *rx, low)


def real_bytes(q: nd.NDArray, high: nd.NDArray) -> np.ndarray:
    return q.asnumpy() * (float(high.asscalar()) / 127)
