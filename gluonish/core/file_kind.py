"""The type of a file by its first bytes, and advice for a file of an unexpected type.

Most unexpected files are of a few types: an error page of a server, a git-lfs pointer, an archive
that was not unpacked, or weights of another library.
"""

import re
import zlib
from typing import NamedTuple

ONNX = "an ONNX model"
HEAD_NBYTES = 1024  # bytes that `file_kind` examines

_FAILED = "the download failed: open its address in a browser to see why, and download it again"
_FETCH = "a download or write was interrupted: download or write the file again"
_LFS = "run `git lfs pull` in its repository, or download the file itself"
_UNPACK = "unpack it, and pass the file that is in it"
_IMPORT = (
    "`gluonish zoo import` converts weights of networks of the model zoo; for other networks "
    "save it in PyTorch as safetensors: safetensors.torch.save_file(model.state_dict(), path)"
)
_KERAS = (
    "save the weights in Keras as npz: np.savez(path, **{getattr(w, 'path', w.name): w.numpy() for"
    " w in model.weights}), which `gluonish zoo import` reads"
)
_TO_ONNX = "convert it to ONNX with its own tools, and read that: `gluonish onnx import`"
_ARRAYS = "nd.load and load_parameters read it"

_PREFIXES: tuple[tuple[bytes, str, str], ...] = (
    (b"version https://git-lfs.github.com", "a git-lfs pointer in place of the file", _LFS),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes", _KERAS),
    (b"\x93NUMPY", "an array of NumPy's (.npy)", _ARRAYS),
    (b"\x12\x01" + bytes(6), "a .params file", _ARRAYS),
    (b"\x0a\x23\xd7\xce", "a RecordIO file", "mx.recordio and datasets of records read it"),
    (b"GGUF", "a GGUF file of llama.cpp", "fetch the model's safetensors instead"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image", "mx.image.imread reads it"),
    (b"\xff\xd8\xff", "a JPEG image", "mx.image.imread reads it"),
    (b"GIF8", "a GIF image", "mx.image.imread reads it"),
    (b"%PDF-", "a PDF document", ""),
    (b"\x7fELF", "a program or library of this system (ELF)", ""),
    (b"MZ", "a program of Windows", ""),
    (b"\xcf\xfa\xed\xfe", "a program of macOS", ""),
    (b"BZh", "bzip2 data", _UNPACK),
    (b"\xfd7zXZ\x00", "xz data", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "zstd data", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\xff\xfe", "text in UTF-16", "save it in UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it in UTF-8"),
    (b"\x08\x01\x12", "a SavedModel of TensorFlow", _TO_ONNX),
)
_HTML = re.compile(rb"(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body|script)\b", re.I | re.DOTALL)
_TORCH_BEFORE_1_6 = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PROTOBUF_ONNX = re.compile(rb"\x08[\x02-\x20][\x12\x1a\x22\x2a\x32\x3a\x42]")
_ZIP_HEADER_NBYTES = 30
_TAR = slice(257, 262)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SHOWN = 60  # characters of a text


class FileKind(NamedTuple):
    """Type of a file.

    Attributes:
        what: Description: ``an HTML page``.
        advice: What to do with it; may be empty.
        known: Whether the type was recognized.
    """

    what: str
    advice: str
    known: bool = True


def found_text(head: bytes) -> str:
    """Return description and advice for a message, after "got"; see `file_kind`."""
    kind = file_kind(head)
    return f"{kind.what}; {kind.advice}" if kind.advice else kind.what


def file_kind(head: bytes) -> FileKind:
    """Return the type of a file.

    Args:
        head: The first `HEAD_NBYTES` of the file, or its complete content.
    """
    if not head:
        return FileKind("an empty file", _FETCH)
    for prefix, what, advice in _PREFIXES:
        if head.startswith(prefix):
            return FileKind(what, advice)
    return (
        _archive(head) or _of_others(head) or _text(head) or FileKind(_bytes(head), "", known=False)
    )


def _archive(head: bytes) -> FileKind | None:
    if head.startswith(_ZIP):
        return _zip(head)
    if head.startswith(b"\x1f\x8b"):
        return _gzip(head)
    if head[_TAR] == b"ustar":
        return FileKind("a tar archive", f"`tar xf` it: {_UNPACK}")
    return None


def may_be_npz(head: bytes) -> bool:
    """Whether a zip archive is empty, or its first member is an array."""
    name = _first_member(head)
    return not name or name.endswith(".npy") or len(name) + _ZIP_HEADER_NBYTES >= HEAD_NBYTES


def _first_member(head: bytes) -> str:
    nbytes = int.from_bytes(head[26:28], "little") if head.startswith(_ZIP[0]) else 0
    return head[_ZIP_HEADER_NBYTES : _ZIP_HEADER_NBYTES + nbytes].decode("latin1")


def _zip(head: bytes) -> FileKind:
    """Return the type of a zip archive by the name of its first member."""
    name = _first_member(head)
    if name.endswith(("/data.pkl", "/.data/version", "/byteorder", "/version", "/.format_version")):
        return FileKind("a PyTorch checkpoint (zip)", _IMPORT)
    if name.endswith(".npy"):
        return FileKind("an npz archive of NumPy's", _ARRAYS)
    if name in ("metadata.json", "config.json", "model.weights.h5"):
        return FileKind("a Keras model (.keras)", _KERAS)
    return FileKind(f"a zip archive of {name!r:.80}" if name else "an empty zip archive", _UNPACK)


def _gzip(head: bytes) -> FileKind:
    try:
        inside = zlib.decompressobj(wbits=31).decompress(head, HEAD_NBYTES)
    except zlib.error:
        inside = b""
    if inside[_TAR] == b"ustar":
        return FileKind("a tar archive in gzip", f"`tar xf` it: {_UNPACK}")
    return FileKind("gzip data", f"`gunzip` it: {_UNPACK}")


def _of_others(head: bytes) -> FileKind | None:
    """Recognize files of other libraries, and files without a magic number at the beginning."""
    if head.startswith(_TORCH_BEFORE_1_6):
        return FileKind("a PyTorch checkpoint (before 1.6)", _IMPORT)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return FileKind(
            "a Python pickle",
            "load_states reads one that save_states wrote; others are not loaded, as they can run "
            "any code: save their arrays as npz",
        )
    if head[8:9] == b"{" and head[4:8] == bytes(4):
        return FileKind("a safetensors file", _ARRAYS)
    if head[4:8] == b"TFL3":
        return FileKind("a TensorFlow Lite model", _TO_ONNX)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return FileKind("a WebP image", "mx.image.imread reads it")
    if head[:3] == bytes(2) + b"\x08" and head[3:4] in (b"\x01", b"\x03"):
        return FileKind("an IDX file, as MNIST's", "mx.io.MNISTIter reads it")
    if _PROTOBUF_ONNX.match(head):
        return FileKind(ONNX, "mx.onnx.import_model and `gluonish onnx import` read it")
    return None


def _text(head: bytes) -> FileKind | None:
    try:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "strict").lstrip()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # the last character may be truncated
            return None
        text = head[: error.start].decode("utf-8").lstrip()
    if not text:
        return FileKind("nothing but white space", _FETCH)
    if not text.strip("\0"):
        return FileKind("zero bytes", _FETCH)
    if _CONTROL.search(text):
        return None
    start = text.encode()
    if _HTML.match(start):
        return FileKind("an HTML page", _FAILED)
    if start.startswith((b"<?xml", b"<Error>")):
        if b"<Error>" in start or b"AccessDenied" in start:
            code = re.search(rb"<Code>(\w{1,40})</Code>", start)
            said = f" ({code[1].decode()})" if code else ""
            return FileKind(f"a server's error message{said}", _FAILED)
        return FileKind("XML", "")
    if text[0] in "{[":
        return _json(text, head.startswith(b"\xef\xbb\xbf"))
    line = text.splitlines()[0]
    return FileKind(f"text that begins with {line[:_SHOWN]!r}", "")


def _json(text: str, marked: bool) -> FileKind:
    if marked:
        return FileKind("JSON that begins with a byte order mark", "save it in UTF-8 without one")
    if '"weight_map"' in text or '"metadata": {"total_size"' in text:
        return FileKind("the index of a checkpoint in several files", "pass it with the others")
    if '"nodes"' in text:
        return FileKind("the JSON of a graph", "symbol.load and SymbolBlock.imports read it")
    return FileKind(f"JSON that begins with {text[:_SHOWN]!r}", "")


def _bytes(head: bytes) -> str:
    return f"a file that begins with the bytes {head[:8].hex(' ')}"
