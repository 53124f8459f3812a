"""Make input_files.json: which files the native iterators of MXNet 1.9.1 read for a path.

From the repository's root, with the black box (shared/ORACLE.md):

    oracle/bin/python tests/golden/make_input_files.py
"""

import base64
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import recordio

FILE = Path(__file__).parent / "input_files.json"
TEXTS = {
    "a.csv": "0\n1\n2\n",
    "b.csv": "3\n4",
    "csv/c.csv": "5\n6\n",
    "empty.csv": "",
    "some file.csv": "7\n",
    "a.svm": "0 0:1\n1 0:1\n2 0:1\n",
    "b.svm": "3 0:1\n4 0:1\n",
    "svm/c.svm": "5 0:1\n6 0:1\n7 0:1",
    "all.lst": "".join(f"{i}\t{100 + i}\tx\n" for i in range(8)),
    "a.lst": "".join(f"{i}\t{100 + i}\tx\n" for i in range(3)),
    "b.lst": "".join(f"{i}\t{100 + i}\tx\n" for i in range(3, 8)),
}
RECORDS = {"a.rec": range(3), "b.rec": range(3, 5), "rec/c.rec": range(5, 8)}
# {0} is the folder.
PATHS = ["a.{1}", "a.{1};b.{1}", "b.{1};a.{1}", "b.{1};{1}/c.{1};a.{1}", "a.{1};a.{1}", "a.{1};"]
PATHS += ["file://{0}/a.{1}", "{0}/(a|b).{1}", "{0}/b.*{1}", "{0}/b.*{1};a.{1}", "a.{1}#{0}/copy"]
TEXT_PATHS = ["empty.csv;a.csv", "some file.csv"]


def write_files(folder: Path) -> dict[str, str]:
    """Write the files that are read; return the record files in base 64."""
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    found = {}
    for name, numbers in RECORDS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        file = recordio.MXRecordIO(str(folder / name), "w")
        for i in numbers:
            image = np.full((2, 2, 3), i, np.uint8)
            file.write(recordio.pack_img((0, float(i), i, 0), image, 9, ".png"))
        file.close()
        found[name] = base64.b64encode((folder / name).read_bytes()).decode()
    return found


def labels(kind: str, **parameters: Any) -> list[float]:
    """Return what the samples of an iterator are told apart by, in their order."""
    if kind == "csv":
        made = mx.io.CSVIter(data_shape=(1,), batch_size=1, **parameters)
        return [float(batch.data[0].asnumpy().item()) for batch in made]
    if kind == "svm":
        made = mx.io.LibSVMIter(data_shape=(1,), batch_size=1, **parameters)
    else:
        made = mx.io.ImageRecordIter(
            data_shape=(3, 2, 2), batch_size=1, verbose=False, **parameters
        )
    return [float(batch.label[0].asnumpy().item()) for batch in made]


NAMES = {"csv": "data_csv", "svm": "data_libsvm", "rec": "path_imgrec"}


def cases() -> list[tuple[str, dict[str, Any]]]:
    """Return the kind of iterator and the parameters of each case."""
    found: list[tuple[str, dict[str, Any]]] = []
    for kind, name in NAMES.items():
        found += [(kind, {name: path.replace("{1}", kind)}) for path in [*PATHS, kind]]
    found += [("csv", {"data_csv": path}) for path in TEXT_PATHS]
    for kind in ("svm", "rec"):
        path = f"a.{kind};b.{kind};{kind}/c.{kind}"
        for num_parts in (2, 3, 4, 5):
            for part in range(num_parts):
                parts = {"num_parts": num_parts, "part_index": part}
                found.append((kind, {NAMES[kind]: path, **parts}))
    for lists in ("all.lst", "a.lst;b.lst", "file://{0}/all.lst"):
        found.append(("rec", {"path_imgrec": "a.rec;b.rec", "path_imglist": lists}))
    return found


def in_folder(parameters: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return parameters with the folder's name in them."""
    return {
        name: value.replace("{0}", folder) if isinstance(value, str) else value
        for name, value in parameters.items()
    }


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        records = write_files(Path(folder))
        found = [
            {"kind": kind, "parameters": given, "labels": labels(kind, **in_folder(given, folder))}
            for kind, given in cases()
        ]
    lines = ",\n".join(json.dumps(case) for case in found)
    head = json.dumps({"texts": TEXTS, "records": records})[:-1]
    FILE.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
    # The threads of MXNet's iterators may hang at the end of the program.
    os._exit(0)


if __name__ == "__main__":
    main()
