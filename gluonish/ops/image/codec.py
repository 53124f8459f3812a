"""Decode and encode images with OpenCV, or with Pillow if OpenCV is not installed.

Channels are in OpenCV's order: blue, green, red, and optionally alpha, unless ``red_first``. Both
libraries apply the EXIF orientation, except for `AS_STORED` and ``upright=False``. Decoded JPEG
images may differ between the two by a few levels, because of rounding.
"""

import io
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.file_kind import HEAD_NBYTES, found_text
from gluonish.core.loading import load
from gluonish.ops.image.resampling import open_cv

Array = np.ndarray[Any, Any]

# OpenCV's decoding flags.
AS_STORED, GRAY, COLOR = -1, 0, 1
_JPEG, _PNG = (".jpg", ".jpeg"), ".png"


def decode(
    name: str, buffer: Array, flag: int, red_first: bool = False, *, upright: bool = True
) -> Array:
    """Decode the bytes of an image file.

    Args:
        name: Name of the caller in errors.
        buffer: Bytes of the file, uint8.
        flag: `GRAY`, `COLOR`, or `AS_STORED`, which preserves alpha and 16 bits.
        red_first: Whether `COLOR` returns red, green, blue.
        upright: Whether `GRAY` and `COLOR` apply the EXIF orientation.

    Returns:
        (height, width) for gray images, else (height, width, channels); uint8 unless 16 bits are
        preserved.

    Raises:
        OperatorError: The decoder does not support the bytes.
    """
    cv2 = open_cv()
    turns = upright and flag != AS_STORED
    if not buffer.size:
        found = None
    elif cv2 is None:
        found = _by_pillow(buffer, flag, red_first, turns)
    else:
        found = _by_opencv(cv2, buffer, flag, red_first, turns)
    if found is None:
        decoder = "Pillow" if cv2 is None else "OpenCV"
        raise OperatorError(
            f"{name}: expected the bytes of an image, got {buffer.size} that {decoder} cannot "
            f"decode: {found_text(bytes(buffer[:HEAD_NBYTES]))}"
        )
    return found


def encode(name: str, image: Array, extension: str, quality: int) -> bytes:
    """Encode an image as the bytes of a file.

    Args:
        name: Name of the caller in errors.
        image: (height, width) or (height, width, 1, 3 or 4); uint8, or uint16 if the format
            supports it.
        extension: File extension with its dot, such as ``.jpg`` or ``.png``.
        quality: Quality 1 to 100 for JPEG, compression level 0 to 9 for PNG.

    Raises:
        OperatorError: The format is unknown, or does not support the image.
    """
    cv2 = open_cv()
    if cv2 is None:
        found = _written_by_pillow(image, extension, quality)
    else:
        found = _written_by_opencv(cv2, image, extension, quality)
    if found is None:
        raise OperatorError(
            f"{name}: expected an image and a format that supports it, such as .jpg or .png, got "
            f"{image.dtype}{image.shape} and {extension!r}"
        )
    return found


def _by_opencv(cv2: Any, buffer: Array, flag: int, red_first: bool, turns: bool) -> Array | None:
    rgb = getattr(cv2, "IMREAD_COLOR_RGB", None)  # since OpenCV 4.11
    swapped = red_first and flag == COLOR
    how = rgb if swapped and rgb is not None else flag
    if flag != AS_STORED and not turns:
        how |= cv2.IMREAD_IGNORE_ORIENTATION
    try:
        found: Array | None
        found = cv2.imdecode(np.ascontiguousarray(buffer), how)
        if swapped and rgb is None and found is not None:
            found = np.ascontiguousarray(found[..., ::-1])
    except cv2.error:  # for example, above its limit of pixels
        return None
    return found


def _written_by_opencv(cv2: Any, image: Array, extension: str, quality: int) -> bytes | None:
    parameters = []
    if extension.lower() in _JPEG:
        parameters = [cv2.IMWRITE_JPEG_QUALITY, quality]
    elif extension.lower() == _PNG:
        parameters = [cv2.IMWRITE_PNG_COMPRESSION, quality]
    try:
        done, found = cv2.imencode(extension, image, parameters)
    except cv2.error:
        return None
    return bytes(found) if done else None


def _by_pillow(buffer: Array, flag: int, red_first: bool, turns: bool) -> Array | None:
    load("PIL.ImageOps")  # completely, even if its import is interrupted
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(buffer.tobytes())) as stored:
            if flag == GRAY:
                stored.draft("L", stored.size)
            pixels = _pixels(ImageOps.exif_transpose(stored) if turns else stored, flag)
            swapped = red_first and flag == COLOR
            return np.ascontiguousarray(pixels[..., ::-1]) if swapped else pixels
    except (
        Image.DecompressionBombError,
        UnidentifiedImageError,
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
    ):
        return None


def _pixels(picture: Any, flag: int) -> Array:
    """Return the pixels of a Pillow image in OpenCV's order."""
    if picture.mode.startswith("I"):
        deep = np.asarray(picture).astype(np.uint16)
        if flag == AS_STORED:
            return deep
        gray = (deep >> 8).astype(np.uint8)
        return gray if flag == GRAY else np.repeat(gray[..., None], 3, axis=-1)
    modes = {GRAY: "L", COLOR: "RGB"}
    mode = modes[flag] if flag in modes else _stored_mode(picture)
    pixels = np.asarray(picture if picture.mode == mode else picture.convert(mode))
    if pixels.ndim == 2:
        return pixels
    return np.concatenate([pixels[..., 2::-1], pixels[..., 3:]], axis=-1)


def _stored_mode(picture: Any) -> str:
    transparent = "A" in picture.getbands() or "transparency" in picture.info
    if transparent:
        return "RGBA"
    return "L" if picture.mode in ("L", "1") else "RGB"


def _written_by_pillow(image: Array, extension: str, quality: int) -> bytes | None:
    from PIL import Image

    if image.ndim == 3:
        image = np.concatenate([image[..., 2::-1], image[..., 3:]], axis=-1)
    file = io.BytesIO()
    try:
        flat = image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image
        picture = Image.fromarray(flat)
        kind = Image.registered_extensions()[extension.lower()]
        if kind == "JPEG" and picture.mode == "RGBA":
            picture = picture.convert("RGB")
        options = {"JPEG": {"quality": quality}, "PNG": {"compress_level": quality}}.get(kind, {})
        picture.save(file, kind, **options)
    except (ValueError, TypeError, OSError, KeyError):
        return None
    return file.getvalue()
