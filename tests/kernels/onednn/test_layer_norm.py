from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import RefusedError
from gluonish.kernels.onednn.layer_norm import layer_norm, layer_norm_backward
from gluonish.ops.kernel import Array
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from tests.kernels.onednn.planned import blank, check, contiguous, parsed, random, reference, run

Close = Callable[[Array, Array], None]

SHAPES = [(3,), (6, 5), (4, 3, 16), (2, 3, 1, 4, 2, 17), (5, 1)]


def _inputs(shape: tuple[int, ...], dtype: Any) -> list[Array]:
    data = (random(*shape) * 2 + 1).astype(dtype)
    gamma, beta = (random(shape[-1], dtype=dtype, seed=seed) for seed in (1, 2))
    return [data, gamma, beta]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_forward_and_backward(shape: tuple[int, ...], dtype: Any, close: Close) -> None:
    inputs = _inputs(shape, dtype)
    attrs = parsed(LAYER_NORM, eps=1e-2)
    check(LAYER_NORM, layer_norm, inputs, attrs, close)
    _, mean, std = (x.astype(dtype) for x in reference(LAYER_NORM, inputs, attrs))
    given = [random(*shape, dtype=dtype, seed=3), *inputs[:2], mean, std]
    back = parsed(LAYER_NORM_BACKWARD, eps=1e-2)
    check(LAYER_NORM_BACKWARD, layer_norm_backward, given, back, close)


def test_another_axis_is_refused() -> None:
    inputs = [random(4, 3), random(4), random(4)]
    attrs = parsed(LAYER_NORM, axis=0)
    outputs = blank(LAYER_NORM, inputs, contiguous, attrs)
    with pytest.raises(RefusedError, match=r"layer_norm: .*axis 0 of \(4, 3\)"):
        run(layer_norm, outputs, inputs, attrs)


def test_rows_with_gaps_are_refused() -> None:
    inputs = _inputs((4, 3), np.float32)
    attrs = parsed(LAYER_NORM)
    outputs = blank(LAYER_NORM, inputs, contiguous, attrs)
    inputs[0] = np.repeat(inputs[0], 2, axis=1)[:, ::2]
    with pytest.raises(RefusedError, match="expected contiguous arrays"):
        run(layer_norm, outputs, inputs, attrs)
