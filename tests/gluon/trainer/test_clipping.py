import math
import warnings

import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError
from gluonish.gluon.trainer.gradients import clip_global_norm
from gluonish.ndarray import NDArray, full

NORM = math.sqrt(4 * 9 + 2 * 16)


def arrays() -> list[NDArray]:
    return [full((2, 2), 3), full((2,), 4, ctx=cpu(1))]


def test_norm_becomes_the_bound() -> None:
    clipped = arrays()
    norm = clip_global_norm(clipped, 1.0)
    assert norm == pytest.approx(NORM)
    assert type(norm) is np.float32
    np.testing.assert_allclose(clipped[0].asnumpy(), np.full((2, 2), 3 / NORM), rtol=1e-6)
    np.testing.assert_allclose(clipped[1].asnumpy(), np.full(2, 4 / NORM), rtol=1e-6)


def test_smaller_norm_stays() -> None:
    kept = arrays()
    clip_global_norm(kept, 100.0)
    assert kept[0].asnumpy().tolist() == [[3, 3], [3, 3]]


def test_norm_may_be_left_on_its_way() -> None:
    norm = clip_global_norm(arrays(), 1.0, check_isfinite=False)
    assert isinstance(norm, NDArray)
    assert norm.asscalar() == pytest.approx(NORM)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_norm_that_is_not_finite_is_warned_of_once(value: float) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert not math.isfinite(clip_global_norm([full((2,), value)], 1.0))
    (warning,) = seen
    assert warning.category is UserWarning
    assert f"finite norm, got {value}" in str(warning.message)


def test_half_precision_does_not_overflow() -> None:
    clipped = [full((4,), 300, dtype="float16")]
    assert clip_global_norm(clipped, 1.0) == pytest.approx(600)
    assert clipped[0].dtype == np.float16
    np.testing.assert_allclose(clipped[0].asnumpy(), np.full(4, 0.5), rtol=1e-3)


def test_nothing_to_clip_is_refused() -> None:
    with pytest.raises(ArgumentError, match="at least one array"):
        clip_global_norm([], 1.0)
