"""A file of another kind is told by its first bytes, by every reader, with what to do."""

import argparse
import gzip
import io
import pickle
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import gluon, nd, sym
from gluonish.core.errors import GluonishError
from gluonish.core.file_kind import file_kind, found_text
from gluonish.model_zoo.foreign import import_weights
from gluonish.tools.convert import add_parser, run


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"content")
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return file.getvalue()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n"
DENIED = b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>'
# Each with words of what it is, and of what to do.
FOREIGN: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "an empty file", "download or write the file again"),
    "zeros": (bytes(4096), "zero bytes", "download or write the file again"),
    "white space": (b" \n" * 8, "nothing but white space", "download or write the file again"),
    "lfs": (LFS, "a git-lfs pointer", "git lfs pull"),
    "html": (b"\n <!DOCTYPE html>\n<html><body>Sign in", "an HTML page", "the download failed"),
    "html after a comment": (b"<!-- x --><html>", "an HTML page", "the download failed"),
    "html with a mark": (b"\xef\xbb\xbf<html lang='de'>", "an HTML page", "the download failed"),
    "S3": (DENIED, r"a server's error message \(AccessDenied\)", "the download failed"),
    "torch": (zipped("archive/data.pkl", "archive/data/0"), "a PyTorch checkpoint", "zoo import"),
    "torch before 1.6": (
        pickle.dumps(0x1950A86A20F9469CFC6C, 2),
        "a PyTorch checkpoint",
        "zoo import",
    ),
    "keras": (zipped("metadata.json", "config.json"), "a Keras model", "np.savez"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(80), "an HDF5 file", "np.savez"),
    "zip": (zipped("model.txt"), "a zip archive of 'model.txt'", "unpack it"),
    "gzip": (gzip.compress(b"content"), "gzip data", "gunzip"),
    "tar": (tarred(), "a tar archive", "tar xf"),
    "tar.gz": (gzip.compress(tarred()), "a tar archive in gzip", "tar xf"),
    "pickle": (pickle.dumps([1]), "a Python pickle", "any code"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(20), "a PNG image", "imread"),
    "jpeg": (b"\xff\xd8\xff\xe0" + bytes(20), "a JPEG image", "imread"),
    "gguf": (b"GGUF" + bytes(20), "a GGUF file", "safetensors"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(20), "a TensorFlow Lite model", "ONNX"),
    "saved model": (b"\x08\x01\x12\xff\x07" + bytes(range(200)), "a SavedModel", "ONNX"),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(20), "a program or library", ""),
    "utf-16": ('{"nodes": []}'.encode("utf-16"), "text in UTF-16", "UTF-8"),
    "marked json": (b'\xef\xbb\xbf{"a": 1}', "JSON that begins with a byte order mark", "UTF-8"),
    "text": ("Not Found, ü".encode(), "text that begins with 'Not Found, ü'", ""),
    "unknown": (b"\x01\xfe\x03\x04\x05\x06\x07\x08\x09", "the bytes 01 fe 03 04 05 06 07 08", ""),
}
# What a reader reads itself, or says in words of its own.
OWN = {
    "load_states": {"pickle", "torch before 1.6", "text", "unknown", "elf"},
    "imread": {"png", "jpeg"},
    "import_weights": {"torch", "torch before 1.6", "hdf5", "pickle", "tar", "unknown"},
    "onnx": {"text", "unknown", "elf"},
}
KINDS = [pytest.param(*row, name, id=name) for name, row in FOREIGN.items()]


def network() -> gluon.nn.HybridBlock:
    net = gluon.nn.Dense(2, in_units=2)
    net.initialize()
    return net


READERS: dict[str, Callable[[str], Any]] = {
    "nd.load": nd.load,
    "npx.load": mx.npx.load,
    "load_metadata": nd.load_metadata,
    "load_parameters": lambda path: network().load_parameters(path),
    "ParameterDict.load": lambda path: network().collect_params().load(path),
    "convert": lambda path: convert(path),
    "sym.load": sym.load,
    "SymbolBlock.imports": lambda path: gluon.SymbolBlock.imports(path, ["data"]),
    "load_states": lambda path: gluon.Trainer(
        network().collect_params(), "sgd", kvstore=None
    ).load_states(path),
    "onnx": lambda path: mx.contrib.onnx.import_model(path),
    "recordio": lambda path: mx.recordio.MXRecordIO(path, "r").read() or fail(),
    "import_weights": lambda path: import_weights("alexnet", path),
    "imread": mx.image.imread,
}


def convert(path: str) -> None:

    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    run(parser.parse_args(["convert", path, path + ".npz"]))


def fail() -> None:
    """Say what an empty file is, which has no records."""
    raise mx.MXNetError("an empty file; download or write the file again")


@pytest.mark.parametrize(("content", "what", "advice", "name"), KINDS)
def test_the_kind_of_a_file(content: bytes, what: str, advice: str, name: str) -> None:
    kind = file_kind(content[:1024])
    assert re.search(what, kind.what)
    assert advice in kind.advice
    assert bool(kind.advice) == bool(advice)
    assert kind.known == (name != "unknown")
    assert found_text(content[:1024]).startswith(kind.what)


@pytest.mark.parametrize(("content", "what", "advice", "name"), KINDS)
def test_every_reader_tells_the_kind_and_what_to_do(
    content: bytes, what: str, advice: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    for reader, read in READERS.items():
        with pytest.raises(GluonishError, match="." if name in OWN.get(reader, ()) else what) as e:
            read(str(path))
        if name not in OWN.get(reader, ()):
            assert advice in str(e.value), reader


def test_own_formats_are_told_to_readers_of_others(tmp_path: Path) -> None:
    nd.save(tmp_path / "a.params", {"w": nd.ones(2)})
    nd.save(tmp_path / "a.safetensors", {"w": nd.ones(2)})
    nd.save(tmp_path / "a.npz", {"w": nd.ones(2)})
    (tmp_path / "a.rec").write_bytes(struct.pack("<II", 0xCED7230A, 4) + b"abcd")
    sym.var("x").save(tmp_path / "a.json")
    np.save(tmp_path / "a.npy", np.ones(2))
    for name, what in {
        "a.params": "a .params file",
        "a.safetensors": "a safetensors file",
        "a.npz": "an npz archive",
        "a.npy": "an array of NumPy's",
        "a.rec": "a RecordIO file",
    }.items():
        with pytest.raises(GluonishError, match=f"the JSON of a graph.* at byte 0, got {what}"):
            sym.load(tmp_path / name)
    for name, what in {"a.rec": "a RecordIO file", "a.json": "the JSON of a graph"}.items():
        with pytest.raises(GluonishError, match=what):
            nd.load(tmp_path / name)


@pytest.mark.parametrize("content", [b"[1, 2]", b'{"a": 1}', b'{"model_type": "resnet"}'])
def test_json_that_is_no_index_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(GluonishError, match="got JSON that begins with"):
        nd.load(tmp_path / "config.json")
