"""Every reader of files by name, each as a function of a path, with what it may cost and must tell.

The tests beside this and ``atheris_readers.py`` call the same functions.
"""

import functools
import re
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import gluonish.ndarray as nd
from gluonish.core import file_map
from gluonish.core.errors import GluonishError
from gluonish.gluon.data import ParquetDataset, ShardDataset
from gluonish.gluon.data.vision.datasets import ImageListDataset
from gluonish.gluon.data.vision.datasets.downloaded import _unpacked
from gluonish.gluon.trainer import Trainer
from gluonish.image import imread
from gluonish.io import CSVIter, LibSVMIter, MNISTIter
from gluonish.io.mnist_iter import read_idx
from gluonish.model_zoo.foreign import open_checkpoint
from gluonish.module.feed_forward import load_checkpoint
from gluonish.ndarray import byte_reader
from gluonish.onnx.importing import get_model_metadata, import_to_gluon
from gluonish.optimizer import SGD, get_updater
from gluonish.recordio import MXIndexedRecordIO, MXRecordIO, scan, unpack
from gluonish.recordio.record_table import survey
from gluonish.symbol import load as load_symbol
from gluonish.tools.im2rec import read_list
from tests.fuzz.samples import files_of, small_network

# What a call may take beside the multiple of the file's size: caches, messages, the first call.
_CONSTANT_NBYTES = 4 << 20
_LIMIT_S = 10.0
# Where in a file: a byte, a line, a character of JSON, or a node of a graph.
_PLACE = re.compile(r"\b(byte|bytes|line|char|node|nodes|heads|arg_nodes|key|position) ?'?[-\w]*")


class Reader(NamedTuple):
    """A reader.

    Attributes:
        kind: Which files it reads; of `files_of`.
        name: The name of the file that it is given.
        read: Reads it, with all that it holds.
        multiple: How many bytes it may allocate for each of the file.
        tells_place: Whether each refusal says where in the file.
        prepare: Writes the other files that it needs into a folder, once.
    """

    kind: str
    name: str
    read: Callable[[Path], object]
    multiple: int
    tells_place: bool = True
    prepare: Callable[[Path], None] = lambda folder: None


def checked_call(reader: Reader, path: Path) -> Exception | None:
    """Read a file, perhaps a damaged one; return the refusal, if there was one.

    Raises:
        AssertionError: It took too much memory or time, or the refusal does not say what it must.
        Exception: Whatever else the reader raises.
    """
    size = path.stat().st_size
    refusal: Exception | None = None
    start = time.process_time()
    tracemalloc.start()
    try:
        reader.read(path)
    except GluonishError as error:
        refusal = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    taken_s = time.process_time() - start
    allowed = reader.multiple * size + _CONSTANT_NBYTES
    assert peak <= allowed, f"{peak} bytes for a file of {size}: {refusal}"
    assert taken_s < _LIMIT_S, f"{taken_s} s for a file of {size} bytes: {refusal}"
    if refusal is not None:
        message = str(refusal)
        assert path.name in message, f"no file in: {message}"
        assert len(message) < 5000, f"a message of {len(message)} characters"
        if reader.tells_place:
            assert _PLACE.search(message), f"no place in: {message}"
    return refusal


def _read_records(path: Path) -> None:
    file = MXRecordIO(str(path), "r")
    try:
        while file.read() is not None:
            pass
    finally:
        file.close()


def _survey(path: Path) -> None:
    table, damages = survey(path)
    covered = sum(found.end - found.start for found in damages)
    assert covered + int(table.lengths.sum()) <= path.stat().st_size
    if not damages:
        assert scan(path).offsets.tolist() == table.offsets.tolist()


def _read_index(path: Path) -> None:
    file = MXIndexedRecordIO(str(path), str(path.with_suffix(".rec")), "r")
    try:
        for key in file.keys:
            file.read_idx(key)
    finally:
        file.close()


def _write_record(folder: Path) -> None:
    (folder / "a.rec").write_bytes(files_of("records")[0])


def _unpack(path: Path) -> None:
    try:
        unpack(path.read_bytes())
    except GluonishError as error:
        # A record has no file of its own; who reads one tells it.
        raise type(error)(f"{error} ({path})") from error


def _read_digits(path: Path) -> None:
    read_idx(path.read_bytes(), str(path))


def _read_packed_digits(path: Path) -> None:
    read_idx(_unpacked(path), str(path))


def _iterate_digits(path: Path) -> None:
    labels = path.with_name("labels")
    MNISTIter(image=str(path), label=str(labels), batch_size=1, silent=True)


def _write_labels(folder: Path) -> None:
    (folder / "labels").write_bytes(files_of("idx")[1])


@functools.cache
def _trainer() -> Trainer:
    return Trainer(small_network().collect_params(), "sgd", {"momentum": 0.9})


def _load_states(path: Path) -> None:
    _trainer().load_states(path)


def _set_states(path: Path) -> None:
    get_updater(SGD()).set_states(path.read_bytes(), str(path))


def _load_params(path: Path) -> None:
    small_network().load_parameters(path)


def _load_model(path: Path) -> None:
    small_network().load(str(path).removesuffix("-model.json").removesuffix("-model.params"))


def _write_model_params(folder: Path) -> None:
    (folder / "m-model.params").write_bytes(files_of("model params")[0])


def _write_model_structure(folder: Path) -> None:
    (folder / "m-model.json").write_bytes(files_of("model structure")[0])


def _load_checkpoint(path: Path) -> None:
    load_checkpoint(str(path).removesuffix("-symbol.json").removesuffix("-0001.params"), 1)


