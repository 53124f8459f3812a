"""Planes of images by generated kernels, beside those of the operators and of float64."""

import pickle
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError
from gluonish.kernels.compiler import available
from gluonish.kernels.generated import pixel_planes
from gluonish.kernels.generated.pixel_planes import PixelPlanes
from gluonish.ops.image.tensor import NORMALIZE, TO_TENSOR

IMAGE = np.random.default_rng(0).integers(0, 256, (37, 41, 3)).astype(np.uint8)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
STEPS = [("divide", [255.0]), ("subtract", MEAN), ("divide", STD)]

needs_llvmlite = pytest.mark.skipif(not available(), reason="llvmlite is not there")

VIEWS = {
    "whole": IMAGE,
    "region": IMAGE[3:30, 5:40],
    "columns_reversed": IMAGE[2:, 1:][:, ::-1],
    "rows_reversed": IMAGE[::-1],
    "both_reversed": IMAGE[::-1, ::-1],
    "blue_first": IMAGE[..., ::-1],
    "every_second": IMAGE[::2, ::3],
    "turned": IMAGE.transpose(1, 0, 2),
    "one_channel": IMAGE[..., :1],
    "without_alpha": np.concatenate([IMAGE, IMAGE[..., :1]], axis=2)[..., :3],
    "one_pixel": IMAGE[4:5, 4:5],
    "no_pixel": IMAGE[:0],
    "float32": IMAGE.astype(np.float32)[:, ::-1] * np.float32(1.01),
    "float64": IMAGE.astype(np.float64),
    "int16": IMAGE.astype(np.int16) - 100,
    "other_byte_order": IMAGE.astype(">f4"),
}


def filled(planes: PixelPlanes, image: Any) -> Any:
    out = np.full((image.shape[2], *image.shape[:2]), np.nan, np.float32)
    planes(out, image)
    return out


@pytest.mark.parametrize("name", VIEWS)
def test_planes_are_those_of_the_operators(name: str) -> None:
    image = VIEWS[name]
    mean, std = ((0.4,), (0.3,)) if image.shape[2] == 1 else (MEAN, STD)
    planes = PixelPlanes([("divide", [255]), ("subtract", mean), ("divide", std)])
    scaled = np.empty((image.shape[2], *image.shape[:2]), np.float32)
    TO_TENSOR.kernel(np, scaled, image)
    want = np.empty_like(scaled)
    NORMALIZE.kernel(np, want, scaled, mean=mean, std=std)
    found = filled(planes, image)
    if image.dtype == np.uint8:  # all steps are rounded once
        np.testing.assert_allclose(found, want, rtol=0, atol=5e-7)
    else:
        np.testing.assert_array_equal(found, want)


def test_one_step_rounds_as_numpy_does() -> None:
    want = (IMAGE / np.float32(255)).transpose(2, 0, 1)
    np.testing.assert_array_equal(filled(PixelPlanes([("divide", [255])]), IMAGE), want)


@needs_llvmlite
def test_bytes_and_floats_have_kernels() -> None:
    planes = PixelPlanes(STEPS)
    for name in ("region", "columns_reversed", "float32"):
        filled(planes, VIEWS[name])
    assert len(planes._plans) == 3
    assert all(plan is not None for plan in planes._plans.values())


@pytest.mark.parametrize("seed", range(20))
def test_bytes_are_nearer_to_the_exact_value_than_step_by_step(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    steps = [
        ("divide", numbers.uniform(0.5, 300, 3).tolist()),
        ("subtract", numbers.uniform(-2, 2, 3).tolist()),
        ("multiply", numbers.uniform(-2, 2, 1).tolist()),
        ("divide", (10.0 ** numbers.uniform(-6, 6, 3)).tolist()),
        ("add", numbers.uniform(-2, 2, 3).tolist()),
    ]
    planes = PixelPlanes(steps)
    exact = ramp.transpose(2, 0, 1).astype(np.float64)
    for (what, _), (_, given) in zip(steps, planes._steps, strict=True):
        ufunc = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
        exact = ufunc.get(what, np.divide)(exact, given.astype(np.float64).reshape(-1, 1, 1))
    one_by_one = np.empty((3, 16, 16), np.float32)
    planes.by_numpy(one_by_one, ramp)
    found = filled(planes, ramp)
    error = np.abs(found - exact).max(axis=(1, 2))
    span = np.abs(exact).max(axis=(1, 2))
    assert (error <= span * 2.0**-21).all()
    if available():
        assert (error <= np.abs(one_by_one - exact).max(axis=(1, 2)) + span * 2.0**-23).all()


@pytest.mark.parametrize("number", [0.0, np.inf, np.nan, 1e-42])
def test_steps_without_a_finite_sum_are_done_one_by_one(number: float) -> None:
    planes = PixelPlanes([("subtract", [128.0]), ("divide", [number])])
    want = np.empty((3, 37, 41), np.float32)
    with np.errstate(all="ignore"):
        planes.by_numpy(want, IMAGE)
    np.testing.assert_array_equal(filled(planes, IMAGE), want)


@pytest.mark.parametrize("number", [0.0, 1e-42, 3e38, np.inf, np.nan])
def test_strange_divisors_divide_as_numpy_does(number: float) -> None:
    planes = PixelPlanes([("divide", [number])])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            filled(planes, IMAGE), (IMAGE / np.float32(number)).astype("f4").transpose(2, 0, 1)
        )


def test_without_llvmlite_planes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    want = filled(PixelPlanes(STEPS), VIEWS["region"])
    monkeypatch.setattr(pixel_planes, "available", lambda: False)
    planes = PixelPlanes(STEPS)
    np.testing.assert_allclose(filled(planes, VIEWS["region"]), want, rtol=0, atol=5e-7)
    assert list(planes._plans.values()) == [None]


def test_planes_that_are_not_contiguous_are_filled() -> None:
    planes = PixelPlanes(STEPS)
    out = np.zeros((37, 41, 3), np.float32)
    planes(out.transpose(2, 0, 1), IMAGE)
    found = out.transpose(2, 0, 1)
    np.testing.assert_allclose(found, filled(planes, IMAGE), rtol=0, atol=5e-7)


def test_another_process_makes_its_own_kernels() -> None:
    planes = PixelPlanes(STEPS)
    want = filled(planes, IMAGE)
    copy = pickle.loads(pickle.dumps(planes))
    assert not copy._plans
    np.testing.assert_array_equal(filled(copy, IMAGE), want)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ArgumentError, match="expected steps of add"):
        PixelPlanes([("power", [2])])
    with pytest.raises(ArgumentError, match="with one number or more"):
        PixelPlanes([("add", [])])
    planes = PixelPlanes(STEPS)
    with pytest.raises(ArgumentError, match="expected as many channels"):
        filled(planes, IMAGE[..., :2])
    with pytest.raises(ArgumentError, match=r"expected out \(3, 37, 41\)"):
        planes(np.empty((3, 4, 4), np.float32), IMAGE)
