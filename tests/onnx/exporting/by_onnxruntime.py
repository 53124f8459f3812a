"""Exported networks in ONNX Runtime: run by hand, with an interpreter that has onnxruntime.

    python -m tests.onnx.exporting.by_onnxruntime --python PEER_PYTHON [--parts zoo layers cases]

The whole zoo, every layer, recurrent layer and loss are compared with what they give here, layers
also in opset 23 (``newer``), and every golden case with what MXNet gave. Exit status 1 where one
differs by more than 1e-4 (2e-3 in float16, a step in bytes), relative to the larger of 1 and the
largest value.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import gluonish as mx
from gluonish.model_zoo.registry import model_names
from tests.onnx.exporting import run_onnxruntime
from tests.onnx.exporting.subjects import LAYERS, LOSSES, RECURRENT, build, network

_LARGEST = 1e-4


def _write(
    folder: Path,
    name: str,
    block: Any,
    arrays: list[Any],
    wanted: list[Any],
    opset: int | None = None,
) -> None:
    path = folder / f"{name}.onnx"
    shapes = [x.shape for x in arrays]
    mx.onnx.export_model(block, None, shapes, np.float32, str(path), opset_version=opset)
    names = ["data"] if len(arrays) == 1 else [f"data{i}" for i in range(len(arrays))]
    outputs = {f"out{i}": y for i, y in enumerate(wanted)}
    given = dict(zip(names, arrays, strict=True))
    np.savez(path.with_suffix(".npz"), **given, **outputs, allowed=_LARGEST)


def _write_case(folder: Path, entry: Any) -> None:
    from tests.onnx.exporting.test_golden_cases import _NEWER, _symbol, _wanted

    arrays = entry.case.arrays()
    path = folder / f"{entry.case.key}.onnx"
    shapes, types = [x.shape for x in arrays], [x.dtype for x in arrays]
    opset = 19 if entry.family == "quantization" else _NEWER.get(entry.case.op)
    with mx.util.np_shape(any(x.size == 0 for x in arrays)):
        mx.onnx.export_model(
            *(_symbol(entry, arrays), {}, shapes, types or np.float32, str(path)),
            opset_version=opset,
        )
    named = {f"x{i}": x for i, x in enumerate(arrays)}
    outputs = {f"out{i}": y for i, y in enumerate(_wanted(entry)) if y is not None}
    allowed = _LARGEST
    if any(x.dtype == np.float16 for x in (*arrays, *outputs.values())):
        allowed = 2e-3  # half a unit in the last place, of what NumPy sums in float16, too
    if any(y.dtype in (np.int8, np.uint8) for y in outputs.values()):
        allowed = 1 / 127  # a step, where a value lies between two
    np.savez(path.with_suffix(".npz"), **named, **outputs, allowed=allowed)


def _write_cases(folder: Path, pattern: str) -> None:
    from tests.onnx.exporting.test_golden_cases import _MISJUDGED, EXPRESSIBLE
    from tests.ops.test_golden_cases import VALID

    for entry in (*EXPRESSIBLE, *(e for e in VALID if e.case.op in _MISJUDGED)):
        if re.search(pattern, entry.case.op):
            with suppress(NotImplementedError):  # refused with a reason, which other tests look at
                _write_case(folder, entry)


def _write_small(folder: Path, pattern: str) -> None:
    for name, (make, arrays) in {**LAYERS, **RECURRENT, **LOSSES}.items():
        if re.search(pattern, name):
            block, wanted = build(make, arrays)
            _write(folder, name, block, arrays, wanted)


def _write_newer(folder: Path, pattern: str) -> None:
    """Write layers with the operators of transformers, which are standard from opset 23 on."""
    for name, (make, arrays) in LAYERS.items():
        if re.search(pattern, name):
            block, wanted = build(make, arrays)
            _write(folder, name, block, arrays, wanted, 23)


def _write_network(folder: Path, name: str) -> None:
    _write(folder, name, *network(name, classes=10))


def _batches(parts: list[str], pattern: str) -> Iterator[tuple[Callable[[Path, str], None], str]]:
    """Yield what fills a folder; the zoo's networks are large, so each has one of its own."""
    if "layers" in parts:
        yield _write_small, pattern
    if "newer" in parts:
        yield _write_newer, pattern
    if "cases" in parts:
        yield _write_cases, pattern
    if "zoo" in parts:
        for name in model_names(None if pattern else "mxnet"):
            if re.search(pattern, name):
                yield _write_network, name


def _lines(python: str, folder: str) -> Iterator[dict[str, Any]]:
    command = [python, run_onnxruntime.__file__, folder]
    done = subprocess.run(command, capture_output=True, text=True, env={}, check=False)
    yield from map(json.loads, done.stdout.splitlines())
    if done.returncode:
        yield {"name": "the run itself", "error": done.stderr[-2000:]}


def main() -> int:
    """Export, run, report; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="interpreter that has onnxruntime")
    parser.add_argument("--parts", nargs="+", default=["zoo", "layers", "newer", "cases"])
    parser.add_argument("--only", default="", help="regular expression for the names")
    arguments = parser.parse_args()
    wrong = count = 0
    missing: list[str] = []
    batches = list(_batches(arguments.parts, arguments.only))
    for fill, what in tqdm(batches, desc="compare", disable=not sys.stderr.isatty()):
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder), what)
            for line in _lines(arguments.python, folder):
                if "NOT_IMPLEMENTED" in line.get("error", ""):  # in this element type
                    missing.append(line["name"])
                    continue
                count += 1
                if line.get("difference", np.inf) > line.get("allowed", 0.0):
                    wrong += 1
                    sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{count - wrong} of {count} agree\n")
    if missing:
        sys.stdout.write(f"no kernel for the element types of {', '.join(missing)}\n")
    return int(bool(wrong) or not count)


if __name__ == "__main__":
    sys.exit(main())
