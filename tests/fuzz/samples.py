"""Valid files of every kind that gluonish reads, small, to be damaged by the tests beside this."""

import functools
import gzip
import io
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import gluonish.autograd as autograd
import gluonish.ndarray as nd
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data import ShardWriter
from gluonish.gluon.nn import BatchNorm, Dense, HybridSequential
from gluonish.gluon.trainer import Trainer
from gluonish.ndarray.array_file import DenseRecord, SparseRecord, write_array_list
from gluonish.onnx.importing import import_to_gluon
from gluonish.recordio import IRHeader, MXIndexedRecordIO, pack, pack_img, unpack

GOLDEN = Path(__file__).parents[1] / "golden"
_OPSET = helper.make_opsetid("", 17)
_MARK = struct.pack("<I", 0xCED7230A)


def small_network() -> HybridBlock:
    """A network of two layers whose parameters have shapes, and numbers from a fixed start."""
    net = HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(Dense(3, in_units=2, prefix="dense_"), BatchNorm(in_channels=3, prefix="norm_"))
    net.initialize()
    return net


@functools.cache
def files_of(kind: str) -> tuple[bytes, ...]:
    """Return the contents of valid files of a kind."""
    return tuple(_MAKERS[kind]())


def _records() -> list[bytes]:
    return [_record_files()[0], (GOLDEN / "raw.rec").read_bytes()]


def _tar() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        with ShardWriter(f"{folder}/%d.tar") as writer:
            for key in ("1", "n" * 120):
                image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
                fields = {"png": image, "cls": 3, "txt": "a", "json": [1], "npy": np.arange(2)}
                writer.write({"__key__": key, **fields})
        return [Path(writer.shards[0]).read_bytes()]


def _parquet() -> list[bytes]:
    from pyarrow import BufferOutputStream, parquet, table  # type: ignore[import-untyped,unused-ignore]  # no stubs

    stream = BufferOutputStream()
    columns = {"x": [1, None, 3], "t": ["a", "b", "c"], "v": [[1.0], [], [2.0, 3.0]]}
    parquet.write_table(table(columns), stream, row_group_size=2)
    return [stream.getvalue().to_pybytes()]


def _record_indices() -> list[bytes]:
    return [_record_files()[1]]


@functools.cache
def _record_files() -> tuple[bytes, bytes]:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    with tempfile.TemporaryDirectory() as folder:
        paths = f"{folder}/a.idx", f"{folder}/a.rec"
        file = MXIndexedRecordIO(*paths, "w")
        file.write_idx(3, pack_img((0, 1, 3, 0), image, 9, ".png"))
        file.write_idx(4, pack((0, [1, 2.5], 4, 0), b"abcd" + _MARK + b"efgh" + _MARK))
        file.write_idx(50, b"")
        file.close()
        return Path(paths[1]).read_bytes(), Path(paths[0]).read_bytes()


def _params() -> list[bytes]:
    names = ("legacy_v0", "legacy_v1", "sparse", "dtypes", "np_shape", "cnn-0003", "empty")
    found = [(GOLDEN / f"{name}.params").read_bytes() for name in names]
    small = [content for content in found if len(content) < 5000]
    arrays = DenseRecord(np.arange(6, dtype=np.float32).reshape(2, 3))
    rows = SparseRecord("row_sparse", (4, 2), np.ones((2, 2)), (np.array([0, 3]),))
    pointers, columns = np.array([0, 1, 1, 2]), np.array([1, 0])
    csr = SparseRecord("csr", (3, 2), np.ones(2, np.float32), (pointers, columns))
    target = io.BytesIO()
    write_array_list(target, [arrays, rows, csr], ["arg:weight", "aux:rows", "ü"])
    return [*small, target.getvalue()]


