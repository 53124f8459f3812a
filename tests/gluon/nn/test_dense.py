import numpy as np

from gluonish.gluon import nn
from gluonish.ndarray import ones


def test_input_units_come_from_the_first_batch() -> None:
    layer = nn.Dense(2)
    assert repr(layer) == "Dense(None -> 2, linear)"
    layer.initialize()
    assert layer(ones((2, 3, 4))).shape == (2, 2)
    assert repr(layer) == "Dense(12 -> 2, linear)"


def test_last_axis_alone_may_be_transformed() -> None:
    layer = nn.Dense(2, flatten=False)
    layer.initialize()
    assert layer(ones((2, 3, 4))).shape == (2, 3, 2)


def test_dtype_is_that_of_the_parameters() -> None:
    layer = nn.Dense(2, dtype="float64")
    layer.initialize()
    assert layer(ones((1, 3), dtype="float64")).dtype == np.float64


def test_activation_has_a_name_of_its_own() -> None:
    layer = nn.Dense(2, activation="relu", prefix="d_")
    assert layer.act is not None
    assert layer.act.name == "d_relu"
