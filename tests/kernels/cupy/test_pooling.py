"""Pooling on the double: launches do not grow with the window, and nothing is uploaded."""

import math
from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.kernels.cupy import pooling, source
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD
from tests.checking.values import spec_of
from tests.kernels.cupy import functions
from tests.kernels.cupy.one_device import COMPILED, DTYPES, OneDevice

SMALL = np.random.default_rng(4)


@pytest.mark.parametrize(("kind", "forward", "backward"), [("max", 2, 7), ("avg", 4, 2)])
def test_global_pooling_takes_as_many_launches_for_any_size(
    device: OneDevice, kind: str, forward: int, backward: int
) -> None:
    for extent in (2, 9):
        data = SMALL.standard_normal((2, 3, extent, extent)).astype(np.float32)
        attrs = {"global_pool": True, "pool_type": kind}
        device.check(POOLING, data, **attrs)
        (out,) = device.run(POOLING, data, **attrs)
        grad = SMALL.standard_normal(out.shape).astype(np.float32)
        device.check(POOLING_BACKWARD, grad, data, out, **attrs)
        assert device.launches_of(POOLING, data, **attrs) <= forward
        assert device.launches_of(POOLING_BACKWARD, grad, data, out, **attrs) <= backward


@pytest.mark.parametrize(
    "attrs",
    [
        {"kernel": (3, 3), "pad": (1, 1)},
        {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 1), "count_include_pad": False},
        {"kernel": (3, 2), "stride": (2, 3), "pooling_convention": "full"},
        {"global_pool": True},
    ],
)
def test_means_upload_nothing(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch, attrs: dict[str, Any]
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("an upload")

    monkeypatch.setattr(functions, "upload", refuse)
    data = SMALL.standard_normal((2, 3, 6, 7)).astype(np.float32)
    device.check(POOLING, data, **attrs, pool_type="avg")
    (out,) = device.run(POOLING, data, **attrs, pool_type="avg")
    device.check(POOLING_BACKWARD, out, data, out, **attrs, pool_type="avg")


WINDOWS = [
    ((2, 3, 9), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    ((2, 3, 6, 7), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
    ((2, 3, 6, 7), {"kernel": (3, 2), "stride": (2, 3), "pooling_convention": "full"}),
    ((1, 2, 5, 6), {"kernel": (2, 3), "stride": (2, 2), "pooling_convention": "same"}),
    ((1, 2, 4, 5, 6), {"kernel": (2, 3, 2), "stride": (1, 2, 2), "pad": (1, 1, 0)}),
    ((1, 1, 1, 1), {"kernel": (1, 1)}),
    ((2, 2, 9, 8), {"kernel": (2, 2), "stride": (3, 4)}),
    ((1, 2, 12, 11), {"kernel": (9, 9), "stride": (2, 1), "pad": (4, 3)}),
    ((2, 3, 4, 5), {"global_pool": True}),
]


@COMPILED
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["max", "avg", "sum"])
@pytest.mark.parametrize(("shape", "attrs"), WINDOWS)
def test_windows_equal_the_reference(
    device: OneDevice, dtype: Any, kind: str, shape: Any, attrs: Any
) -> None:
    for flag in (True, False) if kind == "avg" else (None,):
        given = {**attrs, "pool_type": kind, "count_include_pad": flag}
        data = np.random.default_rng(2).integers(-3, 4, shape).astype(dtype)  # with equal maxima
        device.check(POOLING, data, **given)
        (out,) = device.run(POOLING, data, **given)
        grad = np.random.default_rng(3).standard_normal(out.shape).astype(dtype)
        device.check(POOLING_BACKWARD, grad, data, out, **given)
        assert device.launches_of(POOLING, data, **given) == 1
        launches = 2 if given["pool_type"] == "max" else 1
        assert device.launches_of(POOLING_BACKWARD, grad, data, out, **given) == launches


@COMPILED
def test_numbers_that_are_none_and_infinities(device: OneDevice) -> None:
    data = np.random.default_rng(2).standard_normal((1, 1, 6, 7)).astype(np.float32)
    data[0, 0, 1, 2], data[0, 0, 4] = np.nan, -np.inf
    given = {"kernel": (2, 2), "stride": (2, 2), "pad": (1, 1)}
    device.check(POOLING, data, **given)
    (out,) = device.run(POOLING, data, **given)
    device.check(POOLING_BACKWARD, out * 0 + 1, data, out, **given)


def test_large_windows_and_norms_are_left_alone() -> None:
    plain = POOLING.schema.parse("Pooling", {"global_pool": True})

    def chosen(*shape: int, **attrs: Any) -> Any:
        spec = Spec(shape, np.dtype(np.float32))
        return POOLING.select_fast("gpu", [spec], {**plain, **attrs})

    assert chosen(2, 3, 7, 7) is not None
    assert chosen(2, 3, 112, 112) is None
    assert chosen(2, 7, 7, 3, layout="NHWC") is not None
    assert chosen(2, 112, 112, 3, layout="NHWC") is None
    assert chosen(2, 3, 7, 7, pool_type="lp", p_value=2) is None


@COMPILED
def test_maxima_that_are_infinite_or_no_numbers_hand_on_what_the_reference_does(
    device: OneDevice,
) -> None:
    attrs = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1), "pool_type": "max"}
    data = SMALL.choice([-np.inf, np.inf, np.nan, 0, 1], (2, 2, 8, 7)).astype(np.float32)
    data[0] = -np.inf
    (out,) = device.run(POOLING, data, **attrs)
    grad = SMALL.standard_normal(out.shape).astype(np.float32)
    device.check(POOLING_BACKWARD, grad, data, out, **attrs)


