"""Programs with the iterators of ``mx.io``, for MXNet and for gluonish.

`run` gives the result of each by name. Not compared, because MXNet's are accidents: rows that only
fill a batch under ``round_batch=False`` (memory of earlier batches), the numbers of MNISTIter's
samples (always 0), what resets in mid-pass do under ``round_batch`` (they depend on how far its
thread got), the stype of NDArrayIter's batches of a csr array (dense, against the documentation),
and the dtype of DataLoaderIter's last batch if it is filled.
"""

import gzip
import itertools
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROWS = np.arange(14, dtype=np.float32).reshape(7, 2)
LABELS = np.arange(7, dtype=np.float32)


def write_files(folder: Path) -> None:
    """Write the files that the programs read."""
    lines = {
        "x.csv": [f"{i},{i}.5" for i in range(7)],
        "y.csv": [str(10 + i) for i in range(7)],
        "wide.csv": [f"{10 + i},{i}" for i in range(7)],
        "odd.csv": [" 1 , 2e1", "", "-.5,\t+4", "nan,inf,", "7,8\r", ""],
        "x.svm": [f"{10 + i} {i % 3}:{i + 1}.5 3:{i + 1}" for i in range(7)],
        "y.svm": [f"{90 + i} {i % 2}:{i + 1}" for i in range(7)],
        "even.svm": [f"{10 + i} {i % 3}:{i + 1}" for i in range(8)],
        "odd.svm": ["# comment", "1 1:1 # comment", "0", "", "2:.5 3:1 0:4", "-1.5e1 qid:7 2:.5"],
    }
    for name, rows in lines.items():
        (folder / name).write_bytes("\n".join([*rows, ""]).encode())
    images = np.arange(7 * 6, dtype=np.uint8).reshape(7, 2, 3) * 6
    for name, values in (("images", images), ("labels", np.arange(7, dtype=np.uint8) * 3)):
        head = struct.pack(f">4B{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
        (folder / name).write_bytes(head + values.tobytes())
        (folder / f"{name}.gz").write_bytes(gzip.compress(head + values.tobytes(), mtime=0))


def array_facts(array: Any, rows: int) -> list[Any]:
    values = array.asnumpy()[:rows]
    return [str(np.dtype(array.dtype)), array.stype, list(array.shape), values.tolist()]


def batch_facts(batch: Any, whole: bool = True, numbered: bool = True) -> dict[str, Any]:
    """Return what a batch holds; without the rows that fill it, unless ``whole``."""
    size = batch.data[0].shape[0]
    rows = size if whole else size - batch.pad
    index = None if batch.index is None else np.asarray(batch.index)[:rows].tolist()
    return {
        "data": [array_facts(array, rows) for array in batch.data],
        "label": [array_facts(array, rows) for array in batch.label],
        "pad": batch.pad,
        "index": index if numbered else "not compared",
    }


def described(data_iter: Any) -> list[Any]:
    """Return descriptions as text, and their dtypes and layouts."""
    return [
        [name, list(desc.shape), str(np.dtype(desc.dtype)), desc.layout, str(desc)]
        for kind in (data_iter.provide_data, data_iter.provide_label)
        for desc in kind
        for name in [desc.name]
    ]


def passes(data_iter: Any, count: int = 3, **how: bool) -> list[Any]:
    """Return the descriptions, and all batches of some passes."""
    found: list[Any] = [described(data_iter)]
    for number in range(count):
        if number:
            data_iter.reset()
        found.append([batch_facts(batch, **how) for batch in data_iter])
    return found


def descriptions(mx: Any, folder: Path) -> Any:
    desc = mx.io.DataDesc
    return [
        [repr(desc("data", (2, 3))), repr(desc("a", (2,), "int32", "NTC")), str(desc("a", (1,)))],
        [desc("a", (2,)) == ("a", (2,)), desc("a", (2,)) == desc("a", (2,), "int32", "TN")],
        [desc.get_batch_axis(layout) for layout in (None, "NCHW", "TNC", "CHW", "")],
        [repr(made) for made in desc.get_list([("a", (1, 2)), ("b", (3,))], None)],
        [repr(made) for made in desc.get_list([("a", (1,))], [("a", "int32")])],
        list(desc("a", (2, 3))),
    ]


def batches(mx: Any, folder: Path) -> Any:
    array = mx.nd.ones((2, 3))
    made = mx.io.DataBatch([array, array], [mx.nd.ones(2)], 1, None, 5)
    return [
        str(made),
        str(mx.io.DataBatch([array])),
        [made.pad, made.index, made.bucket_key, made.provide_data, made.provide_label],
    ]


def base(mx: Any, folder: Path) -> Any:
    class Counting(mx.io.DataIter):  # type: ignore[misc, name-defined]  # of one package or the other
        count = 0

        def iter_next(self) -> bool:
            self.count += 1
            return self.count < 3

        def getdata(self) -> list[int]:
            return [self.count]

    made = Counting(4)
    plain = mx.io.DataIter()
    return [
        [
            made.batch_size,
            plain.batch_size,
            bool(plain.iter_next()),
            plain.getdata(),
            plain.getpad(),
        ],
        [[batch.data, batch.label, batch.pad, batch.index] for batch in made],
    ]


def arrays(**arguments: Any) -> Callable[..., Any]:
    def program(mx: Any, folder: Path) -> Any:
        made = {"data": ROWS, "label": LABELS, "batch_size": 3} | arguments
        return passes(mx.io.NDArrayIter(**made), 4)

    return program


def shuffled(handle: str) -> Callable[..., Any]:
    def program(mx: Any, folder: Path) -> Any:
        np.random.seed(3)  # noqa: NPY002  # both packages draw from it
        made = mx.io.NDArrayIter(ROWS, LABELS, 3, shuffle=True, last_batch_handle=handle)
        found = passes(made, 3)
        made.hard_reset()
        return [*found, passes(made, 2)]

    return program


def array_sources(mx: Any, folder: Path) -> Any:
    sources: dict[str, Any] = {
        "list": [ROWS, ROWS],
        "list of one": [ROWS],
        "dict": {"b": ROWS, "a": ROWS * 2},
        "ordered": OrderedDict([("b", ROWS), ("a", ROWS)]),
        "twelve": [ROWS] * 12,
        "int32": ROWS.astype(np.int32),
        "float64": ROWS.astype(np.float64),
        "bool": ROWS > 3,
        "NDArray": mx.nd.array(ROWS, dtype="float16"),
        "numbers": ROWS.tolist(),
        "row_sparse": mx.nd.array(ROWS).tostype("row_sparse"),
    }
    found = {
        name: passes(mx.io.NDArrayIter(source, batch_size=2), 1) for name, source in sources.items()
    }
    csr = mx.nd.array(ROWS).tostype("csr")
    made = mx.io.NDArrayIter(csr, {"q": csr}, 3, last_batch_handle="discard", layout="NC")
    found["csr"] = [
        [array.asnumpy().tolist() for array in batch.data + batch.label] for batch in made
    ]
    return found


def array_state(mx: Any, folder: Path) -> Any:
    """What attributes and single calls give."""
    made = mx.io.NDArrayIter({"b": ROWS, "a": ROWS}, LABELS, 3)
    found: list[Any] = [
        [made.num_data, made.num_source, made.cursor, made.batch_size, made.idx.tolist()],
        [[name for name, _ in made.data], [name for name, _ in made.label], len(made.data_list)],
        [made.layout, made.shuffle, made.last_batch_handle, made.getindex()],
    ]
    for _ in range(4):
        found.append([made.iter_next(), made.cursor, made.getpad()])
    rolling = mx.io.NDArrayIter(ROWS, LABELS, 3, last_batch_handle="roll_over")
    for ahead, hard in itertools.product((1, 2, 3), (False, True)):
        taken = [next(rolling, None) for _ in range(ahead)]
        if hard:
            rolling.hard_reset()
        else:
            rolling.reset()
        found.append([rolling.cursor, sum(batch is not None for batch in taken)])
    list(rolling)
    rolling.reset()
    rolling.reset()
    found.append(passes(rolling, 1))
    return found


def resized(mx: Any, folder: Path) -> Any:
    found = []
    for size, internal in ((5, True), (2, True), (2, False), (7, False)):
        inner = mx.io.NDArrayIter(ROWS, LABELS, 3)
        made = mx.io.ResizeIter(inner, size, reset_internal=internal)
        found.append([made.size, made.cur, made.batch_size, made.reset_internal])
        found.append(passes(made, 3))
        found.append([made.cur, made.getpad(), made.getindex(), len(made.getdata())])
    return found


def prefetched(mx: Any, folder: Path) -> Any:
    def inner(**names: Any) -> Any:
        return mx.io.NDArrayIter(ROWS, LABELS, 3, **names)

    one = mx.io.PrefetchingIter(inner())
    several = mx.io.PrefetchingIter(
        [inner(), inner(data_name="x", label_name="y")],
        rename_data=[{"data": "A"}, {"x": "B"}],
        rename_label=[{"softmax_label": "L"}, {"y": "M"}],
    )
    found = [passes(one), one.n_iter, one.batch_size, passes(several), several.batch_size]
    several.reset()
    batch = several.next()
    found.append([str(desc) for desc in batch.provide_data + batch.provide_label])
    found.append([several.getpad(), several.getindex(), len(several.getdata())])
    several.reset()
    found.append(passes(several, 1))
    return found


def native(
    name: str, whole: bool = True, numbered: bool = True, **given: Any
) -> Callable[..., Any]:
    """A native iterator; values that begin with @ are files."""

    def program(mx: Any, folder: Path) -> Any:
        parameters = {
            key: str(folder / value[1:]) if isinstance(value, str) and value[0] == "@" else value
            for key, value in given.items()
        }
        made = getattr(mx.io, name)(**parameters)
        assert isinstance(made, mx.io.MXDataIter)
        return passes(made, 4, whole=whole, numbered=numbered)

    return program


def native_state(mx: Any, folder: Path) -> Any:
    made = mx.io.CSVIter(data_csv=str(folder / "x.csv"), data_shape=(2,), batch_size=3)
    found: list[Any] = [
        array_facts(made.getdata(), 3),
        array_facts(made.getlabel(), 3),
        [made.getpad(), made.getindex().tolist(), str(made.getindex().dtype)],
        batch_facts(made.first_batch),
        batch_facts(made.next()),
        made.first_batch,
        batch_facts(made.next()),
        array_facts(made.getdata(), 3),
    ]
    made.debug_skip_load()
    return [*found, *(batch_facts(made.next()) for _ in range(3))]


def csr_parts(mx: Any, folder: Path) -> Any:
    made = mx.io.LibSVMIter(data_libsvm=str(folder / "x.svm"), data_shape=(4,), batch_size=3)
    found = []
    for batch in made:
        data = batch.data[0]
        found.append([part.asnumpy().tolist() for part in (data.data, data.indices, data.indptr)])
    return found


def of_loader(last_batch: str, **arguments: Any) -> Callable[..., Any]:
    def program(mx: Any, folder: Path) -> Any:
        dataset = mx.gluon.data.ArrayDataset(ROWS, LABELS)
        loader = mx.gluon.data.DataLoader(dataset, 3, last_batch=last_batch)
        return passes(mx.contrib.io.DataLoaderIter(loader, **arguments), 2, whole=False)

    return program


CSV = {"data_csv": "@x.csv", "data_shape": (2,), "batch_size": 3}
SVM = {"data_libsvm": "@x.svm", "data_shape": (4,), "batch_size": 3}
EVEN = {"data_libsvm": "@even.svm", "data_shape": (4,), "batch_size": 1}
MNIST = {"image": "@images", "label": "@labels", "batch_size": 3, "shuffle": False}

PROGRAMS: dict[str, Callable[..., Any]] = {
    "DataDesc": descriptions,
    "DataBatch": batches,
    "DataIter": base,
    **{
        f"NDArrayIter {handle} {size}": arrays(last_batch_handle=handle, batch_size=size)
        for handle in ("pad", "discard", "roll_over")
        for size in (1, 2, 3, 5, 7, 8)
    },
    "NDArrayIter pad 20": arrays(batch_size=20),
    "NDArrayIter names": arrays(data_name="q", label_name="z", layout="NC"),
    "NDArrayIter no label": arrays(label=None),
    "NDArrayIter labels": arrays(label=[LABELS, LABELS * 2]),
    **{
        f"NDArrayIter shuffled {handle}": shuffled(handle)
        for handle in ("pad", "discard", "roll_over")
    },
    "NDArrayIter sources": array_sources,
    "NDArrayIter state": array_state,
    "ResizeIter": resized,
    "PrefetchingIter": prefetched,
    "CSVIter": native("CSVIter", **CSV),
    "CSVIter text": native("CSVIter", **(CSV | {"data_shape": "(2,)", "batch_size": "3"})),
    "CSVIter label": native("CSVIter", **CSV, label_csv="@y.csv"),
    "CSVIter wide label": native("CSVIter", **CSV, label_csv="@wide.csv", label_shape=(2,)),
    "CSVIter label shape alone": native("CSVIter", **CSV, label_shape=(2,)),
    "CSVIter not round": native("CSVIter", False, **CSV, label_csv="@y.csv", round_batch=False),
    "CSVIter six": native("CSVIter", **(CSV | {"batch_size": 6})),
    "CSVIter exact": native("CSVIter", **(CSV | {"batch_size": 7})),
    "CSVIter shape": native("CSVIter", **(CSV | {"data_shape": (2, 1)}), data_name="q"),
    "CSVIter int32": native(
        "CSVIter", **(CSV | {"data_csv": "@wide.csv"}), label_csv="@y.csv", dtype="int32"
    ),
    "CSVIter int64": native(
        "CSVIter", **(CSV | {"data_csv": "@wide.csv"}), dtype="int64", label_name="z"
    ),
    "CSVIter odd lines": native(
        "CSVIter", data_csv="@odd.csv", data_shape=(2,), batch_size=1, ctx="cpu"
    ),
    "MXDataIter state": native_state,
    "LibSVMIter": native("LibSVMIter", **SVM),
    "LibSVMIter label": native("LibSVMIter", **SVM, label_libsvm="@y.svm", label_shape=(2,)),
    "LibSVMIter odd lines": native(
        "LibSVMIter", data_libsvm="@odd.svm", data_shape=(5,), batch_size=2
    ),
    "LibSVMIter parts of csr": csr_parts,
    **{
        f"LibSVMIter part {part} of {parts}": native(
            "LibSVMIter", **EVEN, num_parts=parts, part_index=part
        )
        for parts in (2, 3, 4)
        for part in range(parts)
    },
    "MNISTIter": native("MNISTIter", numbered=False, **MNIST),
    "MNISTIter flat": native("MNISTIter", numbered=False, **MNIST, flat=True, silent=True),
    **{
        f"MNISTIter part {part}": native(
            "MNISTIter", numbered=False, **(MNIST | {"batch_size": 1}), num_parts=3, part_index=part
        )
        for part in range(3)
    },
    "DataLoaderIter": of_loader("keep"),
    "DataLoaderIter discard": of_loader("discard"),
    "DataLoaderIter names": of_loader("discard", data_name="q", label_name="z", dtype="float16"),
}


def run(mx: Any, folder: Path) -> dict[str, Any]:
    """Return the result of every program; files are written to ``folder``."""
    write_files(folder)
    return {name: program(mx, folder) for name, program in PROGRAMS.items()}
