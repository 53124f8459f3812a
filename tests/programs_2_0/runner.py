"""Runs programs of this folder under the name ``mxnet``, and states what they return in JSON.

``python -m tests.programs_2_0.runner AREA [NAME...]`` writes a line of JSON for each program, of
the interpreter's ``mxnet``, before and after it; without arguments it reads lines ``AREA NAME``.
``run`` does it in the process. ``differences`` compares two answers.
"""

import importlib
import json
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as onp

from tests.programs_2_0.errors import Caught, error

FOLDER = Path(__file__).parent
NOT_PROGRAMS = {"errors", "known_differences", "runner"}


def areas():
    """Return the names of the files of programs."""
    names = {file.stem for file in FOLDER.glob("*.py")} - NOT_PROGRAMS
    return sorted(name for name in names if not name.startswith(("test_", "_")))


def names_of(area):
    """Return the programs of a file, as written, without importing it."""
    lines = (FOLDER / f"{area}.py").read_text().splitlines()
    rows = [line for line in lines if line.startswith("def ") and line.endswith("():")]
    return [line[4 : line.index("(")] for line in rows if not line.startswith("def _")]


def _number(x):
    return x if math.isfinite(x) else repr(x)


def _digits(x):
    """Round to eight significant digits, which keeps the golden file small."""
    return _number(float(f"{x:.8g}"))


def _array(kind, value):
    flat = value.ravel()
    if value.dtype.kind in "iub":
        values = [int(x) for x in flat]
    elif value.dtype.kind == "f" or value.dtype.name == "bfloat16":
        values = [_digits(float(x)) for x in flat]
    else:
        values = [repr(x) for x in flat]
    return {"kind": kind, "dtype": str(value.dtype), "shape": list(value.shape), "values": values}


def stated(value):
    """Return ``value`` as JSON holds it: arrays with dtype and shape, scalars with their class."""
    if isinstance(value, Caught):
        return {"error": list(value)}
    if hasattr(value, "asnumpy"):
        kind = getattr(value, "stype", "default")
        face = (
            "np" if type(value).__module__.startswith(("mxnet.numpy", "gluonish.numpy")) else "nd"
        )
        return _array(face if kind == "default" else kind, value.asnumpy())
    if isinstance(value, onp.ndarray):
        return _array("numpy", value)
    if isinstance(value, onp.generic):
        return _array("scalar", onp.asarray(value))
    if isinstance(value, dict):
        return {"dict": [[stated(key), stated(one)] for key, one in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [stated(one) for one in value]}
    if isinstance(value, float):
        return {"float": _digits(value)}
    if isinstance(value, (bool, int, str, type(None))):
        return value
    return {"other": getattr(value, "__name__", type(value).__name__)}


def run(area, name):
    """Run one program in an empty folder, and return what it gives, or its error."""
    import mxnet as mx

    module = importlib.import_module(f"tests.programs_2_0.{area}")
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mx.npx.set_np()
        seed = int(os.environ.get("PROGRAMS_SEED", "7"))
        mx.random.seed(seed)
        onp.random.seed(seed)
        try:
            answer = stated(getattr(module, name)())
            mx.nd.waitall()
        except Exception as found:
            caught = error(_raise, found)
            text = f"{type(found).__name__}: {found}".strip()[:300]
            answer = {"failed": list(caught), "message": text}
        finally:
            os.chdir(before)
    return answer


def _raise(found):
    raise found


def differences(expected, got, where="result"):
    """Return where ``got`` differs from ``expected``, as lines of text."""
    if type(expected) is not type(got):
        return [f"{where}: {_short(expected)} became {_short(got)}"]
    if not isinstance(expected, dict):
        return [] if expected == got else [f"{where}: {_short(expected)} became {_short(got)}"]
    if expected.keys() != got.keys():
        return [f"{where}: {_short(expected)} became {_short(got)}"]
    if "error" in expected:
        lost = sorted(set(expected["error"]) - set(got["error"]))
        return [f"{where}: not caught as {lost}, but {got['error']}"] if lost else []
    if "values" in expected:
        return _different_arrays(expected, got, where)
    if "float" in expected:
        return _different_arrays(
            {"values": [expected["float"]], "dtype": "float64"}, {"values": [got["float"]]}, where
        )
    for key in ("list", "dict"):
        if key in expected:
            if len(expected[key]) != len(got[key]):
                return [f"{where}: length {len(expected[key])} became {len(got[key])}"]
            pairs = enumerate(zip(expected[key], got[key]))
            if key == "list":
                found = [differences(x, y, f"{where}[{i}]") for i, (x, y) in pairs]
            else:
                both = [(i, x, y, part) for i, (x, y) in pairs for part in (0, 1)]
                found = [differences(x[p], y[p], f"{where}.{i}.{p}") for i, x, y, p in both]
            return [line for lines in found for line in lines]
    return [] if expected == got else [f"{where}: {_short(expected)} became {_short(got)}"]


def _different_arrays(expected, got, where):
    for key in ("kind", "dtype", "shape"):
        if expected.get(key) != got.get(key) and key in got:
            return [f"{where}: {key} {expected[key]} became {got[key]}, {_short(got)}"]
    close = 4e-3 if "16" in expected["dtype"] else 1e-4
    floor = 2e-3 if "16" in expected["dtype"] else 1e-5
    pairs = [(x, y) for x, y in zip(expected["values"], got["values"])]
    if any(not _same(x, y, close, floor) for x, y in pairs):
        return [f"{where}: values {_short(expected['values'])} became {_short(got['values'])}"]
    return []


def _same(x, y, close, floor):
    if x == y:
        return True
    if isinstance(x, str) or isinstance(y, str):
        return False
    return abs(x - y) <= floor + close * abs(x)


def _short(value):
    text = json.dumps(value)
    return text if len(text) < 240 else text[:200] + " ... " + text[-30:]


def main():
    """Run the programs that the command line names, or those that lines of the input name."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # programs print
    area, *names = sys.argv[1:] or [None]
    asked = (
        ((area, name) for name in names or names_of(area)) if area else map(str.split, sys.stdin)
    )
    for area, name in asked:
        out.write(json.dumps({"start": name}) + "\n")
        out.flush()
        out.write(json.dumps({"name": name, "answer": run(area, name)}) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
