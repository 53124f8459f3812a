"""cross_entropy and linear_cross_entropy: values, gradients, slices, memory, refusals."""

from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, nd
from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.kernels.generated import linear_cross_entropy as fast
from gluonish.ops.nn import cross_entropy as rows_module
from gluonish.ops.nn.cross_entropy import Rows, Terms, fill_rows
from gluonish.ops.nn.linear_cross_entropy import Call, Tools, _product, run_slices
from tests.checking.check_operator import check_operator
from tests.checking.values import run_operator
from tests.onnx.exporting.judge import exported
from tests.ops.cases import smoothed_cross_entropy

IGNORED = -100
TOLERANCES = {"float64": 1e-12, "float32": 3e-6, "float16": 1e-2, "bfloat16": 2e-2}


def inputs(rows: int = 150, features: int = 40, classes: int = 300) -> list[Any]:
    random = np.random.default_rng(1)
    x = random.standard_normal((3, rows // 3, features))
    weight = random.standard_normal((classes, features)) * 0.3
    label = random.integers(0, classes, x.shape[:-1])
    label[0, :7] = IGNORED
    return [x, weight, label, random.standard_normal(classes) * 0.1]


def exact(arrays: Any, head: Any, smoothing: float, square: float, reduction: str) -> list[Any]:
    """Return the loss and the gradients of x, weight and bias, by hand in float64."""
    x, weight, label, bias = arrays
    flat, labels = x.reshape(-1, x.shape[-1]), label.reshape(-1)
    scores = flat @ weight.T + bias
    losses = smoothed_cross_entropy(scores, labels, smoothing, square, IGNORED)
    keep = labels != IGNORED
    log_sum = np.log(np.exp(scores).sum(1, keepdims=True))
    slope = np.exp(scores - log_sum) * (1 + 2 * square * log_sum) - smoothing / len(weight)
    slope[np.arange(len(flat))[keep], labels[keep]] -= 1 - smoothing
    factors = keep / max(1, keep.sum()) if reduction == "mean" else keep * 1.0
    slope *= (factors * head.reshape(-1))[:, None]
    loss = losses.reshape(label.shape) if reduction == "none" else (losses * factors).sum()[None]
    return [loss, (slope @ weight).reshape(x.shape), slope.T @ flat, slope.sum(0)]


def found(arrays: Any, head: Any, dtype: str, **attrs: Any) -> list[Any]:
    x, weight, bias = (nd.array(a, dtype=dtype) for a in (arrays[0], arrays[1], arrays[3]))
    for array in (x, weight, bias):
        array.attach_grad()
    with autograd.record(train_mode=attrs.pop("train", True)):
        loss = nd.linear_cross_entropy(x, weight, nd.array(arrays[2], dtype="int32"), bias, **attrs)
    loss.backward(nd.array(head, dtype=loss.dtype))
    return [a.asnumpy().astype(np.float64) for a in (loss, x.grad, weight.grad, bias.grad)]


def arrays_of(values: Any) -> Any:
    return [nd.array(a, dtype=a.dtype) for a in values]


def heads(reduction: str) -> Any:
    random = np.random.default_rng(2)
    return random.standard_normal((3, 50)) if reduction == "none" else np.array([1.7])


@pytest.mark.parametrize("dtype", [*TOLERANCES])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("nbytes", [1 << 30, 1])  # one slice, and several
def test_loss_and_gradients_equal_float64(
    dtype: str, reduction: str, recompute: bool, nbytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "_SLICE", nbytes)
    arrays, head = inputs(), heads(reduction)
    attrs: dict[str, Any] = {"label_smoothing": 0.1, "z_loss": 1e-2, "ignore_label": IGNORED}
    attrs |= {"reduction": reduction, "recompute": recompute}
    if dtype not in ("float64", "float32"):  # compare arithmetic, not the rounding of inputs
        kind = {"bfloat16": ml_dtypes.bfloat16}.get(dtype, dtype)
        arrays = [a.astype(kind).astype(np.float64) if a.dtype == np.float64 else a for a in arrays]
    got = found(arrays, head, dtype, **attrs)
    want = exact(arrays, head, 0.1, 1e-2, reduction)
    for name, a, b in zip(("loss", "x", "weight", "bias"), got, want, strict=True):
        assert np.abs(a - b).max() <= TOLERANCES[dtype] * np.abs(b).max(), name


def test_gradients_saved_outside_training_are_computed_in_backward() -> None:
    attrs = {"reduction": "mean", "ignore_label": IGNORED, "train": False}
    got = found(inputs(), np.array([1.7]), "float32", **attrs)
    for a, b in zip(got, exact(inputs(), np.array([1.7]), 0, 0, "mean"), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=3e-6 * np.abs(b).max())


def test_equal_runs_give_equal_bits() -> None:
    for reduction in ("mean", "none"):
        runs = [found(inputs(), heads(reduction), "float32", reduction=reduction,
                      ignore_label=IGNORED) for _ in range(2)]  # fmt: skip
        for a, b in zip(*runs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("bias", [False, True])
def test_second_derivatives(reduction: str, bias: bool) -> None:
    random = np.random.default_rng(3)
    x, weight = random.standard_normal((4, 3)), random.standard_normal((5, 3))
    label = np.array([0, 4, 9, 1])
    arrays = [x, weight, label, random.standard_normal(5)][: 3 + bias]
    keep = label != 9

    def expected(x: Any, weight: Any, label: Any, *bias: Any) -> Any:
        scores = x @ weight.T + (bias[0] if bias else 0)
        losses = smoothed_cross_entropy(scores, label, 0.2, 0.1, 9)
        total = losses.sum(keepdims=True)
        return {"none": losses, "mean": total / keep.sum(), "sum": total}[reduction]

    attrs = {"label_smoothing": 0.2, "z_loss": 0.1, "ignore_label": 9, "reduction": reduction}
    check_operator(
        "linear_cross_entropy",
        [a.astype(np.float32) for a in arrays],
        {**attrs, "use_bias": bias},
        expected,
        wrt=(0, 1, 3)[: 2 + bias],
        half=False,
    )


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("classes", [7, 33, 4099])
def test_scores(reduction: str, dtype: str, classes: int) -> None:
    random = np.random.default_rng(4)
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.float32
    scores = (random.standard_normal((150, classes)) * 3).astype(kind)
    label = random.integers(0, classes, 150)
    label[:3] = IGNORED
    head = random.standard_normal(150) if reduction == "none" else np.array([0.7])
    wide = [scores.astype(np.float64), np.eye(classes), label, np.zeros(classes)]
    want = exact(wide, head, 0.1, 1e-2, reduction)
    x = nd.array(scores, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        loss = nd.cross_entropy(
            x, nd.array(label, dtype="int64"), label_smoothing=0.1, z_loss=1e-2,
            ignore_label=IGNORED, reduction=reduction,
        )  # fmt: skip
    loss.backward(nd.array(head, dtype="float32"))
    assert loss.dtype == np.float32
    np.testing.assert_allclose(loss.asnumpy(), want[0], rtol=1e-5, atol=1e-5)
    got = x.grad.asnumpy().astype(np.float64)
    assert np.abs(got - want[1]).max() <= (1e-2 if dtype == "bfloat16" else 3e-6)


def test_ignored_rows_hide_infinite_scores() -> None:
    x = nd.array(np.full((2, 600), np.nan))
    x[1] = 0
    x.attach_grad()
    with autograd.record():
        loss = nd.cross_entropy(x, nd.array([7, 3]), ignore_label=7, reduction="mean")
    loss.backward()
    assert loss.asscalar() == pytest.approx(np.log(600))
    assert not x.grad[0].asnumpy().any()
    assert x.grad[1, 3].asscalar() == pytest.approx(1 / 600 - 1)


def test_scores_far_from_0_do_not_overflow() -> None:
    x = np.zeros((9, 600), np.float32)
    x[:, 0], x[:, 1] = 1e4, 1e4 - 1
    loss = run_operator("cross_entropy", x, np.ones(9, np.float32))
    np.testing.assert_allclose(loss, np.full(9, 1 + np.log1p(np.exp(-1))), rtol=1e-6)


def test_only_ignored_rows_have_a_mean_of_0() -> None:
    x, weight, label, bias = inputs()
    label = np.full_like(label, IGNORED)
    attrs = {"reduction": "mean", "ignore_label": IGNORED}
    for array in found([x, weight, label, bias], np.ones(1), "float32", **attrs):
        assert not array.any()


def test_no_rows() -> None:
    arrays = inputs(rows=0)[:2]
    for reduction in ("mean", "none"):
        head = np.ones(1 if reduction == "mean" else (3, 0))
        got = found(
            [*arrays, np.zeros((3, 0)), np.zeros(300)], head, "float32", reduction=reduction
        )
        assert got[2].shape == (300, 40)
        assert not any(array.any() for array in got)


def test_16_bits_multiply_in_16_bits() -> None:
    """The path of processors that multiply bfloat16, with products of the reference kernel."""
    x, weight, label, bias = inputs()
    narrow = [a.astype(ml_dtypes.bfloat16) for a in (x.reshape(-1, 40), weight, bias)]
    attrs = {"ignore_label": IGNORED, "label_smoothing": 0.1, "z_loss": 0.0, "reduction": "mean"}
    kinds = []

    def multiply(xp: Any, out: Any, a: Any, b: Any, add: bool) -> None:
        kinds.append((a.dtype, b.dtype))
        _product(xp, out, a.astype(np.float32), b.astype(np.float32), add)

    grads = [np.empty_like(a) for a in narrow]
    call = Call.of(np, [narrow[0], narrow[1], label.reshape(-1), narrow[2]], None, attrs)
    for tools in (Tools(multiply, fast._fill, True), Tools(multiply, fill_rows, True)):
        run_slices(np, tools, call, grads)
        assert all(a == b == ml_dtypes.bfloat16 for a, b in kinds)
        wide = [narrow[0].astype(float).reshape(x.shape), narrow[1].astype(float), label]
        want = exact([*wide, narrow[2].astype(float)], np.ones(1), 0.1, 0, "mean")[1:]
        for a, b in zip(grads, want, strict=True):
            error = np.abs(a.astype(float).reshape(b.shape) - b).max()
            assert error <= 2e-2 * np.abs(b).max()


def test_rows_in_place_equal_rows_beside() -> None:
    random = np.random.default_rng(5)
    scores = random.standard_normal((40, 700)).astype(np.float32)
    labels = random.integers(0, 700, 40)
    attrs = {"ignore_label": None, "label_smoothing": 0.1, "z_loss": 0.1, "reduction": "mean"}
    rows = Rows.of(np, "cross_entropy", labels, 700, np.dtype(np.float32), attrs)
    beside, losses = np.empty_like(scores), np.empty(40, np.float32)
    for fill in (fill_rows, fast._fill):
        own = scores.copy()
        fill(np, scores, rows, losses, beside, Terms.of(attrs, 700))
        fill(np, own, rows, losses, own, Terms.of(attrs, 700))
        np.testing.assert_array_equal(own, beside)


@pytest.mark.parametrize("name", ["cross_entropy", "linear_cross_entropy"])
def test_refusals(name: str) -> None:
    x, weight, label = nd.ones((4, 3)), nd.ones((5, 3)), nd.array([0, 1, 2, 3])

    def call(label: Any = label, **attrs: Any) -> Any:
        if name == "cross_entropy":
            return nd.cross_entropy(nd.ones((4, 5)), label, **attrs)
        return nd.linear_cross_entropy(x, weight, label, **attrs)

    with pytest.raises(OperatorError, match=rf"{name}: expected label \(4,\), got \(2,\)"):
        call(nd.ones(2))
    with pytest.raises(OperatorError, match=r"label_smoothing in \[0, 1\], got 1.5"):
        call(label_smoothing=1.5)
    with pytest.raises(OperatorError, match=r"z_loss of at least 0, got -1.0"):
        call(z_loss=-1)
    with pytest.raises(OperatorIndexError, match=r"labels in \[0, 5\), got 5"):
        call(nd.array([0, 1, 5, 0])).wait_to_read()
    with pytest.raises(OperatorIndexError, match=r"labels in \[0, 5\) or -1, got -2"):
        call(nd.array([0, 1, -1, -2]), ignore_label=-1).wait_to_read()


def test_refused_parameters() -> None:
    x, label = nd.ones((4, 3)), nd.zeros(4)
    with pytest.raises(OperatorError, match=r"expected weight \(classes, 3\) of float32.*\(5, 2\)"):
        nd.linear_cross_entropy(x, nd.ones((5, 2)), label)
    with pytest.raises(OperatorError, match=r"expected bias \(5,\) of float32, got \(4,\)"):
        nd.linear_cross_entropy(x, nd.ones((5, 3)), label, nd.ones(4))
    with pytest.raises(OperatorError, match=r"expected weight .* got \(5, 3\) of float16"):
        nd.linear_cross_entropy(x, nd.ones((5, 3), dtype="float16"), label)


def test_the_scores_never_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """No array of a step is larger than a slice, except data, weight and their gradients."""
    monkeypatch.setattr(rows_module, "_SLICE", 1)
    largest = []
    empty = np.empty

    def counted(shape: Any, *args: Any, **kwargs: Any) -> Any:
        array = empty(shape, *args, **kwargs)
        largest.append(array.size)
        return array

    monkeypatch.setattr(np, "empty", counted)
    arrays = inputs(rows=3 * 200, classes=1000)
    found(arrays, np.ones(1), "float32", reduction="mean", ignore_label=IGNORED)
    assert 64 * 1000 <= max(largest) <= 80 * 1000


def test_exported(tmp_path: Path) -> None:
    x, weight, label, bias = inputs(rows=12, features=4, classes=9)
    arrays = [x.astype(np.float32), weight.astype(np.float32), label[:, :4], bias.astype("float32")]
    names: Any = [mx.sym.var(name) for name in ("x", "weight", "label", "bias")]
    for reduction, ignored in product(("none", "mean", "sum"), (None, IGNORED)):
        attrs = {"reduction": reduction, "ignore_label": ignored, "label_smoothing": 0.1,
                 "z_loss": 0.1}  # fmt: skip
        if ignored is None:
            arrays[2] = np.abs(arrays[2]) % 9
        else:
            arrays[2][0, :2] = ignored
        made = mx.sym.linear_cross_entropy(*names, **attrs)
        want = nd.linear_cross_entropy(*arrays_of(arrays), **attrs)
        got = exported(tmp_path / "x.onnx", made, {}, arrays)[0]
        np.testing.assert_allclose(got, want.asnumpy(), rtol=1e-5)
        scores = mx.sym.cross_entropy(mx.sym.var("x"), mx.sym.var("label"), **attrs)
        two = [(arrays[0] @ arrays[1].T).astype(np.float32), arrays[2]]
        want = nd.cross_entropy(*arrays_of(two), **attrs)
        got = exported(tmp_path / "y.onnx", scores, {}, two)[0]
        np.testing.assert_allclose(got, want.asnumpy(), rtol=1e-5)