def _archives() -> list[bytes]:
    arrays = {"a.weight": np.arange(6.0).reshape(2, 3), "b": np.zeros((), np.int32)}
    found = []
    for save in (np.savez, np.savez_compressed):
        target = io.BytesIO()
        save(target, **arrays)  # type: ignore[operator]  # both are
        found.append(target.getvalue())
    single = io.BytesIO()
    np.save(single, np.asfortranarray(np.ones((2, 3), np.float16)))
    return [*found, single.getvalue()]


def _symbols() -> list[bytes]:
    names = ("foreach", "lstm", "legacy_080", "attrs", "cnn")
    return [(GOLDEN / f"{name}-symbol.json").read_bytes() for name in names]


def _digits() -> list[bytes]:
    images = np.arange(2 * 3 * 3, dtype=np.uint8).tobytes()
    return [
        struct.pack(">BBBB3I", 0, 0, 8, 3, 2, 3, 3) + images,
        struct.pack(">BBBBI", 0, 0, 8, 1, 2) + b"\1\0",
    ]


def _packed_digits() -> list[bytes]:
    return [gzip.compress(content, mtime=0) for content in _digits()]


def _states() -> list[bytes]:
    found = [(GOLDEN / f"{name}.states").read_bytes() for name in ("trainer_adam", "trainer_sgd")]
    net = small_network()
    trainer = Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    with autograd.record():
        loss = net(nd.ones((4, 2))).sum()
    loss.backward()
    trainer.step(4)
    with tempfile.TemporaryDirectory() as folder:
        trainer.save_states(f"{folder}/a")
        return [Path(folder, "a").read_bytes(), *found]


@functools.cache
def _model() -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        small_network().save(f"{folder}/a")
        return tuple(Path(folder, f"a-model.{end}").read_bytes() for end in ("json", "params"))  # type: ignore[return-value]  # two


def _lists() -> list[bytes]:
    return [b"0\t1.000000\ta/x.jpg\n1\t2.5\t-3e2\tb/\xc3\xa9.png\n7\t0\tc d.jpg\n"]


def _foreign(*endings: str) -> list[bytes]:
    return [
        path.read_bytes() for path in sorted((GOLDEN / "foreign").glob("*")) if path.name in endings
    ]


def _safetensors() -> list[bytes]:
    golden = (GOLDEN / "safetensors" / "dtypes.safetensors").read_bytes()
    return [*_foreign("tensors.safetensors"), golden, *_saved(".safetensors")]


def _saved(ending: str) -> list[bytes]:
    """What gluonish writes of two arrays, in the order of the files' names."""
    arrays = {"arg:a": nd.ones((2, 3)), "ü": nd.ones(5, dtype="bfloat16")}
    most = 24 if ending.endswith(".json") else None
    with tempfile.TemporaryDirectory() as folder:
        nd.save(f"{folder}/a{ending}", arrays, metadata={"a": "b"}, max_shard_nbytes=most)
        return [path.read_bytes() for path in sorted(Path(folder).iterdir())]


def _model_safetensors() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        small_network().save_parameters(f"{folder}/a.safetensors")
        return Path(folder, "a.safetensors").read_bytes()


def _images() -> list[bytes]:
    rng = np.random.default_rng(1)
    image = rng.integers(0, 255, (9, 7, 3), dtype=np.uint8)
    header = IRHeader(0, 1.0, 0, 0)
    packed = [pack_img(header, image, img_fmt=kind) for kind in (".png", ".jpg", ".bmp")]
    return [unpack(record)[1] for record in packed]


