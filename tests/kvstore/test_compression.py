"""Gradient compression; two-bit values are compared with MXNet's in test_kvstore.py."""

from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.kvstore.compression import (
    Compression,
    OneBitCompression,
    TwoBitCompression,
    compression_from,
)
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
    [
        {"type": "3bit"},
        {},
        {"type": None},
        {"type": "2bit", "thresh": 1},
        {"type": "2bit", "threshold": -1},
        {"type": "2bit", "threshold": float("inf")},
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="gradient compression: expected"):
        compression_from(params)


# The first 17 of these elements take one word and one element of a second.
SENT = np.array([0.5, -0.5, 0, 0.5, *([0] * 11), -0.5, 0.5], np.float32)


def test_two_bits_fill_bytes_from_the_top() -> None:
    packed = TwoBitCompression(0.5).pack(SENT)
    assert packed.tobytes().hex() == "e3000002" + "c0000000"


def test_code_01_is_read_as_0() -> None:
    packed = np.array([0b01_11_10_00, 0, 0, 0], np.uint8)
    found = TwoBitCompression(0.25).unpack(packed, (2, 2))
    np.testing.assert_array_equal(found, [[0, 0.25], [-0.25, 0]])


def test_one_bit_fills_bytes_from_the_top() -> None:
    packed = OneBitCompression().pack(np.array([1, -1, 1] + [-1] * 28 + [1, 1], np.float32))
    assert packed.tobytes().hex() == "a0000001" + "80000000"


@pytest.mark.parametrize("compression", [TwoBitCompression(0.5), OneBitCompression()])
@pytest.mark.parametrize("shape", [(1,), (15,), (16,), (4, 8), (3, 11), (0,)])
def test_unpacking_gives_what_was_sent(compression: Compression, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    gradient = array(rng.uniform(-1, 1, shape))
    sent = compression.compress(shape, 0, gradient, 0).asnumpy()  # type: ignore[arg-type]
    packed = compression.pack(sent)
    assert packed.nbytes == 4 * -(-sent.size * compression.bits // 32)
    np.testing.assert_array_equal(compression.unpack(packed, shape), sent)


def test_wrong_number_of_bytes_is_refused() -> None:
    with pytest.raises(ArgumentError, match="expected 8 bytes for shape \\(17,\\), got 4"):
        TwoBitCompression().unpack(np.zeros(4, np.uint8), (17,))


def test_one_bit_sends_signs_and_keeps_the_rest() -> None:
    compression = OneBitCompression(0.5)
    gradient = array([0.75, 0.25, -2.0])
    sent = [compression.compress("w", 0, gradient, 0).asnumpy().tolist() for _ in range(3)]
    # Residuals before each: (0.75, 0.25, -2), (0.5, 1.5, -3), (2.25, 0.75, -4).
    assert sent == [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [1.0, 1.0, -1.0]]


@pytest.mark.parametrize("params", [3, None])
def test_settings_that_are_no_mapping_are_refused(params: Any) -> None:
    with pytest.raises(AssertionError, match="gradient compression: expected a mapping, got"):
        compression_from(params)