def channels_last(device: OneDevice, values: Any) -> Any:
    """Return an array (N, C, ...) whose channels are innermost in memory."""
    made = device.upload(np.moveaxis(values, 1, -1).copy())
    return made.transpose(0, values.ndim - 1, *range(1, values.ndim - 1))


def call(device: OneDevice, op: Any, out: Any, inputs: Any, **given: Any) -> int:
    """Fill ``out``, and return the number of launches."""
    attrs = op.schema.parse(op.name, given)
    fast = op.select_fast("gpu", [spec_of(x) for x in inputs], attrs)
    assert fast is not None
    before = device.launches
    fast.kernel(device.cupy, out, *inputs, **attrs)
    return device.launches - before


LAST = [
    ((2, 16, 7, 6), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}),
    ((2, 12, 6, 7), {"kernel": (3, 2), "stride": (2, 3), "pooling_convention": "full"}),
    ((3, 5, 9), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    ((2, 8, 3, 4, 3), {"kernel": (2, 3, 2), "pad": (1, 1, 0)}),
    ((2, 600, 5, 4), {"global_pool": True}),
]


@COMPILED
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(("shape", "attrs"), LAST)
def test_channels_last_in_memory_takes_no_copies(
    device: OneDevice,
    monkeypatch: pytest.MonkeyPatch,
    dtype: Any,
    kind: str,
    shape: Any,
    attrs: Any,
) -> None:
    vectors = []
    plain = source.launch_blocks

    def noted(*args: Any, **kwargs: Any) -> None:
        vectors.append(dict(args[7])["VECTOR"])
        plain(*args, **kwargs)

    given = {**attrs, "pool_type": kind, "count_include_pad": False}
    data = np.random.default_rng(2).integers(-3, 4, shape).astype(dtype)  # with equal maxima
    (wanted,) = device.run(POOLING, data, **given)
    grad = np.random.default_rng(3).standard_normal(wanted.shape).astype(dtype)
    (wanted_grad,) = device.run(POOLING_BACKWARD, grad, data, wanted, **given)
    monkeypatch.setattr(pooling, "launch_blocks", noted)
    datas, grads = channels_last(device, data), channels_last(device, grad)
    out, result = channels_last(device, wanted * 0), channels_last(device, data * 0)
    assert call(device, POOLING, out, (datas,), **given) == 1
    launches = call(device, POOLING_BACKWARD, result, (grads, datas, out), **given)
    assert launches == 1 + (kind == "max")
    widest = math.gcd(shape[1], 16 // np.dtype(dtype).itemsize)
    assert vectors == [widest] * (1 + launches)
    tolerance = {2: 1e-2, 4: 1e-6, 8: 1e-12}[np.dtype(dtype).itemsize]
    for got, want in ((out, wanted), (result, wanted_grad)):
        near = {"rtol": tolerance, "atol": tolerance}
        np.testing.assert_allclose(got._raw.astype(float), want.astype(float), **near)


@COMPILED
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_another_memory_order_of_outputs_costs_one_copy(device: OneDevice, kind: str) -> None:
    given = {"kernel": (2, 2), "stride": (2, 2), "pool_type": kind}
    data = np.random.default_rng(2).standard_normal((2, 4, 4, 6)).astype(np.float32)
    (wanted,) = device.run(POOLING, data, **given)
    out = device.upload(wanted * 0)
    assert call(device, POOLING, out, (channels_last(device, data),), **given) == 2
    np.testing.assert_array_equal(out._raw, wanted)
    (wanted_grad,) = device.run(POOLING_BACKWARD, wanted, data, wanted, **given)
    inputs = (device.upload(wanted), device.upload(data), device.upload(wanted))
    result = channels_last(device, data * 0)
    assert call(device, POOLING_BACKWARD, result, inputs, **given) <= 3
    np.testing.assert_array_equal(result._raw, wanted_grad)


@COMPILED
@pytest.mark.parametrize("kind", ["max", "avg", "sum"])
@pytest.mark.parametrize("attrs", [{"kernel": (3, 2), "pad": (1, 1)}, {"global_pool": True}])
def test_the_layout_with_channels_last_equals_the_reference(
    device: OneDevice, kind: str, attrs: Any
) -> None:
    given = {**attrs, "pool_type": kind, "layout": "NHWC"}
    data = np.random.default_rng(2).standard_normal((2, 5, 6, 8)).astype(np.float32)
    device.check(POOLING, data, **given)
    (out,) = device.run(POOLING, data, **given)
    grad = np.random.default_rng(3).standard_normal(out.shape).astype(np.float32)
    device.check(POOLING_BACKWARD, grad, data, out, **given)
    assert device.launches_of(POOLING, data, **given) == 1


@COMPILED
def test_unaligned_views_and_numbers_of_64_bits_give_the_same(
    device: OneDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": "max"}
    data = np.random.default_rng(2).standard_normal((2, 8, 5, 6)).astype(np.float16)
    turned = np.moveaxis(data, 1, -1)
    odd = device.upload(np.append(np.float16(0), turned))[1:].reshape(turned.shape)
    views = [channels_last(device, data), odd.transpose(0, 3, 1, 2), channels_last(device, data)]
    found = []
    for i, view in enumerate(views):
        monkeypatch.setattr(pooling, "_LIMIT_32", 1 if i == 2 else 2**31)
        out = channels_last(device, np.zeros((2, 8, 3, 3), np.float16))
        result = channels_last(device, data * 0)
        call(device, POOLING, out, (view,), **given)
        call(device, POOLING_BACKWARD, result, (out, view, out), **given)
        found.append((out._raw, result._raw))
    for got in found[1:]:
        for a, b in zip(got, found[0], strict=True):
            np.testing.assert_array_equal(a, b)
    device.check(POOLING, data, **given)


@COMPILED
def test_numbers_that_are_none_and_infinities_channels_last(device: OneDevice) -> None:
    attrs = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1), "pool_type": "max"}
    data = SMALL.choice([-np.inf, np.inf, np.nan, 0, 1], (2, 8, 8, 7)).astype(np.float32)
    data[0] = -np.inf
    (out,) = device.run(POOLING, data, **attrs)
    grad = SMALL.standard_normal(out.shape).astype(np.float32)
    (wanted,) = device.run(POOLING_BACKWARD, grad, data, out, **attrs)
    outs, result = (channels_last(device, np.zeros_like(x)) for x in (out, data))
    datas, grads = channels_last(device, data), channels_last(device, grad)
    call(device, POOLING, outs, (datas,), **attrs)
    call(device, POOLING_BACKWARD, result, (grads, datas, outs), **attrs)
    np.testing.assert_array_equal(outs._raw, out)
    np.testing.assert_array_equal(result._raw, wanted)