def _onnx_models() -> list[bytes]:
    """Models of ONNX: layers, control flow, quantized numbers, a function of the file's own."""
    value = functools.partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT)
    weights = [
        numpy_helper.from_array(np.ones(shape, np.float32), name)
        for name, shape in (("w", (2, 3, 3, 3)), ("s", (2,)), ("d", (4, 2)), ("q", (1,)))
    ]
    zero = numpy_helper.from_array(np.zeros(1, np.uint8), "z")
    ends = numpy_helper.from_array(np.array([1], np.int64), "one")
    body = helper.make_graph(
        [helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Identity", ["c"], ["e"])],
        "body",
        [value("a", shape=[2]), value("b", shape=[2])],
        [value("c", shape=[2]), value("e", shape=[2])],
    )
    branch = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["n"])], "branch", [], [value("n", shape=[3, 2])]
    )
    function = helper.make_function(
        "own", "Twice", ["i"], ["o"], [helper.make_node("Add", ["i", "i"], ["o"])], [_OPSET]
    )
    graphs = [
        helper.make_graph(
            [
                helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
                helper.make_node("BatchNormalization", ["c", "s", "s", "s", "s"], ["n"]),
                helper.make_node("MaxPool", ["n"], ["p"], kernel_shape=[2, 2]),
                helper.make_node("GlobalAveragePool", ["p"], ["g"]),
                helper.make_node("Flatten", ["g"], ["f"]),
                helper.make_node("Gemm", ["f", "d"], ["y"], transB=1, alpha=0.5),
            ],
            "layers",
            [value("x", shape=[1, 3, 6, 6])],
            [value("y", shape=[1, 4])],
            weights[:3],
        ),
        helper.make_graph(
            [
                helper.make_node("Slice", ["x", "one", "one"], ["t"]),
                helper.make_node("Scan", ["s", "x"], ["l", "m"], body=body, num_scan_inputs=1),
                helper.make_node("ReduceSum", ["m", "one"], ["r"]),
                helper.make_node("Greater", ["r", "q"], ["g"]),
                helper.make_node("Where", ["g", "r", "q"], ["h"]),
                helper.make_node("If", ["k"], ["y"], then_branch=branch, else_branch=branch),
            ],
            "control",
            [value("x", shape=[3, 2]), helper.make_tensor_value_info("k", TensorProto.BOOL, [])],
            [value("y", shape=[3, 2]), value("h", shape=[3, 1])],
            [weights[1], weights[3], ends],
        ),
        helper.make_graph(
            [
                helper.make_node("QuantizeLinear", ["x", "q", "z"], ["u"]),
                helper.make_node("DequantizeLinear", ["u", "q", "z"], ["v"]),
                helper.make_node("Twice", ["v"], ["w2"], domain="own"),
                helper.make_node("Softmax", ["w2"], ["y"], axis=-1),
            ],
            "quantized",
            [value("x", shape=["n", 4])],
            [value("y", shape=["n", 4])],
            [weights[3], zero],
        ),
    ]
    opsets = [_OPSET, helper.make_opsetid("own", 1)]
    models = [
        helper.make_model(graph, opset_imports=opsets, functions=[function]).SerializeToString()
        for graph in graphs
    ]
    for model in models:  # what readers load once is no cost of the files that are damaged
        import_to_gluon(model)
    return models


_MAKERS: dict[str, Any] = {
    "records": _records,
    "tar": _tar,
    "parquet": _parquet,
    "record index": _record_indices,
    "params": _params,
    "archive": _archives,
    "symbol": _symbols,
    "idx": _digits,
    "packed idx": _packed_digits,
    "states": _states,
    "model structure": lambda: [_model()[0]],
    "model params": lambda: [_model()[1]],
    "list": _lists,
    "torch": lambda: _foreign("tensors.pth", "tensors_legacy.pth", "training.pth"),
    "safetensors": _safetensors,
    "shards": lambda: _saved(".safetensors.index.json")[2:],
    "all shards": lambda: _saved(".safetensors.index.json")[:2],
    "model safetensors": lambda: [_model_safetensors()],
    "stored archive": lambda: _saved(".npz"),
    "image": _images,
    "onnx": _onnx_models,
    "csv": lambda: [b"1,2.5,-3e2\n4,5,6,\n\n7,8,9\n", b"1,nan,inf\r\n1, 2 ,3\r\n"],
    "libsvm": lambda: [b"1 0:1.5 2:3\n0 1:2 # note\n-1 qid:3 0:1e-3\n"],
}
