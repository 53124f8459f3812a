"""BatchNorm's generated kernels: equal to the reference in every layout."""

import itertools
from typing import Any

import numpy as np
import pytest

from gluonish.ops.kernel import Kernel
from gluonish.ops.normalization.batch_norm_parts import (
    BATCH_NORM_DATA_GRADIENT,
    BATCH_NORM_STATISTICS,
    BATCH_NORM_SUMS,
)
from gluonish.ops.registry import Operator
from gluonish.ops.support.refusals import refusals

SHAPE = (4, 12, 9, 7)


def _values(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _channels(seed: int) -> Any:
    return np.random.default_rng(seed).uniform(0.5, 1.5, SHAPE[1]).astype(np.float32)


def _last(x: Any) -> Any:
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


def _kernel(op: Operator) -> Kernel:
    return op.fast_kernels[0].kernel


LAYOUTS = {
    "plain": lambda x: x.copy(),
    "last": _last,
    "strange": lambda x: np.repeat(x, 2, 3)[..., ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("centre", [0.0, 1000.0])
def test_statistics_are_those_of_the_reference(layout: str, centre: float) -> None:
    data, gamma = _values(0, *SHAPE) + np.float32(centre), _channels(1)
    flags = {"eps": 1e-5, "momentum": 0.9, "fix_gamma": False, "use_global_stats": False}
    found, wanted = ([np.empty(SHAPE[1], np.float32) for _ in range(3)] for _ in range(2))
    moved = [[_channels(2), _channels(3)] for _ in range(2)]
    _kernel(BATCH_NORM_STATISTICS)(
        np, found, LAYOUTS[layout](data), gamma, *moved[0], train=True, **flags
    )
    BATCH_NORM_STATISTICS.kernel(np, wanted, data, gamma, *moved[1], train=True, **flags)
    for got, expected in zip((*found, *moved[0]), (*wanted, *moved[1]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("bounds", [(), (0.0,), (-0.25, 1.5)])
@pytest.mark.parametrize("layouts", list(itertools.product(LAYOUTS, repeat=3)), ids="-".join)
def test_gradients_are_those_of_the_reference(
    bounds: tuple[float, ...], layouts: tuple[str, ...]
) -> None:
    place_out, place_grad, place_data = (LAYOUTS[name] for name in layouts)
    data, grad = _values(0, *SHAPE), _values(1, *SHAPE)
    mean, inverse_std, scale, beta = (_channels(seed) for seed in range(2, 6))
    arrays = (mean, inverse_std, scale, beta)
    flags = {"bounds": bounds, "fix_gamma": False, "use_global_stats": False}
    found, wanted = ([np.empty(SHAPE[1], np.float32) for _ in range(4)] for _ in range(2))
    _kernel(BATCH_NORM_SUMS)(np, found, place_grad(grad), place_data(data), *arrays, **flags)
    BATCH_NORM_SUMS.kernel(np, wanted, grad, data, *arrays, **flags)
    for got, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
    rest = (mean, scale, beta, *wanted[2:])
    out, expected = place_out(np.zeros_like(data)), np.empty_like(data)
    _kernel(BATCH_NORM_DATA_GRADIENT)(
        np, out, place_grad(grad), place_data(data), *rest, bounds=bounds
    )
    BATCH_NORM_DATA_GRADIENT.kernel(np, expected, grad, data, *rest, bounds=bounds)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_what_goes_to_the_reference_kernel_is_counted() -> None:
    before = refusals().get("batch_norm_sums", 0)
    data = LAYOUTS["strange"](_values(0, *SHAPE))
    outputs = [np.empty(SHAPE[1], np.float32) for _ in range(4)]
    flags = {"bounds": (), "fix_gamma": False, "use_global_stats": False}
    _kernel(BATCH_NORM_SUMS)(np, outputs, data, data, *(_channels(i) for i in range(4)), **flags)
    assert refusals()["batch_norm_sums"] == before + 1
