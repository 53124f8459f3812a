import numpy as np
import pytest

from gluonish.core.context import cpu
from gluonish.core.errors import ParameterError
from gluonish.gluon.parameter import Constant
from gluonish.initializer import create
from gluonish.ndarray import array, zeros


def test_constant_has_its_value_on_every_device() -> None:
    constant = Constant("c", [[1, 2], [3, 4]])
    constant.initialize(ctx=[cpu(0), cpu(1)])
    assert constant.data(cpu(1)).asnumpy().tolist() == [[1, 2], [3, 4]]
    assert constant.data(cpu(0)).dtype == np.float32


def test_default_initializer_does_not_touch_it() -> None:
    constant = Constant("c", array([1, 2]))
    constant.initialize(default_init="zeros")
    assert constant.data().asnumpy().tolist() == [1, 2]


def test_dtype_of_an_array_is_kept() -> None:
    constant = Constant("c", array([1, 2], dtype="int32"))
    constant.initialize()
    assert constant.data().dtype == np.int32


def test_constant_has_no_gradient() -> None:
    constant = Constant("c", [1])
    constant.initialize()
    with pytest.warns(UserWarning, match="expected grad_req 'null', got 'write'"):
        constant.grad_req = "write"
    constant.grad_req = "null"
    assert constant.grad_req == "null"
    with pytest.raises(ParameterError, match="grad_req"):
        constant.grad()


def test_variable_says_how_to_make_it_again() -> None:
    text = Constant("c", [1, 2]).var().attr_dict()["c"]["__init__"]
    values = zeros((2,))
    create(text)._init_weight("c", values)
    assert values.asnumpy().tolist() == [1, 2]
