"""Transforms beyond the golden cases: what is random, composition, hybridization."""

import random
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision import transforms as T
from gluonish.gluon.nn import HybridSequential

PIXELS = np.random.default_rng(0).integers(40, 200, (9, 8, 3)).astype(np.uint8)


def image(dtype: str = "float32") -> nd.NDArray:
    return nd.array(PIXELS, dtype=dtype)


def ratios(transform: HybridBlock, calls: int = 40) -> Any:
    """By what each call multiplied an image of ones times 100."""
    x = nd.full((2, 2, 3), 100)
    return np.array([transform(x).asnumpy().mean() / 100 for _ in range(calls)])


def test_brightness_is_drawn_around_one() -> None:
    mx.random.seed(1)
    found = ratios(T.RandomBrightness(0.3))
    assert found.min() >= 0.7 - 1e-4
    assert found.max() <= 1.3 + 1e-4
    assert np.ptp(found) > 0.4


def test_brightness_above_one_starts_at_nothing() -> None:
    mx.random.seed(1)
    found = ratios(T.RandomBrightness(2.0))
    assert found.min() >= 0
    assert found.min() < 0.4
    assert found.max() > 2


@pytest.mark.parametrize("name", ["RandomBrightness", "RandomHue", "RandomLighting"])
def test_amounts_that_are_no_numbers_are_refused_by_name(name: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"{name}: expected .* to be a number, got '1'"):
        getattr(T, name)("1")


@pytest.mark.parametrize("kind", [T.RandomContrast, T.RandomSaturation])
def test_contrast_and_saturation_scale_the_distance_from_gray(kind: Any) -> None:
    mx.random.seed(1)
    weights = np.array([0.299, 0.587, 0.114])
    gray = (PIXELS @ weights)[..., None]
    gray = gray.mean() if kind is T.RandomContrast else gray
    factors = []
    for _ in range(30):
        found = kind(0.5)(image()).asnumpy()
        factor = ((found - gray) * (PIXELS - gray)).sum() / ((PIXELS - gray) ** 2).sum()
        np.testing.assert_allclose(found, gray + factor * (PIXELS - gray), atol=1e-2)
        factors.append(factor)
    assert min(factors) >= 0.5 - 1e-4
    assert max(factors) <= 1.5 + 1e-4
    assert np.ptp(factors) > 0.5


def test_hue_keeps_the_lightest_and_the_darkest_channel() -> None:
    mx.random.seed(1)
    found = T.RandomHue(0.4)(image()).asnumpy()
    np.testing.assert_allclose(found.max(-1), PIXELS.max(-1), atol=1e-2)
    np.testing.assert_allclose(found.min(-1), PIXELS.min(-1), atol=1e-2)
    assert np.abs(found - PIXELS).max() > 5


def test_jitter_changes_what_it_is_told_to() -> None:
    mx.random.seed(1)
    found = ratios(T.RandomColorJitter(brightness=0.2))
    assert 0.3 < np.ptp(found) <= 0.4 + 1e-4
    assert (T.RandomColorJitter()(image()).asnumpy() == PIXELS).all()


def test_lighting_moves_every_pixel_alike() -> None:
    mx.random.seed(1)
    shift = T.RandomLighting(0.5)(image()).asnumpy() - PIXELS
    assert np.ptp(shift, axis=(0, 1)).max() < 1e-3
    assert np.abs(shift).max() > 0.1


@pytest.mark.parametrize(
    ("transform", "axis"), [(T.RandomFlipLeftRight, 1), (T.RandomFlipTopBottom, 0)]
)
def test_flips_happen_in_half_of_the_calls(transform: Any, axis: int) -> None:
    mx.random.seed(1)
    flip = transform()
    flipped = 0
    for _ in range(60):
        found = flip(image("uint8")).asnumpy()
        turned = (found == np.flip(PIXELS, axis)).all()
        assert turned or (found == PIXELS).all()
        flipped += turned
    assert 15 < flipped < 45


def test_seeds_repeat_what_is_random() -> None:
    chain = T.Compose(
        [T.RandomResizedCrop(5), T.RandomFlipLeftRight(), T.RandomColorJitter(0.2, 0.2, 0.2, 0.2)]
    )
    found = []
    for seed in (3, 3, 4):
        random.seed(seed)
        mx.random.seed(seed)
        found.append(chain(image()).asnumpy())
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize("kind", ["Brightness", "Contrast", "Saturation", "Hue"])
def test_a_negative_amount_is_its_size_as_in_mxnet(kind: str) -> None:
    transform = getattr(T, f"Random{kind}")
    assert vars(transform(-0.5))["_min_factor"] == vars(transform(0.5))["_min_factor"]
    with pytest.raises(ArgumentError, match=f"Random{kind}: expected a finite {kind.lower()}"):
        transform(float("nan"))


