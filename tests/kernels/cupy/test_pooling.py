"""Pooling on the double: launches do not grow with the window, and nothing is uploaded."""

from typing import Any

import numpy as np
import pytest

from gluonish.ops.pooling import POOLING, POOLING_BACKWARD
from tests.kernels.cupy import functions
from tests.kernels.cupy.one_device import OneDevice

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
