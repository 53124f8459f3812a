"""Writes np2.json.gz: what MXNet 2.0.0b1 answers to the calls of np2_calls.py.

Run it with MXNet's interpreter (Python 3.8), from the repository's root:
``python tests/golden/make_np2.py``. For each call the file has the kind of the answer (``array``,
``list``, ``tuple``, ``number``, or ``error`` with a text) and its parts, each with dtype, shape and
values in order. Keys that begin with ``64:`` are calls with NumPy's default dtypes. A call that
ends the process has the kind ``crash``; calls run in a process of their own for that reason.
"""

import gzip
import json
import pathlib
import subprocess
import sys
from typing import Any, Dict, List  # noqa: UP035

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from np2_calls import CALLS, DEFAULTS, more_inputs
from np_face_calls import inputs

_TARGET = pathlib.Path(__file__).with_name("np2.json.gz")


def part_of(value):
    """Return dtype, shape and values of an array or a number."""
    import mxnet
    import numpy

    if isinstance(value, mxnet.nd.NDArray):
        value = value.asnumpy()
    name = type(value).__name__ if not hasattr(value, "dtype") else numpy.dtype(value.dtype).name
    values = numpy.asarray(value)
    if values.dtype == object:
        return ["object", [], [str(value)]]
    if isinstance(value, (str, numpy.dtype, type)):
        return ["str", [], [str(value)]]
    return [name, list(values.shape), values.reshape(-1).tolist()]


def changers(np):
    """Return functions that change an array and return it, by name."""

    def put_diagonal(array, value):
        np.fill_diagonal(array, value)
        return array

    def put(array, key, value):
        array[key] = value
        return array

    def inplace(array, operator, value):
        exec(f"array {operator} value")
        return array

    return {"put_diagonal": put_diagonal, "put": put, "inplace": inplace}


def answer_of(call, defaults):
    """Return kind and parts of the answer to a call."""
    import numpy
    from mxnet import np, npx

    npx.set_np(dtype=defaults)
    everything = {**inputs(), **more_inputs()}
    given = {name: np.array(value, dtype=value.dtype) for name, value in everything.items()}
    names = {"np": np, "npx": npx, "numpy": numpy, **changers(np), **given}
    try:
        answer = eval(call, names)
        several = isinstance(answer, (list, tuple))
        parts = [part_of(x) for x in (answer if several else [answer])]
    except Exception as error:  # any refusal is an answer
        last = str(error).strip().split("\n")[-1][:80]
        return ["error", f"{type(error).__name__}: {last}"]
    kind = type(answer).__name__ if several else "array" if hasattr(answer, "shape") else "number"
    return [kind, *parts]


def run(keys, start):
    """Print the answers from a position on, one a line."""
    for key in keys[start:]:
        answer = answer_of(key.replace("64:", "", 1), key.startswith("64:"))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def main():
    keys = [call for calls in CALLS.values() for call in calls]
    keys = list(dict.fromkeys(keys + ["64:" + call for call in DEFAULTS]))
    if len(sys.argv) > 1:
        run(keys, int(sys.argv[1]))
        return
    answers: Dict[str, List[Any]] = {}  # noqa: UP006
    while len(answers) < len(keys):
        child = subprocess.run(
            [sys.executable, __file__, str(len(answers))],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        for line in child.stdout.split("\n"):
            if line.startswith("["):
                answers[keys[len(answers)]] = json.loads(line)
        if len(answers) < len(keys):
            answers[keys[len(answers)]] = ["crash"]
    text = json.dumps(answers, separators=(",", ":"))
    _TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