def _write_checkpoint_params(folder: Path) -> None:
    nd.save(str(folder / "c-0001.params"), {"arg:a": nd.ones(2)})


def _write_checkpoint_symbol(folder: Path) -> None:
    (folder / "c-symbol.json").write_bytes(files_of("symbol")[1])


def _read_list(path: Path) -> None:
    refused: list[str] = []
    found = list(read_list(path, refused.append))
    assert len(found) + len(refused) <= path.read_bytes().count(b"\n") + 1


def _list_dataset(path: Path) -> None:
    len(ImageListDataset(".", str(path)))


def _open_foreign(path: Path) -> None:
    with open_checkpoint(path) as checkpoint:
        for stored in checkpoint.arrays.values():
            stored.read()


def _write_shards(folder: Path) -> None:
    shards = files_of("all shards")
    for number, content in enumerate(shards, 1):
        (folder / f"a-{number:05d}-of-{len(shards):05d}.safetensors").write_bytes(content)


def _load_mapped(path: Path) -> None:
    """Read a small file from a map of it, as large ones are."""
    with (
        mock.patch.object(file_map, "_LEAST_NBYTES", 1),
        mock.patch.object(byte_reader, "_MIN_MAPPED_NBYTES", 1),
    ):
        found = nd.load(path)
    for array in found.values() if isinstance(found, dict) else found:
        array.asnumpy()


def _read_shard(path: Path) -> None:
    for _ in ShardDataset(path):
        pass


def _read_parquet(path: Path) -> None:
    for _ in ParquetDataset(path):
        pass


def _decode(path: Path) -> None:
    imread(str(path))


def _iterate_csv(path: Path) -> None:
    for _ in CSVIter(data_csv=str(path), data_shape=(3,), batch_size=2):
        pass


def _iterate_libsvm(path: Path) -> None:
    for _ in LibSVMIter(data_libsvm=str(path), data_shape=(4,), batch_size=2):
        pass


# Deflate packs 1032 to 1 at best, and MXNet 2.0's archives may be packed; other readers have no
# such excuse. Keys, lines and nodes are Python's objects, which take some tens of bytes each.
_OBJECTS = 120
READERS = {
    "record file": Reader("records", "a.rec", _read_records, 4),
    "record table": Reader("records", "a.rec", scan, 8),
    "record survey": Reader("records", "a.rec", _survey, 40),
    "record index": Reader("record index", "a.idx", _read_index, _OBJECTS, prepare=_write_record),
    "image record": Reader("records", "a", _unpack, 4, tells_place=False),
    "arrays": Reader("params", "a.params", nd.load, _OBJECTS),
    "archive": Reader("archive", "a.params", nd.load, 4 * 1032),
    "parameters": Reader("model params", "a.params", _load_params, 60, tells_place=False),
    "symbol": Reader("symbol", "a-symbol.json", load_symbol, _OBJECTS),
    "idx": Reader("idx", "a-ubyte", _read_digits, 4),
    "packed idx": Reader("packed idx", "a-ubyte.gz", _read_packed_digits, 1100),
    "MNISTIter": Reader("idx", "a-ubyte", _iterate_digits, 40, prepare=_write_labels),
    "trainer states": Reader("states", "a.states", _load_states, _OBJECTS, tells_place=False),
    "updater states": Reader("states", "a.states", _set_states, _OBJECTS, tells_place=False),
    "model structure": Reader(
        "model structure", "m-model.json", _load_model, _OBJECTS, prepare=_write_model_params
    ),
    "model parameters": Reader(
        "model params",
        "m-model.params",
        _load_model,
        60,
        tells_place=False,
        prepare=_write_model_structure,
    ),
    "checkpoint's symbol": Reader(
        "symbol", "c-symbol.json", _load_checkpoint, _OBJECTS, prepare=_write_checkpoint_params
    ),
    "checkpoint's parameters": Reader(
        "params",
        "c-0001.params",
        _load_checkpoint,
        60,
        tells_place=False,
        prepare=_write_checkpoint_symbol,
    ),
    "image list": Reader("list", "a.lst", _read_list, _OBJECTS),
    "torch file": Reader("torch", "a.pth", _open_foreign, _OBJECTS, tells_place=False),
    "safetensors": Reader("safetensors", "a.safetensors", _open_foreign, 40, tells_place=False),
    "safetensors arrays": Reader("safetensors", "a.safetensors", nd.load, 60, tells_place=False),
    "safetensors parameters": Reader(
        "model safetensors", "a.params", _load_params, 60, tells_place=False
    ),
    "stored archive": Reader("stored archive", "a.npz", nd.load, 60),
    "index of shards": Reader(
        "shards", "a.safetensors.index.json", nd.load, _OBJECTS, False, _write_shards
    ),
    "mapped safetensors": Reader("safetensors", "a", _load_mapped, 60, tells_place=False),
    "mapped archive": Reader("stored archive", "a.npz", _load_mapped, 60),
    "ONNX model": Reader("onnx", "a.onnx", import_to_gluon, 4 * _OBJECTS, tells_place=False),
    "ONNX metadata": Reader("onnx", "a.onnx", get_model_metadata, _OBJECTS, tells_place=False),
    "image": Reader("image", "a.png", _decode, 1100, tells_place=False),
    "tar shard": Reader("tar", "a.tar", _read_shard, 1100),
    "Parquet file": Reader("parquet", "a.parquet", _read_parquet, 1100, tells_place=False),
    "csv": Reader("csv", "a.csv", _iterate_csv, 400),
    "libsvm": Reader("libsvm", "a.libsvm", _iterate_libsvm, 400),
    "list dataset": Reader("list", "a.lst", _list_dataset, _OBJECTS),
}
