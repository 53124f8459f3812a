from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.lrn import has_exact_backward, lrn, lrn_backward
from gluonish.ops.kernel import Array
from gluonish.ops.normalization.lrn import LRN, LRN_BACKWARD
from tests.kernels.onednn.planned import (
    LAYOUTS,
    Layout,
    blank,
    channels_last,
    contiguous,
    parsed,
    random,
    reference,
    run,
)

Close = Callable[[Array, Array], None]


@pytest.mark.parametrize("nsize", [3, 4, 5])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3, 7), (2, 5, 4, 3), (2, 32, 5, 4)], ids=str)
def test_forward_and_backward(
    shape: tuple[int, ...], layout: Layout, nsize: int, dtype: Any, close: Close
) -> None:
    data, grad = (layout(random(*shape, dtype=dtype, seed=seed)) for seed in (0, 1))
    attrs = parsed(LRN, nsize=nsize, alpha=0.3, beta=0.75, knorm=1.5)
    out, nothing = blank(LRN, [data], layout, attrs)
    run(lrn, [out, nothing], [data], attrs)
    close(out, reference(LRN, [data], attrs)[0].astype(np.float64))
    (back,) = blank(LRN_BACKWARD, [grad, data], layout, attrs)
    run(lrn_backward, [back], [grad, data], attrs)
    close(back, reference(LRN_BACKWARD, [grad, data], attrs)[0].astype(np.float64))


@pytest.mark.parametrize("nsize", [3, 5, 6, 7, 9])
@pytest.mark.parametrize("channels", [7, 16, 20, 31, 32, 40, 64])
def test_a_gradient_that_is_given_is_right(
    channels: int, nsize: int, dtype: Any, close: Close
) -> None:
    data, grad = (channels_last(random(2, channels, 3, 3, dtype=dtype, seed=s)) for s in (0, 1))
    attrs = parsed(LRN, nsize=nsize, alpha=0.3, beta=0.75, knorm=1.5)
    (back,) = blank(LRN_BACKWARD, [grad, data], channels_last, attrs)
    if has_exact_backward(dtype, channels, nsize):
        run(lrn_backward, [back], [grad, data], attrs)
        close(back, reference(LRN_BACKWARD, [grad, data], attrs)[0].astype(np.float64))
    else:
        with pytest.raises(RefusedError, match=f"got {nsize} and {channels} in .* is wrong"):
            run(lrn_backward, [back], [grad, data], attrs)


def test_channels_last_is_one_step() -> None:
    data = channels_last(random(2, 16, 5, 5))
    attrs = parsed(LRN, nsize=5)
    outputs = blank(LRN, [data], channels_last, attrs)
    assert len(run(lrn, outputs, [data], attrs).steps) == 1


def test_windows_of_one_channel_are_refused() -> None:
    data = random(2, 4, 3, 3)
    attrs = parsed(LRN, nsize=1)
    with pytest.raises(RefusedError, match="lrn_backward: expected nsize of at least 3, got 1"):
        run(lrn_backward, [data.copy()], [data, data], attrs)


def test_float64_is_refused() -> None:
    data = random(2, 4, 3, 3, dtype=np.float64)
    attrs = parsed(LRN, nsize=5)
    with pytest.raises(RefusedError, match=r"lrn: .*float64\(2, 4, 3, 3\)"):
        run(lrn, blank(LRN, [data], contiguous, attrs), [data], attrs)
