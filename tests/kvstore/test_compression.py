"""Two-bit compression; its values are compared with MXNet's in test_kvstore.py."""

from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.kvstore.compression import TwoBitCompression, compression_from
from gluonish.ndarray import array


def test_what_is_lost_comes_later() -> None:
    compression = TwoBitCompression(0.5)
    sent = [
        compression.compress("w", 0, array([0.25, -0.75]), 0).asnumpy().tolist() for _ in range(3)
    ]
    assert sent == [[0.0, -0.5], [0.5, -0.5], [0.0, -0.5]]


def test_each_sender_has_its_own_residual() -> None:
    compression = TwoBitCompression(0.5)
    for sender in (0, 1):
        assert compression.compress("w", sender, array([0.25]), 0).asnumpy()[0] == 0.0


def test_gradient_is_left_as_it_is() -> None:
    gradient = array([0.75])
    TwoBitCompression().compress("w", 0, gradient, 0).wait_to_read()
    assert gradient.asnumpy()[0] == 0.75


def test_other_dtypes_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="float32 at key 'w', got float16"):
        TwoBitCompression().compress("w", 0, array([1.0], dtype="float16"), 0)


@pytest.mark.parametrize(
    "params",
    [{"type": "3bit"}, {}, {"type": "2bit", "thresh": 1}, {"type": "2bit", "threshold": -1}],
)
def test_wrong_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="gradient compression: expected"):
        compression_from(params)
