"""The kernels for class numbers against the operators' own."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.dtype import BFLOAT16
from gluonish.kernels.compiler import available
from gluonish.ops.kernel import FastKernel, RefusedError
from gluonish.ops.registry import Operator, find_operator
from tests.checking.values import run_kernel, spec_of

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not there")


def generated(op: Operator) -> FastKernel:
    """Return an operator's only generated kernel."""
    (fast,) = [each for each in op.fast_kernels if each.name.startswith("generated.")]
    return fast


def compare(name: str, inputs: list[Any], **given: Any) -> list[Any]:
    """Run both kernels; the fast one must take the inputs."""
    op = find_operator(name)
    attrs = op.schema.parse(name, given)
    fast = generated(op)
    assert fast.supports(*map(spec_of, inputs), **attrs)
    want = run_kernel(op, op.kernel, inputs, attrs, attrs)
    got = run_kernel(op, fast.kernel, inputs, attrs, attrs)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
    return got


def scores(*shape: int) -> Any:
    return np.random.default_rng(shape[-1]).standard_normal(shape).astype(np.float32) * 4


# With and without a rest behind the last whole block of 64 classes.
@pytest.mark.parametrize("shape", [(300, 64), (2, 130, 65), (5, 4099), (2000, 9)])
def test_log_softmax_pick(shape: tuple[int, ...]) -> None:
    index = np.random.default_rng(1).integers(-2, shape[-1] + 2, shape[:-1]).astype(np.float32)
    for mode in ("clip", "wrap"):
        out, *kept = compare("_log_softmax_pick", [scores(*shape), index], mode=mode)
        grad = scores(*out.shape)
        inputs = [grad, scores(*shape), index, *kept]
        compare("_log_softmax_pick_backward", inputs, mode=mode)


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8", "int32", "int64", "bool"])
@pytest.mark.parametrize("classes", [9, 70])
def test_class_numbers_of_all_types(classes: int, dtype: str) -> None:
    index = np.random.default_rng(3).integers(0, 12, 100).astype(dtype)
    _, *kept = compare("_log_softmax_pick", [scores(100, classes), index], scale=-2.0)
    inputs = [scores(100), scores(100, classes), index, *kept]
    compare("_log_softmax_pick_backward", inputs, scale=-2.0)


@pytest.mark.parametrize("classes", [9, 70])
@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_class_numbers_far_outside(mode: str, classes: int) -> None:
    index = np.resize(np.array([-7.5, 1e6, -1e6, 8.9, -0.5], np.float32), 70)
    if mode == "clip":  # what is no number counts as below all
        index[5:9] = np.nan, np.inf, -np.inf, 1e19
    compare("_log_softmax_pick", [scores(70, classes), index], mode=mode)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape", [(64, 10), (70, 1000), (520, 1), (3, 5, 63)])
def test_plans_give_what_the_reference_gives(shape: tuple[int, ...], keepdims: bool) -> None:
    index = np.random.default_rng(3).integers(0, shape[-1], shape[:-1]).astype(np.float32)
    inputs = [scores(*shape), index]
    given = {"keepdims": keepdims, "scale": -0.5}
    for name in ("_log_softmax_pick", "_log_softmax_pick_backward"):
        op = find_operator(name)
        attrs = op.schema.parse(name, given)
        fast = generated(op)
        want = run_kernel(op, op.kernel, inputs, attrs, attrs)
        outputs = [np.full_like(each, np.nan) for each in want]
        assert fast.plan is not None
        bound = fast.plan(outputs, inputs, attrs)
        arrays = (*outputs, *inputs)
        places = tuple(range(len(arrays)))
        bound.plan.attach(places, arrays, places).run(arrays)
        for a, b in zip(outputs, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
        inputs = [scores(*want[0].shape), *inputs, *want[1:]]


def test_nan_stays_in_its_row_of_few_classes() -> None:
    x = scores(100, 9)
    x[1, 4], x[2], x[3, 5] = np.nan, -np.inf, np.inf
    out, *kept = compare("_log_softmax_pick", [x, np.zeros(100, np.int32)])
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(out)), [1, 2, 3])
    grad = np.ones(100, np.float32)
    (found,) = compare("_log_softmax_pick_backward", [grad, x, np.zeros(100, np.int32), *kept])
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found).any(1)), [1, 2, 3])


