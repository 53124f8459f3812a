"""Smoothing, ignored labels, weights, focal and dice loss, against PyTorch and differences."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentError, GluonishError
from gluonish.gluon import loss as losses

GOLDEN = Path(__file__).parents[2] / "golden" / "training_losses.json"
CASES = json.loads(GOLDEN.read_text("utf-8"))
WAYS = ("nd", "np", "hybridized", "hybridized np")
FORMULAS: list[tuple[str, dict[str, Any], str]] = [
    ("FocalLoss", {}, "dense"),
    ("FocalLoss", {"gamma": 0.5, "alpha": None}, "dense"),
    ("SoftmaxFocalLoss", {"axis": 1}, "sparse"),
    ("SoftmaxFocalLoss", {"axis": 1, "sparse_label": False}, "dense"),
    ("DiceLoss", {}, "dense"),
    ("DiceLoss", {"num_classes": 3, "smooth": 0.5}, "sparse"),
    ("SoftmaxCrossEntropyLoss", {"axis": 1, "label_smoothing": 0.2}, "sparse"),
    ("SoftmaxCrossEntropyLoss", {"axis": 1, "ignore_label": 1}, "sparse"),
    (
        "SoftmaxCrossEntropyLoss",
        {"axis": 1, "label_smoothing": 0.2, "sparse_label": False},
        "dense",
    ),
    (
        "SoftmaxCrossEntropyLoss",
        {"axis": 1, "label_smoothing": 0.2, "from_logits": True, "ignore_label": 0},
        "sparse",
    ),
]


def run(compute: Any, inputs: list[Any], way: str, dtype: str = "float64") -> tuple[Any, Any]:
    """Return the loss of each sample, and the gradient of their sum times 1, 2, 3, ..."""
    make = mx.np.array if "np" in way else nd.array
    compute.hybridize("hybridized" in way)
    arrays = [None if x is None else make(np.asarray(x), dtype=dtype) for x in inputs]
    arrays[0].attach_grad()
    while arrays[-1] is None:
        arrays.pop()
    with mx.autograd.record():
        result = compute(*arrays)
        total = (result * make(np.arange(1.0, len(result) + 1), dtype=dtype)).sum()
    total.backward()
    return result.asnumpy(), arrays[0].grad.asnumpy()


@pytest.mark.parametrize("way", WAYS)
def test_equal_pytorch(way: str) -> None:
    assert len(CASES) > 80
    for case in CASES:
        compute = getattr(losses, case["loss"])(**case["arguments"])
        value, gradient = run(compute, case["inputs"], way)
        said = f"{case['loss']} {case['arguments']}"
        np.testing.assert_allclose(value, case["value"], 1e-6, 1e-9, err_msg=said)
        np.testing.assert_allclose(gradient, case["gradient"], 1e-6, 1e-9, err_msg=said)


@pytest.mark.parametrize("case", FORMULAS, ids=str)
def test_gradients_equal_differences(case: tuple[str, dict[str, Any], str]) -> None:
    name, arguments, kind = case
    random = np.random.default_rng(1)
    pred = random.normal(size=(2, 3, 4))
    if arguments.get("from_logits"):
        pred -= 3
    label = random.integers(0, 3, (2, 4)) if kind == "sparse" else random.random((2, 3, 4))
    compute = getattr(losses, name)(**arguments)
    _, gradient = run(compute, [pred, label], "nd")
    step = 1e-6
    for _ in range(3):
        direction = random.normal(size=pred.shape)
        ends = [run(compute, [pred + d * direction, label], "nd")[0] for d in (step, -step)]
        slope = ((ends[0] - ends[1]) / (2 * step) * [1, 2]).sum()
        np.testing.assert_allclose((gradient * direction).sum(), slope, 1e-6, 1e-9)


@pytest.mark.parametrize("make", ["FocalLoss", "SoftmaxFocalLoss", "DiceLoss"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_large_scores_have_finite_losses_and_gradients(make: str, dtype: str) -> None:
    scores = np.array([[800.0, -800.0], [-800.0, 800.0]])
    for gamma in (0.5, 2.0):
        options = {} if make == "DiceLoss" else {"gamma": gamma}
        label = [0, 0] if make == "SoftmaxFocalLoss" else [[1, 0], [1, 0]]
        value, gradient = run(getattr(losses, make)(**options), [scores, label], "nd", dtype)
        assert np.isfinite(value).all()
        assert np.isfinite(gradient).all()


def test_without_gamma_and_alpha_the_focal_loss_is_the_binary_cross_entropy() -> None:
    pred, label = np.array([[0.3, -2.0, 5.0]]), np.array([[1.0, 0.0, 0.2]])
    found = run(losses.FocalLoss(gamma=0, alpha=None), [pred, label], "nd")
    expected = run(losses.SigmoidBCELoss(), [pred, label], "nd")
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, 1e-12)


def test_ignored_positions_count_in_the_mean_and_may_be_infinite() -> None:
    half = np.log(0.5)
    pred = np.array([[[half, -np.inf], [half, 0.0]]])  # (1, classes, 2)
    compute = losses.SoftmaxCrossEntropyLoss(axis=1, from_logits=True, ignore_label=-1)
    value, gradient = run(compute, [pred, [[1, -1]]], "nd")
    np.testing.assert_allclose(value, [-half / 2])
    np.testing.assert_array_equal(gradient, [[[0, 0], [-0.5, 0]]])


def test_labels_out_of_range_are_warned_of_on_any_axis() -> None:
    compute = losses.SoftmaxCrossEntropyLoss(axis=1, label_smoothing=0.1)
    with pytest.warns(UserWarning, match="expected labels from 0 to 2, got 3"):
        compute(nd.ones((2, 3, 1), ctx=mx.cpu()), nd.array([[0], [3]], ctx=mx.cpu()))


def test_arguments_out_of_range_are_refused() -> None:
    make = losses.SoftmaxCrossEntropyLoss
    wrongs: list[tuple[Any, dict[str, Any], str]] = [
        (make, {"label_smoothing": 1.5}, r"label_smoothing in \[0, 1\], got 1.5"),
        (make, {"label_smoothing": -0.1}, r"label_smoothing in \[0, 1\], got -0.1"),
        (make, {"ignore_label": 0, "sparse_label": False}, "sparse_label=True with ignore_label"),
        (make, {"z_loss": 0.1, "axis": 1}, "axis=-1 with z_loss"),
        (losses.FocalLoss, {"gamma": -1}, "FocalLoss: expected gamma of at least 0, got -1"),
        (losses.FocalLoss, {"alpha": 2}, r"expected alpha in \[0, 1\] or None, got 2"),
        (losses.SoftmaxFocalLoss, {"gamma": float("nan")}, "gamma of at least 0, got nan"),
        (losses.DiceLoss, {"smooth": -1}, "smooth of at least 0, got -1"),
        (losses.DiceLoss, {"num_classes": 0}, "num_classes"),
        (losses.DiceLoss, {"num_classes": 2, "axis": 0}, "got 0 for both"),
    ]
    for kind, arguments, message in wrongs:
        with pytest.raises(ArgumentError, match=message):
            kind(**arguments)


@pytest.mark.parametrize("make", [losses.FocalLoss, losses.DiceLoss])
def test_labels_of_another_size_are_refused(make: Any) -> None:
    with pytest.raises(GluonishError, match=r"label of as many elements as pred \(2, 3\)"):
        make()(nd.ones((2, 3)), nd.ones((2, 4))).wait_to_read()
