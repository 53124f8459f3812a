"""imdecode and imread: decoding of image files."""

import os
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.files import path_text
from gluonish.ndarray import NDArray, from_numpy
from gluonish.numpy.array import gluon_array
from gluonish.ops.image.decoding import decode_image, read_image

Bytes = bytes | bytearray | memoryview | np.ndarray[Any, Any] | NDArray


def imdecode(buf: Bytes, flag: int = 1, to_rgb: bool = True, out: NDArray | None = None) -> NDArray:
    """Decode an image from the content of a file, with OpenCV, or Pillow if that is not installed.

    Args:
        buf: The bytes, or a uint8 array.
        flag: 1 decodes to color (three channels), 0 to gray (one channel).
        to_rgb: True for the channel order red, green, blue; False for blue, green, red.
        out: Array of the image's shape to store the result in.

    Returns:
        Image (height, width, channels), uint8, on the CPU; ``out`` if passed.

    Raises:
        ArgumentTypeError: ``buf`` does not consist of bytes.
        OperatorError: The bytes are not an image in a known format, ``flag`` is neither 0 nor 1, or
            ``out`` has the wrong shape.
    """
    return _as_output(decode_image("imdecode", raw_bytes("imdecode", buf), flag, to_rgb), out)


def raw_bytes(name: str, buf: Bytes) -> np.ndarray[Any, Any]:
    """Return the content of a file as a NumPy array (bytes,) of uint8.

    Args:
        name: Name of the calling function, for error messages.
        buf: The bytes, or a uint8 array.

    Raises:
        ArgumentTypeError: ``buf`` does not consist of bytes.
    """
    if isinstance(buf, NDArray):
        buf = buf.asnumpy()
    if isinstance(buf, np.ndarray):
        stored = buf.reshape(-1) if buf.dtype == np.uint8 else None
    else:
        readable = isinstance(buf, bytes | bytearray | memoryview)
        stored = np.frombuffer(buf, np.uint8) if readable else None
    if stored is None:
        raise ArgumentTypeError(
            f"{name}: expected bytes or an array of uint8, got "
            f"{getattr(buf, 'dtype', type(buf).__name__)}"
        )
    return stored


def imread(
    filename: str | os.PathLike[str],
    flag: int = 1,
    to_rgb: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Read and decode an image file, with OpenCV, or Pillow if that is not installed.

    Args:
        filename: Path of the file.
        flag: 1 decodes to color (three channels), 0 to gray (one channel).
        to_rgb: True for the channel order red, green, blue; False for blue, green, red.
        out: Array of the image's shape to store the result in.

    Returns:
        Image (height, width, channels), uint8, on the CPU; ``out`` if passed.

    Raises:
        OperatorError: The file cannot be read, or is not an image in a known format, ``flag`` is
            neither 0 nor 1, or ``out`` has the wrong shape.
    """
    return _as_output(read_image("imread", path_text(filename, "imread"), flag, to_rgb), out)


def _as_output(image: np.ndarray[Any, Any], out: NDArray | None) -> NDArray:
    made = from_numpy(image)
    return gluon_array(made) if out is None else made.copyto(out)
