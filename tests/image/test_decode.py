"""imdecode and imread."""

from pathlib import Path

import numpy as np
import pytest

import gluonish as mx
from gluonish import nd
from gluonish.core.errors import ArgumentTypeError, GluonishError, OperatorError
from gluonish.image import imdecode, imread
from gluonish.recordio import pack_img

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 5, 3)).astype(np.uint8)
STORED = pack_img((0, 0, 0, 0), PIXELS[..., ::-1], 9, ".png")[24:]


@pytest.mark.parametrize(
    "make",
    [
        bytes,
        bytearray,
        memoryview,
        lambda stored: np.frombuffer(stored, np.uint8),
        lambda stored: nd.array(np.frombuffer(stored, np.uint8), dtype="uint8"),
    ],
)
def test_bytes_come_in_many_forms(make) -> None:
    found = imdecode(make(STORED))
    assert (found.asnumpy() == PIXELS).all()


def test_the_order_of_channels_is_chosen() -> None:
    assert (imdecode(STORED, to_rgb=False).asnumpy() == PIXELS[..., ::-1]).all()
    assert imdecode(STORED, 0).shape == (6, 5, 1)


def test_an_array_may_be_filled(tmp_path: Path) -> None:
    out = nd.zeros((6, 5, 3), dtype="uint8")
    assert imdecode(STORED, out=out) is out
    assert (out.asnumpy() == PIXELS).all()
    (tmp_path / "a.png").write_bytes(STORED)
    assert imread(tmp_path / "a.png", out=nd.zeros((6, 5, 3), dtype="uint8")).shape == (6, 5, 3)
    with pytest.raises(GluonishError, match="expected"):
        imdecode(STORED, out=nd.zeros((6, 4, 3), dtype="uint8"))


def test_a_file_is_read_as_its_bytes_are(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(STORED)
    assert (imread(str(path)).asnumpy() == PIXELS).all()
    assert imread(path, 0).shape == (6, 5, 1)


@pytest.mark.parametrize("flag", [-1, 2, 7])
def test_another_flag_is_refused(flag: int) -> None:
    with pytest.raises(OperatorError, match=r"expected flag 0 \(gray\) or 1 \(color\), got"):
        imdecode(STORED, flag)


def test_numbers_of_another_type_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="an array of uint8, got float32"):
        imdecode(np.zeros(3, np.float32))


def test_np_arrays_come_out_while_they_are_asked_for() -> None:
    with mx.util.np_array(True):
        assert isinstance(imdecode(STORED), mx.np.ndarray)
