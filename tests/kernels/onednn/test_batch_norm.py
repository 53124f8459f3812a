from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.batch_norm import batch_norm, batch_norm_backward
from gluonish.ops.kernel import Array
from gluonish.ops.normalization.batch_norm import BATCH_NORM, BATCH_NORM_BACKWARD
from gluonish.ops.normalization.batch_norm_relu import BATCH_NORM_RELU, BATCH_NORM_RELU_BACKWARD
from gluonish.ops.registry import Operator
from tests.kernels.onednn.planned import (
    LAYOUTS,
    Layout,
    blank,
    channels_last,
    contiguous,
    parsed,
    random,
    run,
)

Close = Callable[[Array, Array], None]

SHAPES = [(16, 5), (4, 3, 7), (2, 17, 5, 4), (2, 32, 5, 4), (2, 4, 3, 4, 2), (8, 1, 3, 3)]
BACKWARD = {BATCH_NORM: BATCH_NORM_BACKWARD, BATCH_NORM_RELU: BATCH_NORM_RELU_BACKWARD}
OPERATORS = pytest.mark.parametrize("op", BACKWARD, ids=lambda op: op.name)


def _inputs(shape: tuple[int, ...], dtype: Any, layout: Layout = contiguous) -> list[Array]:
    channels = shape[1]
    data = layout((random(*shape) * 2 + 1).astype(dtype))
    gamma, beta, mean = (random(channels, seed=seed) for seed in (1, 2, 3))
    return [data, gamma, beta, mean, np.abs(random(channels, seed=4)) + 0.5]


def _both(
    op: Operator, plan: Any, inputs: list[Array], attrs: Any, close: Close, layout: Layout
) -> list[Array]:
    """Run plan and reference, each on its own copies; compare all but the mask."""
    kept = [x if x.ndim > 1 else x.copy() for x in inputs]
    theirs = [x.copy() for x in inputs]
    outputs = blank(op, inputs, layout, attrs)
    run(plan, outputs, kept, attrs)
    wanted = blank(op, inputs, layout, attrs)
    op.kernel(np, tuple(wanted), *theirs, **attrs)
    for got, want in zip([*outputs[:3], *kept], [*wanted[:3], *theirs], strict=True):
        close(got, want.astype(np.float64))
    return outputs


@OPERATORS
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("fix_gamma", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward_and_backward(
    shape: tuple[int, ...],
    layout: Layout,
    fix_gamma: bool,
    train: bool,
    op: Operator,
    dtype: Any,
    close: Close,
) -> None:
    inputs = _inputs(shape, dtype, layout)
    attrs = parsed(op, train, fix_gamma=fix_gamma, eps=1e-3, momentum=0.7)
    outputs = _both(op, batch_norm, inputs, attrs, close, layout)
    back = BACKWARD[op]
    grad = layout(random(*shape, dtype=dtype, seed=5))
    given = [grad, inputs[0], inputs[1], *outputs[1:3]]
    if op is BATCH_NORM_RELU:
        given += [outputs[0], outputs[3]]
    plain = parsed(back, fix_gamma=fix_gamma, use_global_stats=not train)
    _both(back, batch_norm_backward, given, plain, close, layout)


@pytest.mark.parametrize("shape", [(4, 16), (2, 32, 5), (2, 16, 3, 4)], ids=str)
def test_the_mask_is_what_the_reference_kernel_writes(shape: tuple[int, ...], dtype: Any) -> None:
    attrs = parsed(BATCH_NORM_RELU)
    inputs = _inputs(shape, dtype, channels_last)
    out, *_, mask = outputs = blank(BATCH_NORM_RELU, inputs, channels_last, attrs)
    plan = run(batch_norm, outputs, inputs, attrs)
    if any("any" in name for name in plan.implementations[:1]):
        pytest.skip("this machine keeps bytes")
    bits = np.packbits(out.ravel(order="K") > 0, bitorder="little")
    np.testing.assert_array_equal(mask, bits)


def test_channels_last_data_is_not_reordered() -> None:
    attrs = parsed(BATCH_NORM_RELU)
    inputs = _inputs((2, 32, 6, 6), np.float32, channels_last)
    outputs = blank(BATCH_NORM_RELU, inputs, channels_last, attrs)
    steps = run(batch_norm, outputs, inputs, attrs).steps
    assert len(steps) == 4, "one on the data, two averages, the inverse root"


def test_mixed_layouts_behind_the_function(close: Close) -> None:
    attrs = parsed(BATCH_NORM_RELU)
    inputs = _inputs((2, 16, 5, 4), np.float32, channels_last)
    outputs = _both(BATCH_NORM_RELU, batch_norm, inputs, attrs, close, contiguous)
    grad = random(2, 16, 5, 4, seed=5)
    given = [grad, *inputs[:2], *outputs[1:3], outputs[0], outputs[3]]
    plain = parsed(BATCH_NORM_RELU_BACKWARD)
    _both(BATCH_NORM_RELU_BACKWARD, batch_norm_backward, given, plain, close, channels_last)


def test_float64_statistics_are_refused() -> None:
    inputs = _inputs((2, 3, 4), np.float32)
    attrs = parsed(BATCH_NORM)
    outputs = blank(BATCH_NORM, inputs, contiguous, attrs)
    inputs[1] = inputs[1].astype(np.float64)
    with pytest.raises(RefusedError, match="expected contiguous float32 statistics"):
        run(batch_norm, outputs, inputs, attrs)


def test_data_of_two_dtypes_is_refused() -> None:
    inputs = _inputs((2, 3, 4), np.float32)
    attrs = parsed(BATCH_NORM)
    outputs = blank(BATCH_NORM, inputs, contiguous, attrs)
    outputs[0] = outputs[0].astype(np.float64)
    with pytest.raises(RefusedError, match="expected arrays of equal dtype"):
        run(batch_norm, outputs, inputs, attrs)
