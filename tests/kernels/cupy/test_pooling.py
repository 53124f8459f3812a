"""Pooling on the double: launches do not grow with the window, and nothing is uploaded."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.ops.nn.pooling import POOLING, POOLING_BACKWARD
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


def test_large_windows_and_channels_last_are_left_alone() -> None:
    plain = POOLING.schema.parse("Pooling", {"global_pool": True})

    def chosen(*shape: int, **attrs: Any) -> Any:
        spec = Spec(shape, np.dtype(np.float32))
        return POOLING.select_fast("gpu", [spec], {**plain, **attrs})

    assert chosen(2, 3, 7, 7) is not None
    assert chosen(2, 3, 112, 112) is None
    assert chosen(2, 7, 7, 3, layout="NHWC") is None
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
