from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.nn.dropout import DROPOUT
from tests.checking.check_operator import check_operator


def _run(
    data: Any, *, train: bool = True, key: tuple[int, int] = (1, 2), **given: Any
) -> list[Any]:
    attrs = DROPOUT.schema.parse("Dropout", given)
    specs = DROPOUT.infer(Spec(data.shape, data.dtype), **attrs)
    outputs = [np.full(spec.shape, np.nan, spec.dtype) for spec in specs]
    DROPOUT.kernel(np, tuple(outputs), data, **attrs, train=train, key=key)
    return outputs


def test_elements_are_zeroed_at_the_rate_and_the_rest_is_scaled() -> None:
    out, mask = _run(np.full((100, 200), 3.0), p=0.25)
    assert set(np.unique(out)) == {0.0, 4.0}
    assert abs((out == 0).mean() - 0.25) < 0.01
    np.testing.assert_array_equal(out, 3 * mask)


def test_nothing_happens_outside_training() -> None:
    data = np.arange(6.0)
    np.testing.assert_array_equal(_run(data, train=False)[0], data)


def test_mode_always_drops_outside_training() -> None:
    assert (_run(np.ones(100), train=False, mode="always")[0] == 0).any()


def test_axes_share_one_draw() -> None:
    out, mask = _run(np.ones((50, 4)), axes=(1,))
    assert mask.shape == (50, 1)
    assert (out == out[:, :1]).all()


def test_the_key_decides_what_is_dropped() -> None:
    data = np.ones(64)
    first, again, other = (_run(data, key=key)[0] for key in ((1, 2), (1, 2), (1, 3)))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(("p", "value"), [(0.0, 1.0), (1.0, 0.0)])
def test_rates_of_zero_and_one_keep_all_or_nothing(p: float, value: float) -> None:
    assert (_run(np.ones(10), p=p)[0] == value).all()


def test_the_gradient_goes_through_what_was_kept() -> None:
    data = np.random.default_rng(1).standard_normal((4, 5))
    check_operator(DROPOUT, [data], {"p": 0.4}, zero_size=[data[:0]])


def test_a_rate_above_one_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"Dropout: expected p in \[0, 1\], got 2"):
        _run(np.ones(3), p=2)


def test_integers_are_refused() -> None:
    with pytest.raises(OperatorError, match="expected floating data, got int32"):
        _run(np.ones(3, np.int32))
