import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.ops.support.windows import (
    Geometry,
    add_windows,
    channels_last,
    normalize_geometry,
    sliding_windows,
    window_count,
)


def test_empty_tuples_mean_no_step_no_dilation_no_padding() -> None:
    assert normalize_geometry("op", (3, 2), (), (), ()) == ((3, 2), (1, 1), (1, 1), (0, 0))


@pytest.mark.parametrize("stride", [(2,), (0, 1), (1, 1, 1)])
def test_a_stride_that_does_not_fit_is_refused(stride: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match="op: expected stride to be 2 ints of at least 1"):
        normalize_geometry("op", (3, 2), stride, (), ())


def test_windows_are_gathered_and_their_transpose_adds_them_up() -> None:
    geometry = Geometry((3, 2), (2, 1), (1, 2), (1, 0))
    random = np.random.default_rng(0)
    data = random.standard_normal((2, 3, 6, 5))
    counts = tuple(
        window_count(n, *along) for n, *along in zip(data.shape[2:], *geometry, strict=True)
    )
    windows = sliding_windows(np, data, geometry, counts)
    padded = np.pad(data, ((0, 0), (0, 0), (1, 1), (0, 0)))
    assert windows.shape == (2, 3, 3, 2, *counts)
    np.testing.assert_array_equal(windows[:, :, 2, 1, 1, 0], padded[:, :, 4, 2])
    other = random.standard_normal(windows.shape)
    back = np.empty_like(data)
    add_windows(np, back, other, geometry)
    np.testing.assert_allclose((windows * other).sum(), (data * back).sum())


def test_shapes_move_their_channels_to_the_end() -> None:
    assert channels_last((1, 2, 3, 4), "NHWC") == (1, 3, 4, 2)
    assert channels_last((1, 2, 3, 4), None) == (1, 2, 3, 4)
