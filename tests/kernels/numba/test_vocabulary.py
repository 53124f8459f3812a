"""The kernels for large vocabularies against the operators' own."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.numba.compiler import available
from gluonish.ops.registry import find_operator
from gluonish.testing.values import run_kernel, spec_of

pytestmark = pytest.mark.skipif(not available(), reason="Numba is not there")


def compare(name: str, inputs: list[Any], **given: Any) -> list[Any]:
    """Run both kernels; the fast one must take the inputs."""
    op = find_operator(name)
    attrs = op.schema.parse(name, given)
    (fast,) = [each for each in op.fast_kernels if each.name.startswith("numba.")]
    assert fast.takes(*map(spec_of, inputs), **attrs)
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
