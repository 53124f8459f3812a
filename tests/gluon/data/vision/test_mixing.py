"""MixUp and CutMix: mixtures by their definitions, and what they draw."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon.data.vision import transforms as T

RNG = np.random.default_rng(1)


def _batch(dtype: str = "float32") -> tuple[Any, Any]:
    data = RNG.integers(0, 256, (6, 3, 20, 30)).astype(dtype)
    return nd.array(data, dtype=dtype), nd.array([0, 1, 2, 3, 4, 2])


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_mixup_mixes_data_and_labels_alike(dtype: str) -> None:
    data, label = _batch(dtype)
    mx.random.seed(3)
    mixed, soft = T.MixUp(num_classes=5)(data, label)
    assert mixed.dtype == data.dtype
    assert soft.dtype == np.float32
    x, found = data.asnumpy().astype(np.float64), soft.asnumpy()
    part = found[1, 1]
    assert 0 < part < 1
    hot = np.eye(5)[label.asnumpy().astype(int)]
    np.testing.assert_allclose(found, part * hot + (1 - part) * np.roll(hot, 1, 0), atol=1e-6)
    want = part * x + (1 - part) * np.roll(x, 1, 0)
    np.testing.assert_allclose(mixed.asnumpy(), want, atol=0.501 if dtype == "uint8" else 1e-4)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_cutmix_pastes_a_rectangle_and_mixes_labels_by_area(layout: str) -> None:
    shape = (4, 3, 20, 30) if layout == "NCHW" else (4, 20, 30, 3)
    numbers = np.arange(4.0).reshape(4, 1, 1, 1)
    data = nd.array(np.broadcast_to(numbers, shape))
    hot = np.eye(4)
    mx.random.seed(6)
    for _ in range(50):
        mixed, soft = T.CutMix(1.0, 4, layout)(data, nd.array([0, 1, 2, 3]))
        x = mixed.asnumpy() if layout == "NHWC" else mixed.asnumpy().transpose(0, 2, 3, 1)
        pasted = x[1, ..., 0] == 0
        rows, columns = pasted.any(1).sum(), pasted.any(0).sum()
        assert pasted.sum() == rows * columns
        for index in range(4):
            want = np.where(pasted[..., None], (index - 1) % 4, index)
            np.testing.assert_array_equal(x[index], np.broadcast_to(want, (20, 30, 3)))
        kept = 1 - pasted.mean()
        want_soft = kept * hot + (1 - kept) * np.roll(hot, 1, 0)
        np.testing.assert_allclose(soft.asnumpy(), want_soft, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 3.0])
def test_parts_are_of_the_beta_distribution(alpha: float) -> None:
    mx.random.seed(1)
    data, label = nd.array([[1.0], [0.0]]), nd.array([[1.0, 0.0], [0.0, 1.0]])
    mix = T.MixUp(alpha)
    parts = np.array([float(mix(data, label)[0].asnumpy()[0, 0]) for _ in range(2500)])
    assert abs(parts.mean() - 0.5) < 0.03
    assert abs(parts.var() - 1 / (4 * (2 * alpha + 1))) < 0.012


def test_area_of_cutmix_is_the_drawn_one_inside() -> None:
    # A rectangle of side r about a point of [0, 1) has r - r^2 / 4 of each axis inside on average,
    # and r^2 is uniform for alpha 1.
    side = np.sqrt((np.arange(10000) + 0.5) / 10000)
    expected = ((side - side**2 / 4) ** 2).mean()
    mx.random.seed(2)
    data = nd.array(np.array([0.0, 1.0]).reshape(2, 1, 1, 1) * np.ones((2, 1, 64, 64)))
    mix = T.CutMix(num_classes=2)
    areas = [float(mix(data, nd.array([0, 1]))[0][0].mean().asscalar()) for _ in range(2000)]
    assert abs(np.mean(areas) - expected) < 0.03


def test_soft_labels_train() -> None:
    data, label = _batch()
    mixed, soft = T.CutMix(num_classes=5)(data, label)
    loss = gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)
    scores = nd.array(RNG.normal(size=(6, 5)))
    logs = scores.asnumpy() - np.log(np.exp(scores.asnumpy()).sum(1, keepdims=True))
    want = -(soft.asnumpy() * logs).sum(1)
    np.testing.assert_allclose(loss(scores, soft).asnumpy(), want, rtol=1e-5)
    assert mixed.shape == data.shape


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_mixes_as_it_makes_batches(workers: int) -> None:
    x = np.arange(16, dtype="float32").reshape(8, 1, 1, 2) * np.ones((8, 3, 4, 1), "float32")
    dataset = gluon.data.ArrayDataset(x, np.arange(8) % 2)

    def batches() -> list[Any]:
        mx.random.seed(4)
        np.random.seed(4)  # noqa: NPY002  # seeds the workers
        loader = gluon.data.DataLoader(
            dataset, 4, batchify_fn=T.MixUp(num_classes=2), num_workers=workers
        )
        return [(data.asnumpy(), label.asnumpy()) for data, label in loader]

    first, second = batches(), batches()
    for (data, soft), (again, soft_again) in zip(first, second, strict=True):
        assert data.shape == (4, 3, 4, 2)
        np.testing.assert_allclose(soft.sum(1), 1, atol=1e-6)
        np.testing.assert_array_equal(data, again)
        np.testing.assert_array_equal(soft, soft_again)
    assert first[0][1][0, 0] != first[1][1][0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.MixUp(0), r"MixUp: expected alpha above 0, got 0"),
        (lambda: T.MixUp(1, 0), r"MixUp: expected num_classes of 1 or more, got 0"),
        (lambda: T.CutMix(layout="CHW"), r"CutMix: expected layout 'NCHW' or 'NHWC', got 'CHW'"),
        (lambda: T.MixUp()(*_batch()), r"MixUp: expected soft labels \(6, classes\), .* num_class"),
        (lambda: T.MixUp(1, 4)(*_batch()), r"expected label of whole numbers from 0 to 3, got 4"),
        (lambda: T.MixUp(1, 4)(_batch()[0], nd.ones((6, 3))), r"num_classes \(4\) columns, got"),
        (lambda: T.MixUp(1, 4)(_batch()[0], nd.ones((5,))), r"expected label of shape \(6,\) or"),
        (lambda: T.MixUp(1, 4)(_batch()[0]), r"MixUp: expected data and label, or a list of"),
        (lambda: T.MixUp(1, 4)(nd.ones((2, 3), dtype="int32"), nd.ones(2)), r"of uint8 or floats"),
        (lambda: T.CutMix(1, 2)(nd.ones((2, 3)), nd.ones(2)), r"CutMix: expected data of four"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        call()


def test_input_is_not_modified() -> None:
    for mix in (T.MixUp(num_classes=5), T.CutMix(num_classes=5)):
        data, label = _batch()
        before = data.asnumpy().copy()
        mixed, soft = mix(data, label)
        mixed[:] = 0
        soft[:] = 0
        np.testing.assert_array_equal(data.asnumpy(), before)
        np.testing.assert_array_equal(label.asnumpy(), [0, 1, 2, 3, 4, 2])
