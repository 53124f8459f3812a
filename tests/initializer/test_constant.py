import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.initializer import Constant, InitDesc, create

VALUES = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("value", [VALUES, np.array(VALUES), nd.array(VALUES)])
def test_array_values_are_copied(value: object) -> None:
    arr = nd.zeros((2, 2))
    init = Constant(value)
    init(InitDesc("weight"), arr)
    assert arr.asnumpy().tolist() == VALUES
    assert init.dumps() == '["constant", {"value": [[1.0, 2.0], [3.0, 4.0]]}]'
    assert create(init.dumps()) == init


def test_numpy_scalar_can_be_dumped() -> None:
    assert Constant(np.float32(1.5)).dumps() == '["constant", {"value": 1.5}]'


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32"])
def test_dtype_of_the_array_is_kept(dtype: str) -> None:
    arr = nd.zeros((2,), dtype=dtype)
    Constant(3)(InitDesc("weight"), arr)
    assert arr.asnumpy().tolist() == [3, 3]
    assert arr.dtype == np.dtype(dtype).type
