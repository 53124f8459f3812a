"""Fields of samples as files: names, and how files are decoded and encoded, by their extension."""

import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError, GluonishError
from gluonish.core.json_text import parse_json
from gluonish.gluon.data.shards.tar_reader import Member
from gluonish.image.decode import imdecode
from gluonish.ndarray import NDArray
from gluonish.ndarray.byte_reader import ByteReader
from gluonish.ndarray.npz_file import read_npy
from gluonish.ops.image.codec import encode

KEY = "__key__"

Decoder = Callable[[bytes], Any]

_IMAGES = ("bmp", "jpeg", "jpg", "png", "ppm", "webp")
_NUMBERS = ("class", "cls", "count", "id", "index")
_TEXTS = ("text", "transcript", "txt")
_JPEG_QUALITY, _PNG_COMPRESSION = 95, 3


def key_and_field(name: str) -> tuple[str, str]:
    """Return the key of a member's sample and the name of its field; both empty for other files.

    The field is what follows the first dot of the file's name, in lower case: ``a/7.seg.png`` is
    the field ``seg.png`` of the sample ``a/7``.
    """
    folder, slash, file_name = name.rpartition("/")
    stem, dot, field = file_name.partition(".")
    if not stem or not dot or not field:
        return "", ""
    return f"{folder}{slash}{stem}", field.lower()


def _number(content: bytes) -> int:
    return int(content.decode("ascii"))


def _text(content: bytes) -> str:
    return content.decode("utf-8")


def _json(content: bytes) -> Any:
    return parse_json(content, "json", "JSON")


def _npy(content: bytes) -> Any:
    return read_npy(ByteReader(io.BytesIO(content), "npy"))


_DECODERS: dict[str, tuple[str, Decoder]] = {
    **dict.fromkeys(_IMAGES, ("an image", imdecode)),
    **dict.fromkeys(_NUMBERS, ("a whole number", _number)),
    **dict.fromkeys(_TEXTS, ("a text in UTF-8", _text)),
    **dict.fromkeys(("json", "jsn"), ("JSON", _json)),
    "npy": ("a NumPy array", _npy),
}


class FieldDecoder:
    """Decodes the files of samples by their extensions.

    Args:
        decode: True for the usual decoders, False for bytes, or a dict of functions from bytes by
            extension, beside the usual ones; None as a function returns the bytes.

    Raises:
        ArgumentTypeError: ``decode`` is neither.
    """

    def __init__(self, decode: bool | Mapping[str, Decoder | None]) -> None:
        given = {} if isinstance(decode, bool) else decode
        if not isinstance(given, Mapping) or not all(
            isinstance(name, str) and (fn is None or callable(fn)) for name, fn in given.items()
        ):
            raise ArgumentTypeError(
                "ShardDataset: expected decode to be a bool, or a dict of functions by extension, "
                f"got {decode!r:.100}"
            )
        self._own = {name.lower().lstrip("."): fn for name, fn in given.items()}
        self._usual = {} if decode is False else _DECODERS

    def __repr__(self) -> str:
        return f"FieldDecoder({', '.join(sorted({*self._own, *self._usual}))})"

    def __call__(self, shard: str, field: str, member: Member) -> Any:
        """Return the value of a field.

        Args:
            shard: Name of the shard, for messages.
            field: Name of the field.
            member: The file.

        Raises:
            FileFormatError: The content is not what the extension says.
            Exception: Any error of the program's function, with a note about the member.
        """
        for name in (field, field.rpartition(".")[2]):
            if name in self._own:
                return self._decoded_by(self._own[name], shard, member)
            if name in self._usual:
                expected, decoder = self._usual[name]
                try:
                    return decoder(member.content)
                except ValueError as error:  # those of this package and of Unicode are such ones
                    raise FileFormatError(
                        f"{shard}: expected {member.name!r} at byte {member.offset} to be "
                        f"{expected}, got {error!s:.300}"
                    ) from error
        return member.content

    @staticmethod
    def _decoded_by(decoder: Decoder | None, shard: str, member: Member) -> Any:
        if decoder is None:
            return member.content
        try:
            return decoder(member.content)
        except Exception as error:
            error.add_note(
                f"ShardDataset: raised by decode for {member.name!r} at byte {member.offset} of "
                f"{shard}"
            )
            raise


def encoded(field: str, value: Any) -> bytes:
    """Return the content of a field's file.

    Args:
        field: Name of the field, whose extension says the format.
        value: Bytes, which stay as they are; or a text, number, image (height, width, channels) of
            uint8 in RGB order, array, or what JSON can hold.

    Raises:
        ArgumentTypeError: The format does not hold such a value.
        OperatorError: The format of images does not hold such an image.
    """
    try:
        return _encoded(field, value)
    except ValueError as error:  # of Python and NumPy
        if isinstance(error, GluonishError):
            raise
        raise ArgumentTypeError(
            f"ShardWriter: expected a value that {field!r} can hold, got {type(value).__name__} "
            f"({error!s:.200})"
        ) from error


def _encoded(field: str, value: Any) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    extension = field.rpartition(".")[2]
    values = value.asnumpy() if isinstance(value, NDArray) else value
    if extension in _IMAGES and isinstance(values, np.ndarray):
        if values.dtype != np.uint8 or values.shape[2:] not in ((), (1,), (3,)) or values.ndim < 2:
            raise ArgumentTypeError(
                f"ShardWriter: expected an image (height, width, 3) of uint8 as {field!r}, got "
                f"{values.dtype}{values.shape}; multiply floats by 255 and convert them, or write "
                "them as npy"
            )
        image = np.ascontiguousarray(values[..., ::-1] if values.ndim == 3 else values)
        quality = _PNG_COMPRESSION if extension == "png" else _JPEG_QUALITY
        return encode("ShardWriter", image, f".{extension}", quality)
    if extension in _NUMBERS and isinstance(values, int | np.integer):
        return str(int(values)).encode()
    if extension in _TEXTS and isinstance(values, str):
        return values.encode()
    if extension == "npy" and isinstance(values, np.ndarray | np.generic):
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(values), allow_pickle=False)
        return file.getvalue()
    if extension in ("json", "jsn"):
        try:
            return json.dumps(values).encode()
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(
                f"ShardWriter: expected what JSON can hold as {field!r}, got {error}"
            ) from error
    raise ArgumentTypeError(
        f"ShardWriter: expected bytes as {field!r}, got {type(value).__name__}; images are written "
        "as jpg or png, numbers as cls, texts as txt, arrays as npy, other values as json"
    )


def check_fields(fields: Any) -> tuple[tuple[str, ...], ...] | None:
    """Return the alternative names of each field of a tuple; None for samples that are dicts.

    Args:
        fields: Names of fields, each perhaps several with semicolons; or None.

    Raises:
        ArgumentError: There are no fields, or a name is empty.
        ArgumentTypeError: ``fields`` is neither.
    """
    if fields is None:
        return None
    if (
        isinstance(fields, str)
        or not isinstance(fields, Iterable)
        or not all(isinstance(name, str) for name in fields)
    ):
        raise ArgumentTypeError(
            f"ShardDataset: expected fields to be a list of names, got {fields!r:.100}"
        )
    found = tuple(tuple(name.lower().split(";")) for name in fields)
    if not found or not all(all(names) for names in found):
        raise ArgumentError(f"ShardDataset: expected names of fields, got {fields!r:.100}")
    return found
