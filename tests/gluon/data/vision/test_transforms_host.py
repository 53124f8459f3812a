"""The direct way of transforms gives what the blocks give, draws the same, and shares no memory."""

import random
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data.vision import transforms as T
from gluonish.gluon.data.vision.transforms import host
from gluonish.gluon.data.vision.transforms.augmentation import random_generator

PIXELS = np.random.default_rng(0).integers(0, 256, (19, 23, 3)).astype(np.uint8)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

MAKERS: dict[str, Any] = {
    "to_tensor": T.ToTensor,
    "cast": lambda: T.Cast("float32"),
    "resize": lambda: T.Resize((9, 8)),
    "resize_short": lambda: T.Resize(9, True, 3),
    "center_crop": lambda: T.CenterCrop((11, 7)),
    "center_crop_enlarged": lambda: T.CenterCrop(30),
    "crop_resize": lambda: T.CropResize(2, 3, 10, 9, 5),
    "crop": lambda: T.CropResize(2, 3, 10, 9),
    "random_crop": lambda: T.RandomCrop(7),
    "random_crop_padded": lambda: T.RandomCrop(12, pad=4, pad_value=3),
    "random_resized_crop": lambda: T.RandomResizedCrop(8),
    "flip_left_right": T.RandomFlipLeftRight,
    "flip_top_bottom": T.RandomFlipTopBottom,
    "flip_seldom": lambda: T.RandomFlipLeftRight(0.2),
    "brightness": lambda: T.RandomBrightness(0.4),
    "contrast": lambda: T.RandomContrast(0.4),
    "saturation": lambda: T.RandomSaturation(0.4),
    "hue": lambda: T.RandomHue(0.2),
    "jitter": lambda: T.RandomColorJitter(0.4, 0.4, 0.4, 0.1),
    "lighting": lambda: T.RandomLighting(0.2),
    "gray": lambda: T.RandomGray(0.5),
    "hybrid_compose": lambda: T.HybridCompose([T.RandomFlipLeftRight(), T.ToTensor()]),
    "hybrid_apply": lambda: T.HybridRandomApply(T.RandomBrightness(0.3), 0.5),
    "affine": lambda: T.RandomAffine(30, (0.1, 0.2), (0.8, 1.2), 10, 1),
    "perspective": lambda: T.RandomPerspective(p=0.7),
    "blur": lambda: T.GaussianBlur((3, 5), p=0.7),
    "erasing": lambda: T.RandomErasing(value="random"),
}


def image(dtype: str = "uint8") -> Any:
    return nd.array(PIXELS, dtype=dtype)


def results(transform: Any, x: Any, seed: int) -> list[Any]:
    """What some calls give from a seed on."""
    random.seed(seed)
    mx.random.seed(seed)
    return [transform(x).asnumpy() for _ in range(6)]


