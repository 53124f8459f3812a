import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn import pooling as planned
from gluonish.kernels.onednn.plan import Plan
from gluonish.ops.kernel import Array
from gluonish.ops.nn.pooling import POOLING
from tests.kernels.onednn.planned import channels_last, parsed, run

Close = Callable[[Array, Array], None]

CASES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "2x2": ((2, 3, 8, 8), {"kernel": (2, 2), "stride": (2, 2)}),
    "padded": ((2, 5, 7, 9), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
    "asymmetric": ((1, 4, 9, 6), {"kernel": (4, 2), "stride": (1, 3), "pad": (2, 0)}),
    "stride beyond kernel": ((1, 2, 11, 11), {"kernel": (2, 2), "stride": (4, 3)}),
    "no stride": ((1, 17, 5, 5), {"kernel": (2, 3)}),
    "1-D": ((2, 3, 13), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    "3-D": ((1, 2, 5, 6, 7), {"kernel": (2, 3, 2), "stride": (2, 2, 1), "pad": (0, 1, 1)}),
    "global": ((2, 3, 4, 5), {"global_pool": True}),
    "global with kernel": ((2, 3, 4, 5), {"global_pool": True, "kernel": (9, 9), "pad": (1, 1)}),
    "global 3-D": ((1, 3, 3, 4, 5), {"global_pool": True}),
}


def pooling(out: Array, data: Array, **given: Any) -> Plan:
    return run(planned.pooling, [out], [data], parsed(POOLING, **given))


def pooling_backward(out: Array, grad: Array, data: Array, **given: Any) -> Plan:
    attrs = parsed(POOLING, **given)
    return run(planned.pooling_backward, [out], [grad, data, grad], attrs)


KINDS = [("max", True), ("avg", True), ("avg", False), ("avg", None)]


def _window(data: Array, attributes: dict[str, Any]) -> tuple[Any, Any, Any]:
    spatial = data.shape[2:]
    ones = (1,) * len(spatial)
    zeros = (0,) * len(spatial)
    if attributes.get("global_pool"):
        return spatial, ones, zeros
    return attributes["kernel"], attributes.get("stride", ones), attributes.get("pad", zeros)


def _pooled_shape(data: Array, attributes: dict[str, Any]) -> tuple[int, ...]:
    up = attributes.get("pooling_convention") == "full"
    sizes = zip(data.shape[2:], *_window(data, attributes), strict=True)
    spans = [(n + 2 * p - k, s) for n, k, s, p in sizes]
    return (*data.shape[:2], *((-(-span // s) if up else span // s) + 1 for span, s in spans))


def _reference(
    data: Array, grad: Array | None, shape: tuple[int, ...], attributes: dict[str, Any]
) -> tuple[Array, Array]:
    """The pooled data and the gradient for the data, in float64, one window at a time."""
    kernel, stride, pad = _window(data, attributes)
    values = data.astype(np.float64)
    out, back = np.zeros(shape), np.zeros(values.shape)
    for index in itertools.product(*map(range, shape)):
        places = list(zip(index[2:], kernel, stride, pad, data.shape[2:], strict=True))
        window = tuple(slice(max(i * s - p, 0), min(i * s - p + k, n)) for i, k, s, p, n in places)
        place = (*index[:2], *window)
        inside = values[place]  # type: ignore[index]
        share = 1.0 if grad is None else float(grad[index])
        if attributes["pool_type"] == "max":
            winner = np.unravel_index(np.argmax(inside), inside.shape)
            out[index] = inside[winner]
            back[place][winner] += share  # type: ignore[index]
        else:
            exclude = attributes["count_include_pad"] is False
            count = inside.size if exclude else int(np.prod(kernel))
            out[index] = inside.sum() / count
            back[place] += share / count  # type: ignore[index]
    return out, back


def _check(data: Array, attributes: dict[str, Any], close: Close) -> None:
    shape = _pooled_shape(data, attributes)
    out, back = np.full(shape, np.nan, data.dtype), np.full_like(data, np.nan)
    grad = np.random.default_rng(9).standard_normal(shape).astype(data.dtype)
    expected, expected_back = _reference(data, grad, shape, attributes)
    pooling(out, data, **attributes)
    close(out, expected)
    pooling_backward(back, grad, data, **attributes)
    close(back, expected_back)


@pytest.mark.parametrize(("pool_type", "count_include_pad"), KINDS)
@pytest.mark.parametrize("name", CASES)
def test_forward_and_backward(
    name: str, pool_type: str, count_include_pad: bool | None, dtype: Any, close: Close
) -> None:
    shape, given_attributes = CASES[name]
    kind = {"pool_type": pool_type, "count_include_pad": count_include_pad}
    data = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    _check(data, {**given_attributes, **kind}, close)


@pytest.mark.parametrize(("pool_type", "count_include_pad"), [("max", True), ("avg", False)])
def test_the_full_convention_rounds_up(
    pool_type: str, count_include_pad: bool, dtype: Any, close: Close
) -> None:
    attributes = {
        "kernel": (3, 3),
        "stride": (2, 2),
        "pooling_convention": "full",
        "pool_type": pool_type,
        "count_include_pad": count_include_pad,
    }
    data = np.random.default_rng(1).standard_normal((2, 3, 8, 6)).astype(dtype)
    assert _pooled_shape(data, attributes)[2:] == (4, 3)
    _check(data, attributes, close)


@given(
    lengths=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    stride=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    pad=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    kind=st.sampled_from(KINDS),
    convention=st.sampled_from(["valid", "full"]),
)
def test_what_is_not_refused_is_computed_right(
    lengths: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int],
    kind: tuple[str, bool | None],
    convention: str,
) -> None:
    attributes = {
        "kernel": kernel,
        "stride": stride,
        "pad": pad,
        "pool_type": kind[0],
        "count_include_pad": kind[1],
        "pooling_convention": convention,
    }
    data = np.random.default_rng(2).standard_normal((1, 3, *lengths), dtype=np.float32)
    shape = _pooled_shape(data, attributes)
    if min(shape) < 1:
        return
    out, back = np.full(shape, np.nan, np.float32), np.full_like(data, np.nan)
    try:
        pooling(out, data, **attributes)
    except RefusedError:
        return
    expected, expected_back = _reference(data, None, shape, attributes)
    pooling_backward(back, np.ones_like(out), data, **attributes)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(back, expected_back, rtol=1e-5, atol=1e-5)


def test_the_first_of_equal_elements_gets_the_gradient() -> None:
    data, grad = np.zeros((1, 1, 4, 4), np.float32), np.arange(1, 5, dtype=np.float32)
    out = np.full_like(data, np.nan)
    attributes = {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"}
    pooling_backward(out, grad.reshape(1, 1, 2, 2), data, **attributes)
    expected = [[1, 0, 2, 0], [0, 0, 0, 0], [3, 0, 4, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(out[0, 0], expected)


@pytest.mark.parametrize(("pool_type", "count_include_pad"), KINDS)
def test_channels_last_data(pool_type: str, count_include_pad: bool | None, close: Close) -> None:
    data = np.random.default_rng(3).standard_normal((2, 8, 8, 3), dtype=np.float32)
    attributes = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": pool_type}
    attributes["count_include_pad"] = count_include_pad  # type: ignore[assignment]
    _check(data.transpose(0, 3, 1, 2), attributes, close)


@pytest.mark.parametrize("pool_type", ["max", "avg"])
def test_rows_with_gaps(pool_type: str, close: Close) -> None:
    data = np.random.default_rng(3).standard_normal((2, 3, 16, 16), dtype=np.float32)
    attributes = {"kernel": (2, 2), "pool_type": pool_type, "count_include_pad": True}
    _check(data[:, :, ::2, 1::2], attributes, close)


@pytest.mark.parametrize(
    ("pooled", "attributes"),
    [
        ((2, 2), {"kernel": (3, 3), "stride": (2, 2), "pool_type": "avg"}),
        ((3, 3), {"kernel": (2, 2), "stride": (3, 3), "pool_type": "max"}),
    ],
    ids=["average over a window that leaves the padding", "window without data"],
)
def test_full_windows_that_mxnet_counts_otherwise_are_refused(
    pooled: tuple[int, int], attributes: dict[str, Any]
) -> None:
    data, out = np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, *pooled), np.float32)
    with pytest.raises(RefusedError, match="counts as MXNet does"):
        pooling(out, data, pooling_convention="full", **attributes)


@pytest.mark.parametrize(("pool_type", "steps"), [("max", 2), ("avg", 1)])
def test_channels_last_arrays_are_not_reordered(pool_type: str, steps: int) -> None:
    data, out = (channels_last(np.ones((2, 16, n, n), np.float32)) for n in (8, 4))
    attributes = {"kernel": (2, 2), "stride": (2, 2), "pool_type": pool_type}
    assert len(pooling(out, data, **attributes).steps) == 1
    assert len(pooling_backward(data, out, data.copy(order="K"), **attributes).steps) == steps


def test_a_wrong_output_shape_is_refused_with_the_reason() -> None:
    data, out = np.ones((1, 1, 4, 4), np.float32), np.ones((1, 2, 3, 3), np.float32)
    with pytest.raises(RefusedError, match=r"pooling_forward.*'invalid_arguments'.*\(1, 2, 3, 3\)"):
        pooling(out, data, kernel=(2, 2))
