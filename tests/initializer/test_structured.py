import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError
from gluonish.initializer import Bilinear, InitDesc, Initializer, LSTMBias


def filled(init: Initializer, shape: tuple[int, ...]) -> np.ndarray:
    arr = nd.full(shape, 7.0)
    init(InitDesc("x_weight"), arr)
    return arr.asnumpy()


# What MXNet 1.9.1 fills a (1, 1, N, N) weight with.
FOUR = [0.0625, 0.1875, 0.1875, 0.0625]
THREE = [0.0625, 0.1875, 0.1875]


@pytest.mark.parametrize("row", [FOUR, THREE])
def test_bilinear_equals_mxnet(row: list[float]) -> None:
    result = filled(Bilinear(), (2, 1, len(row), len(row)))
    expected = np.outer(row, row) / 0.0625
    np.testing.assert_allclose(result, np.broadcast_to(expected, result.shape), rtol=1e-6)


def test_bilinear_needs_rank_four() -> None:
    with pytest.raises(ArgumentError, match=r"rank 4 .*got shape \(4, 3\)"):
        filled(Bilinear(), (4, 3))


def test_lstm_bias_opens_the_forget_gate() -> None:
    assert filled(LSTMBias(3.0), (8,)).tolist() == [0, 0, 3, 3, 0, 0, 0, 0]
