"""RandAugment, TrivialAugment and AugMix: their operations against Pillow, and what they draw."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import gluonish as mx
from gluonish import gluon, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data.vision import transforms as T
from gluonish.gluon.data.vision.transforms import policies

IMAGE = np.random.default_rng(6).integers(0, 256, (30, 44, 3)).astype(np.uint8)
AFFINE = Image.Transform.AFFINE

# Operations as Pillow's calls, from the magnitude.
BY_PILLOW: dict[str, Any] = {
    "Identity": lambda image, m: image,
    "ShearX": lambda image, m: image.transform(image.size, AFFINE, (1, m, 0, 0, 1, 0)),
    "ShearY": lambda image, m: image.transform(image.size, AFFINE, (1, 0, 0, m, 1, 0)),
    "TranslateX": lambda image, m: image.transform(image.size, AFFINE, (1, 0, -int(m), 0, 1, 0)),
    "TranslateY": lambda image, m: image.transform(image.size, AFFINE, (1, 0, 0, 0, 1, -int(m))),
    "Rotate": lambda image, m: image.rotate(m),
    "Brightness": lambda image, m: ImageEnhance.Brightness(image).enhance(1 + m),
    "Color": lambda image, m: ImageEnhance.Color(image).enhance(1 + m),
    "Contrast": lambda image, m: ImageEnhance.Contrast(image).enhance(1 + m),
    "Sharpness": lambda image, m: ImageEnhance.Sharpness(image).enhance(1 + m),
    # Newer versions of Pillow refuse 0 bits, which earlier ones made black.
    "Posterize": lambda image, m: (
        ImageOps.posterize(image, int(m)) if m else Image.new(image.mode, image.size)
    ),
    "Solarize": lambda image, m: ImageOps.solarize(image, m),
    "AutoContrast": lambda image, m: ImageOps.autocontrast(image),
    "Equalize": lambda image, m: ImageOps.equalize(image),
}
SPACES = {
    "rand": policies.rand_augment_space(31, 30, 44),
    "trivial": policies.trivial_augment_space(31),
    "augmix": policies.augmix_space(30, 44, True),
}


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", BY_PILLOW)
def test_operations_are_those_of_pillow(name: str, space: str) -> None:
    if name not in SPACES[space]:
        pytest.skip("not of this policy")
    values, signed = SPACES[space][name]
    for value in values[:: max(len(values) // 4, 1)]:
        for magnitude in (value, -value) if signed else (value,):
            want = np.asarray(BY_PILLOW[name](Image.fromarray(IMAGE), magnitude))
            got = policies.operation(IMAGE, name, float(magnitude), 0, (0, 0, 0))
            # Positions on the edge of two pixels may be rounded to either.
            allowed = 0.002 if name in ("Rotate", "ShearX", "ShearY") else 0
            assert (got != want).any(-1).mean() <= allowed


def test_magnitudes_are_the_published_ones() -> None:
    rand, trivial, augmix = SPACES["rand"], SPACES["trivial"], SPACES["augmix"]
    assert list(rand) == list(trivial) == list(BY_PILLOW)
    assert list(augmix) == list(BY_PILLOW)[1:]
    np.testing.assert_allclose(rand["ShearX"].values, np.arange(31) * 0.01)
    assert rand["TranslateX"].values[-1] == pytest.approx(150 / 331 * 44)
    assert rand["TranslateY"].values[-1] == pytest.approx(150 / 331 * 30)
    np.testing.assert_allclose(rand["Rotate"].values, np.arange(31))
    np.testing.assert_allclose(rand["Color"].values, np.arange(31) * 0.03)
    assert rand["Solarize"].values[[0, 9, 30]].tolist() == [255, 178.5, 0]
    bits = [8, 8, 8, 8, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5, 5, 5, 5, 5]
    assert rand["Posterize"].values.tolist() == [*bits, 4, 4, 4, 4]
    assert trivial["ShearY"].values[-1] == 0.99
    assert trivial["TranslateX"].values[-1] == 32
    assert trivial["Rotate"].values[-1] == 135
    assert trivial["Sharpness"].values[-1] == 0.99
    assert trivial["Posterize"].values[[0, -1]].tolist() == [8, 2]
    assert augmix["Posterize"].values.tolist() == [4, 4, 3, 3, 2, 2, 1, 1, 0, 0]
    assert augmix["TranslateX"].values[-1] == pytest.approx(44 / 3)
    assert set(augmix) - set(policies.augmix_space(30, 44, False)) == {
        "Brightness", "Color", "Contrast", "Sharpness",
    }  # fmt: skip


def _call(transform: Any, values: Any) -> Any:
    return transform(nd.array(values, dtype=values.dtype)).asnumpy()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    calls: list[tuple[str, float]] = []

    def noted(values: Any, name: str, magnitude: float, *args: Any) -> Any:
        calls.append((name, magnitude))
        return values

    monkeypatch.setattr(policies, "operation", noted)
    mx.random.seed(11)
    return calls


def _even(counts: Counter[Any], kinds: int) -> bool:
    """Whether counts are those of even chances, by five standard deviations."""
    mean = sum(counts.values()) / kinds
    found = [*counts.values(), *[0] * (kinds - len(counts))]
    return max(abs(count - mean) for count in found) < 5 * math.sqrt(mean)


def test_rand_augment_draws_operations_and_signs(drawn: Any) -> None:
    transform = T.RandAugment(num_ops=3, magnitude=9)
    for _ in range(1400):
        _call(transform, IMAGE)
    assert len(drawn) == 3 * 1400
    assert _even(Counter(name for name, _ in drawn), 14)
    rotations = Counter(round(m, 9) for name, m in drawn if name == "Rotate")
    assert set(rotations) == {-9, 9}
    assert _even(rotations, 2)
    assert {m for name, m in drawn if name == "Posterize"} == {7}


def test_trivial_augment_draws_operations_and_magnitudes(drawn: Any) -> None:
    transform = T.TrivialAugmentWide()
    for _ in range(4000):
        _call(transform, IMAGE)
    assert len(drawn) == 4000
    assert _even(Counter(name for name, _ in drawn), 14)
    signed = [m for name, m in drawn if name in ("Rotate",)]
    assert min(signed) == -135
    assert max(signed) == 135
    found = [m / 255 for name, m in drawn if name == "Solarize"]
    assert abs(np.mean(found) - 0.5) < 0.1


def test_augmix_draws_chains(drawn: Any) -> None:
    transform = T.AugMix(severity=2, mixture_width=4)
    lengths = []
    for _ in range(700):
        before = len(drawn)
        # With chains that change nothing the mixture is the image.
        np.testing.assert_array_equal(_call(transform, IMAGE), IMAGE)
        lengths.append(len(drawn) - before)
    assert min(lengths) >= 4
    assert max(lengths) <= 12
    assert abs(np.mean(lengths) - 8) < 0.3
    assert _even(Counter(name for name, _ in drawn), 13)
    assert {m for name, m in drawn if name == "Posterize"} == {4}
    assert {round(abs(m), 6) for name, m in drawn if name == "Rotate"} == {0, 3.333333}


def test_augmix_mixes_with_the_drawn_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "operation", lambda values, *args: np.zeros_like(values))
    mx.random.seed(2)
    ones = np.ones((2, 2, 3), np.float32)
    for alpha in (0.5, 1.0, 4.0):
        transform = T.AugMix(alpha=alpha)
        kept = [float(_call(transform, ones)[0, 0, 0]) for _ in range(2000)]
        assert abs(np.mean(kept) - 0.5) < 0.04
        assert abs(np.var(kept) - 1 / (4 * (2 * alpha + 1))) < 0.015


@pytest.mark.parametrize(
    "make", [T.RandAugment, T.TrivialAugmentWide, T.AugMix, lambda: T.RandAugment(2, 30)]
)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_keep_shape_dtype_and_range(make: Any, dtype: str, channels: int) -> None:
    image = np.concatenate([IMAGE, IMAGE], axis=2)[..., :channels]
    values = image if dtype == "uint8" else (image / 255).astype(dtype)
    runs = []
    for _ in range(2):
        mx.random.seed(8)
        runs.append([_call(make(), values) for _ in range(12)])
    for first, second in zip(*runs, strict=True):
        assert first.shape == values.shape
        assert first.dtype == dtype
        assert first.min() >= 0
        assert first.max() <= (255 if dtype == "uint8" else 1)
        np.testing.assert_array_equal(first, second)


class _Images(gluon.data.Dataset):
    """Eight times the same image."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return nd.array(IMAGE, dtype="uint8"), index


