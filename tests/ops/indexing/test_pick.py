import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from tests.checking.values import run_operator


def test_pick_from_nothing_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"expected a nonempty axis 1, got data \(3, 0\)"):
        run_operator("pick", np.zeros((3, 0)), np.zeros(3))


def test_nothing_is_picked_from_no_rows() -> None:
    assert run_operator("pick", np.zeros((0, 0)), np.zeros(0)).shape == (0,)
