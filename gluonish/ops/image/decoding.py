"""_cvimdecode and _cvimread: images from files."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, text
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.image.codec import COLOR, GRAY, decode
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.host import to_host


def decode_image(
    name: str, buffer: Any, flag: int, to_rgb: bool, *, upright: bool = True
) -> np.ndarray[Any, Any]:
    """Return an image (height, width, channels) of a file's bytes.

    Args:
        buffer: NumPy array of bytes.
        flag: 0 gives one channel, 1 three.
        to_rgb: Whether the first channel of three is red rather than blue.
        upright: Whether the image is turned as its EXIF orientation says.

    Raises:
        OperatorError: ``flag`` is another, or it is no image that is known.
    """
    if flag not in (GRAY, COLOR):
        raise OperatorError(f"{name}: expected flag 0 (gray) or 1 (color), got {flag}")
    found = decode(name, buffer, flag, to_rgb, upright=upright)
    return found[..., None] if found.ndim == 2 else found


def _infer(buf: Spec, *, flag: int, to_rgb: bool) -> tuple[Spec]:
    if buf.dtype != UINT8 or len(buf.shape) != 1:
        raise OperatorError(f"_cvimdecode: expected uint8 data of 1 axis, got {buf}")
    return (Spec((UNKNOWN, UNKNOWN, 1 if flag == 0 else UNKNOWN), UINT8),)


def _measure(xp: ModuleType, buf: Any, *, flag: int, to_rgb: bool) -> tuple[Shape, ...]:
    return (decode_image("_cvimdecode", to_host(xp, buf), flag, to_rgb).shape,)


def _kernel(xp: ModuleType, out: Any, buf: Any, *, flag: int, to_rgb: bool) -> None:
    out[...] = xp.asarray(decode_image("_cvimdecode", to_host(xp, buf), flag, to_rgb))


def _complete(_inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, UINT8)


IMDECODE = register(
    Operator(
        "_cvimdecode",
        _infer,
        _kernel,
        None,
        doc=(
            "Decode the image in the bytes of a file.\n\n"
            "flag 0 gives one channel, 1 three, in the order red, green, blue, or without\n"
            "to_rgb the reverse.\n\n"
            "Shapes: buf (bytes,) of uint8, output (height, width, 1 or 3) of uint8."
        ),
        inputs=("buf",),
        schema=Schema(flag=integer(1), to_rgb=boolean(True)),
        aliases=("_npi_cvimdecode",),
        shapes=ShapeFacts(measure=_measure, complete=_complete),
        execution=Execution(heavy=True),
    )
)


def read_image(name: str, filename: str, flag: int, to_rgb: bool) -> np.ndarray[Any, Any]:
    """Return the image (height, width, channels) in a file.

    Args:
        filename: Its path.
        flag: 0 gives one channel, 1 three.
        to_rgb: Whether the first channel of three is red rather than blue.

    Raises:
        OperatorError: The file cannot be read, or is no image that is known.
    """
    try:
        stored = Path(filename).read_bytes()
    except OSError as error:
        raise OperatorError(
            f"{name}: expected an image file, got {filename!r}: {error.strerror}"
        ) from error
    try:
        return decode_image(name, np.frombuffer(stored, np.uint8), flag, to_rgb)
    except OperatorError as error:
        raise OperatorError(f"{error}, from {filename!r}") from None


def _read_infer(*, filename: str, flag: int, to_rgb: bool) -> tuple[Spec]:
    return (Spec(read_image("_cvimread", filename, flag, to_rgb).shape, UINT8),)


def _read_kernel(xp: ModuleType, out: Any, *, filename: str, flag: int, to_rgb: bool) -> None:
    out[...] = xp.asarray(read_image("_cvimread", filename, flag, to_rgb))


IMREAD = register(
    Operator(
        "_cvimread",
        _read_infer,
        _read_kernel,
        None,
        doc=(
            "Read the image in a file; flag and to_rgb are those of _cvimdecode.\n\n"
            "Shapes: output (height, width, 1 or 3) of uint8."
        ),
        inputs=(),
        schema=Schema(filename=text(), flag=integer(1), to_rgb=boolean(True)),
        aliases=("_npi_cvimread",),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)
