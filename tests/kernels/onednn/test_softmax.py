from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.softmax import log_softmax, softmax, softmax_backward
from gluonish.ops.kernel import Array
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD
from tests.kernels.onednn.planned import (
    Layout,
    channels_last,
    check,
    contiguous,
    parsed,
    random,
    reference,
    run,
    with_gaps,
)

Close = Callable[[Array, Array], None]

FORWARD = {False: (SOFTMAX, softmax), True: (LOG_SOFTMAX, log_softmax)}
ROWS = [
    ((7,), 0, contiguous),
    ((5, 33), -1, contiguous),
    ((33, 5, 1), 1, contiguous),
    ((2, 3, 4, 5), 3, contiguous),
    ((2, 3, 4, 5), 1, channels_last),
    ((2, 17, 6), 1, channels_last),
]
OTHERS = [((5, 33), 0, contiguous), ((2, 3, 4, 5), 1, contiguous), ((5, 33), 1, with_gaps)]


@pytest.mark.parametrize("log", FORWARD)
@pytest.mark.parametrize(("shape", "axis", "layout"), ROWS)
def test_forward_and_backward(
    shape: tuple[int, ...], axis: int, layout: Layout, log: bool, dtype: Any, close: Close
) -> None:
    op, plan = FORWARD[log]
    data = random(*shape, dtype=dtype) * 3
    attrs = parsed(op, axis=axis)
    forward = check(op, plan, [data], attrs, close, layout)
    (result,) = reference(op, [data], attrs)
    inputs = [random(*shape, dtype=dtype, seed=1), result.astype(dtype)]
    back = parsed(SOFTMAX_BACKWARD, axis=axis, log=log, dtype="float32")
    back["dtype"] = np.dtype(dtype)
    if "avx2" not in forward.implementations[0]:
        check(SOFTMAX_BACKWARD, softmax_backward, inputs, back, close, layout)
        return
    # The library has an optimized gradient for AVX-512 alone; elsewhere ours stays in use.
    with pytest.raises(RefusedError, match="expected an optimized implementation, got ref"):
        check(SOFTMAX_BACKWARD, softmax_backward, inputs, back, close, layout)


@pytest.mark.parametrize(("shape", "axis", "layout"), OTHERS)
def test_rows_that_are_not_together_in_memory_are_refused(
    shape: tuple[int, ...], axis: int, layout: Layout
) -> None:
    data = layout(random(*shape))
    attrs = parsed(SOFTMAX, axis=axis)
    with pytest.raises(RefusedError, match="expected an optimized implementation, got ref"):
        run(softmax, [data.copy(order="K")], [data], attrs)


def test_large_numbers_do_not_overflow(close: Close) -> None:
    data = np.array([[1e4, 0, -1e4], [-1e4, -1e4, -1e4]], np.float32)
    check(SOFTMAX, softmax, [data], parsed(SOFTMAX), close)


def test_channels_last_over_channels_is_one_step() -> None:
    data = channels_last(random(2, 16, 5, 5))
    plan = run(softmax, [data.copy(order="K")], [data], parsed(SOFTMAX, axis=1))
    assert len(plan.steps) == 1
    assert "ref" not in plan.implementations[0]


def test_two_dtypes_are_refused() -> None:
    data = random(2, 3)
    with pytest.raises(RefusedError, match=r"softmax: .*float64\(2, 3\)"):
        run(softmax, [data.astype(np.float64)], [data], parsed(SOFTMAX))