@pytest.mark.parametrize("size", [0, -3, 2.5, (1, 2, 3), (4, 0)])
@pytest.mark.parametrize("make", [T.Resize, T.CenterCrop, T.RandomResizedCrop])
def test_a_wrong_size_is_refused(make: Any, size: Any) -> None:
    with pytest.raises(ArgumentError, match="expected a size of one or two whole numbers"):
        make(size)(nd.ones((6, 6, 3), dtype="uint8"))


def test_a_region_is_resized_at_the_call_to_a_size_that_can_be() -> None:
    image = nd.ones((6, 6, 3), dtype="uint8")
    with pytest.raises(ArgumentError, match="CropResize: expected a size of one or two"):
        T.CropResize(0, 0, 4, 4, (-25, 25))(image)
    stack = T.Compose([T.Resize(-150)])
    with pytest.raises(ArgumentError, match="Resize: expected a size of one or two"):
        stack(image)
    assert T.CropResize(0, 0, 4, 4, 0)(image).shape == (4, 4, 3)


def test_both_zooms_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected zoom_in or zoom_out, got both"):
        T.Rotate(3, True, True)(nd.ones((3, 4, 4)))
    with pytest.raises(ArgumentError, match="expected zoom_in or zoom_out, got both"):
        T.RandomRotation((0, 3), True, True)(nd.ones((3, 4, 4)))


def test_mean_and_deviation_may_be_arrays() -> None:
    x = nd.array(np.random.default_rng(0).random((3, 4, 4)))
    mean, deviation = np.array([0.1, 0.2, 0.3]), nd.array([1, 2, 4])
    found = T.Normalize(mean, deviation)(x).asnumpy()  # type: ignore[arg-type]
    want = (x.asnumpy() - mean.reshape(3, 1, 1)) / np.array([1, 2, 4]).reshape(3, 1, 1)
    np.testing.assert_allclose(found, want, rtol=1e-5)


CHAIN = [
    lambda: T.Resize((7, 6)),
    lambda: T.CropResize(1, 1, 4, 4, 5, 0),
    lambda: T.ToTensor(),
    lambda: T.Normalize((0.4, 0.5, 0.6), 0.2),
    lambda: T.Cast("float64"),
]


@pytest.mark.parametrize("count", range(1, len(CHAIN) + 1))
def test_hybridized_and_imperative_transforms_agree(count: int) -> None:
    blocks = [make() for make in CHAIN[:count]]
    want = image("uint8")
    for block in blocks:
        want = block(want)
    composed = T.Compose(blocks)
    for _ in range(2):
        found = composed(image("uint8"))
        np.testing.assert_allclose(found.asnumpy(), want.asnumpy(), rtol=1e-6, atol=5e-7)
        assert found.dtype == want.dtype


def test_neighbours_that_can_be_are_hybridized_together() -> None:
    composed = T.Compose([T.Resize(4), T.ToTensor(), T.Rotate(3), T.Cast()])
    joined, rotate, cast = composed
    assert isinstance(joined, HybridSequential)
    assert len(joined) == 2
    assert joined._active
    assert isinstance(rotate, T.Rotate)
    assert not cast._active  # type: ignore[attr-defined]


def test_compose_leaves_the_list_alone() -> None:
    blocks = [T.Resize(4), T.ToTensor()]
    T.Compose(blocks)
    assert len(blocks) == 2


def test_functions_are_transforms_too() -> None:
    composed = T.Compose([T.ToTensor(), lambda x: x * 2])
    want = T.ToTensor()(image()).asnumpy() * 2
    np.testing.assert_allclose(composed(image()).asnumpy(), want)


def test_what_is_no_transform_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected Blocks or functions, got int"):
        T.Compose([T.Resize(3), 7])  # type: ignore[list-item]


def test_images_of_several_sizes_run_through_one_chain() -> None:
    composed = T.Compose([T.Resize(4), T.ToTensor()])
    for extent in range(5, 15):
        assert composed(nd.zeros((extent, 9, 3), dtype="uint8")).shape == (3, 4, 4)


def test_apply_takes_several_transforms() -> None:
    both = T.RandomApply([T.Cast("int32"), T.ToTensor()], 1.0)
    assert both(image()).shape == (3, 9, 8)
    never = T.RandomApply(T.ToTensor(), 0.0)
    x = image()
    assert never(x) is x


def test_np_arrays_stay_np_arrays() -> None:
    composed = T.Compose([T.CenterCrop(6), T.RandomFlipLeftRight(), T.ToTensor(), T.Rotate(5)])
    with mx.util.np_array(True):
        found = composed(mx.np.array(PIXELS, dtype="uint8"))
    assert isinstance(found, mx.np.ndarray)
    assert found.shape == (3, 6, 6)