@pytest.fixture
def blocks_only(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Turns the direct way off."""

    def off() -> None:
        monkeypatch.setattr(host, "runs_on_host", lambda x: False)
        monkeypatch.setattr(
            "gluonish.gluon.data.vision.transforms.compose.runs_on_host", lambda x: False
        )

    return off


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", MAKERS)
def test_both_ways_agree(name: str, dtype: str, blocks_only: Any) -> None:
    direct = results(MAKERS[name](), image(dtype), 7)
    blocks_only()
    for got, want in zip(direct, results(MAKERS[name](), image(dtype), 7), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("crop", ["random_crop", "random_resized_crop", "center_crop"])
def test_both_ways_of_a_chain_agree(crop: str, blocks_only: Any) -> None:
    def chain() -> Any:
        return T.Compose(
            [
                MAKERS[crop](),
                T.RandomFlipLeftRight(),
                T.RandomFlipTopBottom(),
                T.ToTensor(),
                T.Normalize(MEAN, STD),
            ]
        )

    direct = results(chain(), image(), 3)
    blocks_only()
    for got, want in zip(direct, results(chain(), image(), 3), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


def test_normalized_planes_are_those_of_the_operators() -> None:
    x = image()
    with autograd.record():  # where operators run
        want = T.Normalize(MEAN, STD)(T.ToTensor()(x)).asnumpy()
    got = T.Compose([T.ToTensor(), T.Normalize(MEAN, STD)])(x).asnumpy()
    np.testing.assert_allclose(got, want, rtol=0, atol=5e-7)  # rounded once instead of thrice


def test_results_have_memory_of_their_own() -> None:
    x = image()
    for transform in (
        T.Compose([T.CropResize(0, 0, 23, 19)]),
        T.RandomFlipLeftRight(0),
        T.CenterCrop((23, 19)),
        T.Cast("uint8"),
    ):
        y = transform(x)
        y[:] = 0
        np.testing.assert_array_equal(x.asnumpy(), PIXELS)


def test_functions_between_transforms_get_arrays_of_their_own() -> None:
    seen = []

    def darken(x: Any) -> Any:
        seen.append(type(x))
        x[:] = 5
        return x

    x = image()
    chain = T.Compose([T.CropResize(0, 0, 23, 19), darken, T.ToTensor()])
    assert (chain(x).asnumpy() == np.float32(5) / np.float32(255)).all()
    assert seen == [nd.NDArray]
    np.testing.assert_array_equal(x.asnumpy(), PIXELS)


def test_pending_writes_are_waited_for() -> None:
    for _ in range(20):
        x = nd.zeros((64, 64, 3), dtype="uint8")
        for value in range(1, 8):
            x[:] = value
        assert (T.Compose([T.CenterCrop(32), T.Cast("int32")])(x).asnumpy() == 7).all()


def test_a_subclass_with_a_computation_of_its_own_is_asked() -> None:
    class Doubled(T.ToTensor):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return super().hybrid_forward(F, x) * 2

    want = PIXELS.transpose(2, 0, 1).astype(np.float32) / 255 * 2
    np.testing.assert_allclose(Doubled()(image()).asnumpy(), want, rtol=1e-6)
    chain = T.Compose([Doubled(), T.Normalize(0.0, 1.0)])
    np.testing.assert_allclose(chain(image()).asnumpy(), want, rtol=1e-6)


def test_hooks_see_the_blocks_they_are_on() -> None:
    calls = []
    to_tensor, normalize = T.ToTensor(), T.Normalize(0.5, 0.5)
    chain = T.Compose([to_tensor, normalize])
    want = chain(image()).asnumpy()
    joined: Any = chain[0]
    joined[0].register_forward_hook(lambda *_: calls.append("to_tensor"))
    np.testing.assert_allclose(chain(image()).asnumpy(), want, rtol=1e-6, atol=5e-7)
    assert calls == ["to_tensor"]


def test_transforms_that_are_added_later_act() -> None:
    chain = T.Compose([T.ToTensor(), T.Normalize(0.5, 0.5)])
    chain(image())
    chain.add(T.Cast("float64"))
    assert chain(image()).dtype == np.float64
    joined: Any = chain[0]
    joined.add(T.Cast("float16"))
    chain.add(T.Cast("float32"))
    got = chain(image()).asnumpy()
    want = (PIXELS.transpose(2, 0, 1) / 255 - 0.5) / 0.5
    np.testing.assert_allclose(got, want, atol=2e-3)
    assert (got == got.astype(np.float16)).all()


def test_compositions_nest() -> None:
    random.seed(1)
    inner = T.Compose([T.CenterCrop(8), T.RandomApply(T.Cast("float32"), 1)])
    never = T.RandomApply([T.Resize(3)], 0)
    chain = T.Compose([inner, never, T.ToTensor()])
    assert chain(image()).shape == (3, 8, 8)


def test_a_gradient_still_flows() -> None:
    x = image("float32")
    x.attach_grad()
    with autograd.record():
        y = T.Compose([T.ToTensor(), T.Normalize(0.0, 0.5)])(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 / 255, rtol=1e-6)


def test_batches_go_through_too() -> None:
    x = nd.array(np.stack([PIXELS, PIXELS[::-1]]), dtype="uint8")
    got = T.Compose([T.Resize(8), T.ToTensor(), T.Normalize(MEAN, STD)])(x)
    assert got.shape == (2, 3, 8, 8)
    one = T.Compose([T.Resize(8), T.ToTensor(), T.Normalize(MEAN, STD)])(image())
    np.testing.assert_allclose(got.asnumpy()[0], one.asnumpy(), atol=1e-6)


def test_random_crops_stay_inside_and_vary() -> None:
    random.seed(0)
    places = set()
    where = np.arange(19 * 23, dtype=np.float32).reshape(19, 23, 1)
    for _ in range(50):
        got = T.RandomCrop((5, 4))(nd.array(where)).asnumpy()
        assert got.shape == (4, 5, 1)
        start = int(got[0, 0, 0])
        places.add(start)
        y, x = divmod(start, 23)
        np.testing.assert_array_equal(got, where[y : y + 4, x : x + 5])
    assert len(places) > 20


def test_padding_surrounds_the_image() -> None:
    got = T.RandomCrop((23 + 8, 19 + 2), pad=((1, 1), (3, 5)), pad_value=9)(image()).asnumpy()
    np.testing.assert_array_equal(got[1:-1, 3:-5], PIXELS)
    got[1:-1, 3:-5] = 9
    assert (got == 9).all()


@pytest.mark.parametrize("pad", [-1, ((1, 2, 3),), ((1, 1),) * 4])
def test_padding_that_is_none_is_refused(pad: Any) -> None:
    with pytest.raises(ArgumentError, match="expected pad"):
        T.RandomCrop(4, pad=pad)


@pytest.mark.parametrize("p", [-0.1, 1.5])
def test_a_probability_outside_its_range_is_refused(p: float) -> None:
    with pytest.raises(ArgumentError, match="expected p in"):
        T.RandomFlipLeftRight(p)


def test_a_flip_happens_in_the_share_it_is_told() -> None:
    mx.random.seed(1)
    for p, least, most in ((0.2, 8, 34), (0.0, 0, 0), (1.0, 100, 100)):
        flip = T.RandomFlipLeftRight(p)
        turned = sum((flip(image()).asnumpy() == PIXELS[:, ::-1]).all() for _ in range(100))
        assert least <= turned <= most


def test_gray_images_have_three_equal_channels() -> None:
    gray = T.RandomGray(1)(image()).asnumpy()
    assert (gray == gray[..., :1]).all()
    np.testing.assert_allclose(gray[..., 0], PIXELS @ [0.299, 0.587, 0.114], atol=1)
    np.testing.assert_array_equal(T.RandomGray(0)(image()).asnumpy(), PIXELS)


def test_hybrid_compositions_take_hybrid_blocks_only() -> None:
    with pytest.raises(ArgumentTypeError, match="expected children to be HybridBlocks"):
        T.HybridCompose([T.Rotate(3)])  # type: ignore[list-item]  # what is refused
    with pytest.raises(ArgumentTypeError, match="expected a HybridBlock, got Rotate"):
        T.HybridRandomApply(T.Rotate(3))  # type: ignore[arg-type]  # the same


def test_a_hybrid_transform_is_applied_in_the_share_it_is_told() -> None:
    mx.random.seed(1)
    apply = T.HybridRandomApply(T.CropResize(0, 0, 23, 19), 1)
    np.testing.assert_array_equal(apply(image()).asnumpy(), PIXELS)
    half = T.HybridRandomApply(T.RandomBrightness(0.5), 0.5)
    changed = sum((half(image()).asnumpy() != PIXELS).any() for _ in range(40))
    assert 8 < changed < 32


@pytest.mark.parametrize("name", sorted(set(MAKERS) - {"hybrid_apply"}))
def test_images_of_numpy_give_what_ndarrays_give(name: str) -> None:
    dtype = "float32" if name in ("erasing", "cast") else "uint8"
    transform = MAKERS[name]()
    expected = results(transform, image(dtype), 3)
    before = PIXELS.astype(dtype)
    pixels = before.copy()
    for found, wanted in zip(results(transform, pixels, 3), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(pixels, before)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_composes_transforms_of_numpy_images(num_workers: int) -> None:
    images = np.stack([PIXELS] * 4)
    augment = T.Compose(
        [
            T.RandomFlipLeftRight(),
            T.RandomBrightness(0.3),
            T.Compose([T.HybridRandomApply(T.RandomFlipTopBottom())]),
            T.ToTensor(),
            T.Normalize(MEAN, STD),
        ]
    )
    dataset = mx.gluon.data.ArrayDataset(images, np.arange(4)).transform_first(augment)
    loader = mx.gluon.data.DataLoader(dataset, 4, num_workers=num_workers, thread_pool=True)
    ((batch, labels),) = loader
    assert batch.shape == (4, 3, 19, 23)
    assert labels.asnumpy().tolist() == [0, 1, 2, 3]


def test_functions_among_transforms_get_arrays_of_numpy_as_they_are() -> None:
    seen: list[type] = []

    def crop(x: Any) -> Any:
        seen.append(type(x))
        return x[:5]

    transform = T.Compose([crop, T.RandomFlipLeftRight(), T.ToTensor()])
    assert transform(PIXELS).shape == (3, 5, 23)
    assert transform(image()).shape == (3, 5, 23)
    assert seen == [np.ndarray, mx.nd.NDArray]


def test_a_generator_of_an_image_has_its_key_and_asks_for_no_entropy() -> None:
    mx.random.seed(2**63 + 5)
    seed, counter = host.random_key()
    mx.random.seed(2**63 + 5)
    found = random_generator()
    expected = np.random.Generator(np.random.Philox(key=(seed << 64) | counter))
    np.testing.assert_array_equal(found.random(9), expected.random(9))
    assert not isinstance(found.bit_generator.seed_seq, np.random.SeedSequence)
