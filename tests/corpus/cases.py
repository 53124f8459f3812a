"""Runs the cases of one program of the corpus in this process, whatever package ``mxnet`` is here.

    python cases.py PROGRAM.py RESULTS.jsonl [CASE ...]

A program is a file whose functions named ``case_*`` each use a published package as its own
documents do. A case passes if it returns; what it returns (numbers, arrays, lists and dictionaries
of these, or None) is written down, so that a run on MXNet and one on gluonish can be compared. A
case that raises is written down with its error. Results are written line by line, so that a run
which dies keeps what it had. Standard library and NumPy only: it runs under both interpreters.
"""

import importlib.util
import json
import random
import sys
import time
import traceback
import zlib
from pathlib import Path

import numpy as np


def fill(parameters, scale=0.1):
    """Give parameters values that depend on their place and shape alone.

    Both packages draw their own random numbers; with these values their outputs can be compared.
    """
    values = parameters.values() if hasattr(parameters, "values") else parameters
    for place, parameter in enumerate(values):
        if parameter.shape is None or any(extent <= 0 for extent in parameter.shape):
            raise ValueError(f"{parameter.name} has no shape yet: run the network once before")
        # A new array: MXNet can not write into one that oneDNN has laid out anew.
        parameter.initialize("zeros", force_reinit=True)
        parameter.set_data(seeded(parameter.name, place, parameter.shape, scale))


def seeded(name, place, shape, scale=0.1):
    """Values for the array ``name``: variances positive, scales below 1, weights by fan-in."""
    draws = np.random.RandomState(zlib.crc32(f"{place} {tuple(shape)}".encode()))
    if name.endswith(("var", "gamma")):
        return draws.uniform(0.5, 1.0, shape).astype("float32")
    if len(shape) > 1:
        fan_in = int(np.prod(shape[1:]))
        return (draws.standard_normal(shape) * (1.2 / fan_in) ** 0.5).astype("float32")
    return (draws.standard_normal(shape) * scale).astype("float32")


def arrays(shape, seed=0, dtype="float32"):
    """A NumPy array of standard normal numbers."""
    return np.random.RandomState(seed).standard_normal(shape).astype(dtype)


def plain(value):
    """``value`` as JSON can hold it: of an array its shape, and sums that tell it from others."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)):
        return float(value)
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value).astype("float64")
    weights = np.cos(np.arange(array.size)).reshape(array.shape)
    size = float(np.abs(array).max()) if array.size else 0.0
    return {
        "shape": list(array.shape),
        "largest": size,
        "sum": float((array * weights).sum()),
        "norm": float(np.sqrt((array**2).sum())),
    }


def seed(number):
    """Set the seeds of Python, NumPy and the framework."""
    import mxnet

    random.seed(number)
    np.random.seed(number)
    mxnet.random.seed(number)


def run(program, results, chosen):
    """Run the cases of the module ``program``, one after the other, and write a line for each."""
    for name in [name for name in vars(program) if name.startswith("case_")]:
        if chosen and name not in chosen:
            continue
        begin = time.time()
        try:
            seed(0)
            row = {"case": name, "passed": True, "value": plain(getattr(program, name)())}
        except Exception as error:
            text = traceback.format_exc().splitlines()
            row = {
                "case": name,
                "passed": False,
                "error": f"{type(error).__name__}: {error}"[:600],
                "traceback": text[-14:],
            }
        row["seconds"] = time.time() - begin
        results.write(json.dumps(row) + "\n")
        results.flush()


def load(path):
    """The program at ``path`` as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def main(arguments):
    path, results_path = Path(arguments[0]), Path(arguments[1])
    sys.modules.setdefault("corpus_cases", sys.modules[__name__])
    with results_path.open("w") as results:
        try:
            program = load(path)
        except Exception as error:
            text = traceback.format_exc().splitlines()
            row = {
                "case": "import",
                "passed": False,
                "error": f"{type(error).__name__}: {error}"[:600],
                "traceback": text[-14:],
            }
            results.write(json.dumps(row) + "\n")
            return
        names = [name for name in vars(program) if name.startswith("case_")]
        results.write(json.dumps({"case": "import", "passed": True, "value": names}) + "\n")
        run(program, results, set(arguments[2:]))


if __name__ == "__main__":
    main(sys.argv[1:])
