import numpy
import pytest

from gluonish import numpy as np
from gluonish import numpy_extension as npx
from gluonish.core.errors import OperatorError

_DRAW = numpy.random.RandomState(0)
_DATA = _DRAW.uniform(-1, 1, (3, 64)).astype("float32")
_WEIGHT = _DRAW.uniform(-1, 1, (8, 64)).astype("float32")


def quantized(values: numpy.ndarray) -> numpy.ndarray:
    limit = numpy.abs(values).max()
    return numpy.clip(numpy.rint(values * (numpy.float32(127) / limit)), -127, 127).astype(int)


def prepared() -> tuple[np.ndarray, np.ndarray]:
    data, weight = np.array(_DATA), np.array(_WEIGHT)
    return (
        npx.intgemm_prepare_data(data, npx.intgemm_maxabsolute(data)),
        npx.intgemm_prepare_weight(weight, npx.intgemm_maxabsolute(weight)),
    )


def test_sums_are_exact() -> None:
    data, weight = prepared()
    found = npx.intgemm_fully_connected(data, weight, num_hidden=8, no_bias=True, out_type="int32")
    assert found.dtype == "int32"
    assert found.tolist() == (quantized(_DATA) @ quantized(_WEIGHT).T).tolist()


def test_scaled_product_is_close_to_that_of_floats() -> None:
    data, weight = prepared()
    bias = numpy.arange(8, dtype="float32")
    scale = numpy.abs(_DATA).max() * numpy.abs(_WEIGHT).max() / 127**2
    found = npx.intgemm_fully_connected(
        data, weight, np.array([scale]), np.array(bias), num_hidden=8
    )
    numpy.testing.assert_allclose(found.asnumpy(), _DATA @ _WEIGHT.T + bias, atol=0.1)


def test_rows_of_a_prepared_weight() -> None:
    _, weight = prepared()
    rows = numpy.array([7, 0, 3, 3, 1, 2, 4, 5], "int32")
    taken = npx.intgemm_take_weight(weight, np.array(rows, dtype="int32"))
    assert taken.tolist() == quantized(_WEIGHT)[rows].tolist()


def test_weight_that_is_int8_already() -> None:
    weight = np.array(quantized(_WEIGHT), dtype="int8")
    found = npx.intgemm_prepare_weight(weight, already_quantized=True)
    assert found.tolist() == weight.tolist()


@pytest.mark.parametrize("shape", [(8, 60), (7, 64), (64,)])
def test_weight_of_a_wrong_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(OperatorError, match="divisible by 8"):
        npx.intgemm_prepare_weight(np.ones(shape), np.array([1.0]))
