"""_sample_weight gives each sample of a loss its own weight, or refuses."""

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from tests.checking.values import run_operator

FITS = [
    # weights, loss, batch axis, what is multiplied
    ((4,), (4, 3), 0, (4, 1)),
    ((3,), (3, 3), 0, (3, 1)),  # not the last axis, though it has as many elements
    ((3,), (3, 3), 1, (1, 3)),
    ((3,), (3, 3), -1, (1, 3)),
    ((4,), (4,), 0, (4,)),
    ((4, 1), (4,), 0, (4,)),
    ((4, 1), (4, 4, 2), 0, (4, 1, 1)),
    ((1, 4), (2, 4, 4), 1, (1, 4, 1)),
    ((4, 1, 1), (4, 3), 0, (4, 1)),
    ((4, 3, 1), (4, 3), 0, (4, 3)),
    ((4, 3), (4, 3), 0, (4, 3)),
    ((4, 1), (4, 3), 0, (4, 1)),
    ((1, 3), (4, 3), 0, (1, 3)),  # of the columns: it has an axis for samples
    ((3, 2), (4, 3, 2), 0, (1, 3, 2)),
    ((4, 3), (4, 1), 0, (4, 3)),
    ((1,), (4, 3), 0, (1, 1)),
    ((), (4, 3), 0, (1, 1)),
    ((1, 1, 1), (4, 3), 0, (1, 1)),
    ((0,), (0, 3), 0, (0, 1)),
]
REFUSED = [
    ((3,), (4, 3), 0),  # once in a while a batch has as many samples
    ((1, 4), (4, 1), 0),  # would give every sample the weights of all
    ((1, 4), (4,), 0),
    ((4, 1), (1, 3), 0),
    ((5,), (4,), 0),
    ((2, 3), (4, 3), 0),
    ((2, 4, 3), (4, 3), 0),
    ((4,), (4, 3), 1),
]


@pytest.mark.parametrize(("weight", "loss", "axis", "expected"), FITS)
def test_weights_take_a_shape_that_leaves_each_sample_by_itself(
    weight: tuple[int, ...], loss: tuple[int, ...], axis: int, expected: tuple[int, ...]
) -> None:
    values = np.arange(np.prod(weight, dtype=int), dtype=np.float32).reshape(weight)
    found = run_operator("_sample_weight", values, np.ones(loss, np.float32), batch_axis=axis)
    np.testing.assert_array_equal(found, values.reshape(expected))


@pytest.mark.parametrize(("weight", "loss", "axis"), REFUSED)
def test_weights_that_would_mix_samples_are_refused(
    weight: tuple[int, ...], loss: tuple[int, ...], axis: int
) -> None:
    with pytest.raises(OperatorError, match=f"one weight for each of {loss[axis]} samples"):
        run_operator("_sample_weight", np.ones(weight), np.ones(loss), batch_axis=axis)
