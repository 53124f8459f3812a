"""_cvimdecode and _cvimread: decode images."""

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
    """Decode the bytes of an image file to (height, width, channels).

    Args:
        buffer: Bytes as a NumPy array.
        flag: 0 for one channel, 1 for three.
        to_rgb: Whether the order of three channels is RGB rather than BGR.
        upright: Whether to apply the EXIF orientation.

    Raises:
        OperatorError: ``flag`` is invalid, or the image format is not supported.
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
            "Decode the bytes of an image file.\n\n"
            "flag 0 returns one channel, 1 three, in the order RGB, or BGR if to_rgb is false.\n\n"
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
    """Read an image file as (height, width, channels).

    Args:
        filename: Path of the file.
        flag: 0 for one channel, 1 for three.
        to_rgb: Whether the order of three channels is RGB rather than BGR.

    Raises:
        OperatorError: The file cannot be read, or its format is not supported.
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
            "Read an image file; flag and to_rgb are as in _cvimdecode.\n\n"
            "Shapes: output (height, width, 1 or 3) of uint8."
        ),
        inputs=(),
        schema=Schema(filename=text(), flag=integer(1), to_rgb=boolean(True)),
        aliases=("_npi_cvimread",),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)
