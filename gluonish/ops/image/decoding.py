"""_cvimdecode and _cvimread: images from files, by OpenCV."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import UINT8
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, text
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec
from gluonish.ops.host import to_host
from gluonish.ops.image.opencv import open_cv
from gluonish.ops.registry import Attrs, Operator, register

__all__ = ["IMDECODE", "IMREAD"]


def decode(name: str, buffer: Any, flag: int, to_rgb: bool) -> Any:
    """Return an image (height, width, channels) of a file's bytes.

    Args:
        name: The operator, for errors.
        buffer: NumPy array of bytes.
        flag: 0 gives one channel, 1 three, -1 as many as the file has.
        to_rgb: Whether the first channel of three is red rather than blue.

    Raises:
        OperatorError: It is no image that OpenCV knows.
    """
    cv2 = open_cv(name, "decoding images")
    found = cv2.imdecode(np.ascontiguousarray(buffer), flag) if buffer.size else None
    if found is None:
        raise OperatorError(
            f"{name}: expected the bytes of an image, got {buffer.size} that OpenCV cannot decode"
        )
    if found.ndim == 2:
        found = found[..., None]
    if to_rgb and found.shape[2] >= 3:
        found = np.concatenate([found[..., 2::-1], found[..., 3:]], axis=-1)
    return found


def _infer(buf: Spec, *, flag: int, to_rgb: bool) -> tuple[Spec]:
    if buf.dtype != UINT8 or len(buf.shape) != 1:
        raise OperatorError(f"_cvimdecode: expected uint8 data of 1 axis, got {buf}")
    return (Spec((UNKNOWN, UNKNOWN, 1 if flag == 0 else UNKNOWN), UINT8),)


def _measure(xp: ModuleType, buf: Any, *, flag: int, to_rgb: bool) -> tuple[Shape, ...]:
    return (decode("_cvimdecode", to_host(xp, buf), flag, to_rgb).shape,)


def _kernel(xp: ModuleType, out: Any, buf: Any, *, flag: int, to_rgb: bool) -> None:
    out[...] = xp.asarray(decode("_cvimdecode", to_host(xp, buf), flag, to_rgb))


def _complete(_inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, UINT8)


IMDECODE = register(
    Operator(
        "_cvimdecode",
        _infer,
        _kernel,
        None,
        doc=(
            "The image (height, width, channels) in the bytes of a file; needs OpenCV.\n\n"
            "flag 0 gives one channel, 1 three. Their order is red, green, blue, or without\n"
            "to_rgb the reverse.\n\n"
            "Shapes: buf (bytes,) of uint8, output (height, width, 1 or 3) of uint8."
        ),
        inputs=("buf",),
        schema=Schema(flag=integer(1), to_rgb=boolean(True)),
        aliases=("_npi_cvimdecode",),
        measure=_measure,
        heavy=True,
        complete=_complete,
    )
)


def _read(filename: str, flag: int, to_rgb: bool) -> Any:
    try:
        stored = Path(filename).read_bytes()
    except OSError as error:
        raise OperatorError(
            f"_cvimread: expected an image file, got {filename!r}: {error.strerror}"
        ) from error
    return decode("_cvimread", np.frombuffer(stored, np.uint8), flag, to_rgb)


def _read_infer(*, filename: str, flag: int, to_rgb: bool) -> tuple[Spec]:
    return (Spec(_read(filename, flag, to_rgb).shape, UINT8),)


def _read_kernel(xp: ModuleType, out: Any, *, filename: str, flag: int, to_rgb: bool) -> None:
    out[...] = xp.asarray(_read(filename, flag, to_rgb))


IMREAD = register(
    Operator(
        "_cvimread",
        _read_infer,
        _read_kernel,
        None,
        doc=(
            "The image in a file; flag and to_rgb as for _cvimdecode. Needs OpenCV.\n\n"
            "Shapes: output (height, width, 1 or 3) of uint8."
        ),
        inputs=(),
        schema=Schema(filename=text(), flag=integer(1), to_rgb=boolean(True)),
        aliases=("_npi_cvimread",),
        heavy=True,
        complete=_complete,
    )
)