@pytest.mark.parametrize("make", [T.RandAugment, T.TrivialAugmentWide, T.AugMix])
def test_workers_repeat_what_a_seed_gives(make: Any) -> None:
    def batches() -> list[Any]:
        mx.random.seed(3)
        np.random.seed(3)  # noqa: NPY002  # seeds the workers
        chain = T.Compose([make(), T.ToTensor()])
        loader = gluon.data.DataLoader(_Images().transform_first(chain), 4, num_workers=2)
        return [images.asnumpy() for images, _ in loader]

    first, second = batches(), batches()
    np.testing.assert_array_equal(first, second)
    assert len({image.tobytes() for batch in first for image in batch}) > 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.RandAugment(-1), r"RandAugment: expected num_ops of 0 or more, got -1"),
        (lambda: T.RandAugment(2, 31), r"expected magnitude below num_magnitude_bins \(31\), got"),
        (lambda: T.RandAugment(2, 0, 1), r"expected num_magnitude_bins of 2 or more, got 1"),
        (lambda: T.RandAugment(2, 1.5), r"expected magnitude to be an int, got 1.5"),
        (lambda: T.RandAugment(interpolation="cubic"), r"RandAugment: expected interpolation"),
        (lambda: T.RandAugment(fill=-1), r"RandAugment: expected fill in \[0, 255\], got -1"),
        (lambda: T.TrivialAugmentWide(0), r"expected num_magnitude_bins of 2 or more, got 0"),
        (lambda: T.AugMix(0), r"AugMix: expected severity from 1 to 10, got 0"),
        (lambda: T.AugMix(11), r"AugMix: expected severity from 1 to 10, got 11"),
        (lambda: T.AugMix(mixture_width=0), r"expected mixture_width of 1 or more, got 0"),
        (lambda: T.AugMix(chain_depth=0), r"expected chain_depth of 1 or more, or -1, got 0"),
        (lambda: T.AugMix(alpha=0), r"AugMix: expected alpha above 0, got 0"),
    ],
)
def test_arguments_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        make()
