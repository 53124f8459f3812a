from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.nn.activation import ACTIVATION
from tests.checking.check_operator import check_operator


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relu", lambda x: np.where(x > 0, x, 0)),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("softrelu", lambda x: np.log1p(np.exp(x))),
        ("softsign", lambda x: x / (1 + abs(x))),
        ("tanh", np.tanh),
    ],
)
def test_each_function_and_its_gradients(name: str, expected: Callable[[Any], Any]) -> None:
    data = np.random.default_rng(2).standard_normal((3, 4)) * 2
    check_operator(ACTIVATION, [data], {"act_type": name}, expected)


def test_integers_are_refused() -> None:
    with pytest.raises(OperatorError, match="expected floating data, got int32"):
        ACTIVATION.infer(Spec((2,), np.dtype(np.int32)), act_type="relu")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(OperatorError, match="expected act_type to be one of 'relu'"):
        ACTIVATION.schema.parse("Activation", {"act_type": "swish"})