def test_plans_refuse_gaps() -> None:
    op = find_operator("_log_softmax_pick")
    x = scores(200, 250)[:, ::2]
    outputs = [np.empty(n, np.float32) for n in (200, (200, 1), (200, 1))]
    fast = generated(op)
    assert fast.plan is not None
    with pytest.raises(RefusedError, match="expected contiguous arrays"):
        fast.plan(outputs, (x, np.arange(200)), op.schema.parse(op.name, {}))


def test_large_and_infinite_scores() -> None:
    x = scores(3, 8000)
    x[0, 5], x[1] = 1e30, -np.inf
    x[1, 7], x[2, 7999] = 3.0, -np.inf
    found = compare("_log_softmax_pick", [x, np.array([5, 7, 7999])])
    np.testing.assert_array_equal(found[0], np.array([0, 0, -np.inf], np.float32))


def test_scores_far_from_zero_lose_nothing() -> None:
    index = np.arange(30)
    found = compare("_log_softmax_pick", [scores(30, 700) + np.float32(3e4), index])
    inputs = [scores(30), scores(30, 700) + np.float32(3e4), index, *found[1:]]
    compare("_log_softmax_pick_backward", inputs)


def test_nan_stays_in_its_row() -> None:
    x = scores(3, 8000)
    x[1, 4000] = np.nan
    out = compare("_log_softmax_pick", [x, np.zeros(3, np.int32)])[0]
    np.testing.assert_array_equal(np.isnan(out), [False, True, False])


def test_strided_scores() -> None:
    compare("_log_softmax_pick", [scores(200, 250)[:, ::2], np.arange(200)], keepdims=True)


@pytest.mark.parametrize("width", [1, 65, 300])
def test_gradient_of_an_embedding(width: int) -> None:
    size = 20000 // width + 1
    data = np.random.default_rng(2).integers(-3, size + 3, (6, 50)).astype(np.float32)
    data[0] = 7  # many times the same row
    grad = scores(6, 50, width)
    compare("_embedding_backward", [grad, data], input_dim=size, output_dim=width)


def test_gradient_of_an_embedding_that_nothing_read() -> None:
    (found,) = compare(
        *("_embedding_backward", [scores(0, 256), np.zeros(0, np.float32)]),
        input_dim=100,
        output_dim=256,
    )
    assert not found.any()


@pytest.mark.parametrize("classes", [64, 100, 1000])
def test_scores_in_bfloat16_give_losses_in_float32(classes: int) -> None:
    data = scores(40, classes).astype(BFLOAT16)
    index = np.random.RandomState(1).randint(0, classes, 40).astype(np.float32)
    given = {"scale": -2.0, "wide": True}
    out, *kept = compare("_log_softmax_pick", [data, index], **given)
    assert out.dtype == np.float32
    grad = np.linspace(-1, 1, 40, dtype=np.float32)
    compare("_log_softmax_pick_backward", [grad, data, index, *kept], **given)


@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
@pytest.mark.parametrize("classes", [9, 64, 1000])
def test_the_gradient_may_replace_the_scores(classes: int, dtype: Any) -> None:
    if dtype == BFLOAT16 and classes < 64:
        pytest.skip("scores of few classes are float32")
    op = find_operator("_log_softmax_pick_backward")
    fast = generated(op)
    assert op.overwrites is not None
    attrs = op.schema.parse(op.name, {"wide": True})
    data, index = scores(70, classes).astype(dtype), np.arange(70) % classes
    saved = compare("_log_softmax_pick", [data, index], wide=True)[1:]
    inputs = [scores(70), data, index, *saved]
    (want,) = run_kernel(op, fast.kernel, inputs, attrs, attrs)
    assert op.overwrites(attrs) == 1
    for kernel in (fast.kernel, op.kernel):
        again = data.copy()
        kernel(np, again, inputs[0], again, *inputs[2:], **attrs)
        tolerance = 0 if kernel is fast.kernel else 2e-2
        np.testing.assert_allclose(
            again.astype(np.float32), want.astype(np.float32), rtol=tolerance, atol=tolerance
        )
