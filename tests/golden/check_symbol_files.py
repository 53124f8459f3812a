"""Have MXNet 1.9.1 read and run the Symbol files that gluonish writes, one for every operator.

Usage, from the root of the repository:

    python tests/golden/check_symbol_files.py write FOLDER     in gluonish's environment
    python tests/golden/check_symbol_files.py run FOLDER       in MXNet's

The first writes a file for each valid case of ``cases/`` with inputs, and what gluonish computes;
the second loads each file in MXNet, runs it, and prints where the results differ. Makes no golden
data.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.golden.case import load_cases  # noqa: E402


def say(line):
    """Tell the one who waits."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def valid_cases():
    """Return the cases that have inputs and a result in MXNet, by key."""
    found = {}
    for path in sorted((HERE / "cases").glob("*.py")):
        for case in load_cases(path):
            if case.inputs and not (case.invalid or case.wrong or case.random):
                found[case.key] = case
    return found


def write(folder):
    """Write a Symbol file and outputs for each case."""
    import gluonish as mx
    from gluonish.core.spec import Spec
    from gluonish.graph.ir import variable
    from gluonish.ops.registry import apply, find_operator
    from gluonish.symbol.numpy_symbol import NumpySymbol
    from gluonish.symbol.symbol import Symbol

    folder.mkdir(parents=True, exist_ok=True)
    for key, case in valid_cases().items():
        op = find_operator(case.op)
        if op.measure is not None:
            continue
        arrays = case.arrays()
        given = dict(case.attrs)
        if op.variadic is not None:
            given.setdefault(op.variadic, len(arrays) // op.per_arg)
        attrs = op.schema.parse(op.name, given)
        values = [variable(f"x{i}", Spec(x.shape, x.dtype)) for i, x in enumerate(arrays)]
        made = apply(op, values, attrs)
        made = made if isinstance(made, list) else [made]
        kind = NumpySymbol if case.op.startswith("_np") else Symbol
        with mx.util.np_shape(case.op.startswith("_np")):
            text = kind(made).tojson(remove_amp_cast=False)
        (folder / f"{key}.json").write_text(text, encoding="utf-8")


def run(folder):
    """Run each file in MXNet, in a process of its own, and compare with the golden results."""
    import mxnet  # noqa: F401  # once, before the processes part

    cases = valid_cases()
    stored = {}
    for path in sorted((HERE / "cases").glob("*.npz")):
        with np.load(path) as file:
            stored.update({name: file[name] for name in file.files})
    bad = done = 0
    for path in sorted(folder.glob("*.json")):
        case = cases.get(path.stem)
        if case is None or f"{case.key}|out0" not in stored:
            continue
        done += 1
        child = os.fork()
        if not child:
            os._exit(_differs(path, case, stored))
        _, status = os.waitpid(child, 0)
        if status:
            bad += 1
            say(f"{path.stem}: {case!r}: status {status}")
    say(json.dumps({"files": done, "differ": bad}))


def _differs(path, case, stored):
    """Return 0 where MXNet loads the file and computes the golden results from it."""
    import mxnet as mx

    as_np = case.op.startswith("_np")
    if as_np:
        mx.npx.set_np()
    try:
        symbol = mx.sym.load_json(path.read_text(encoding="utf-8"))
        make = mx.np.array if as_np else mx.nd.array
        arrays = {f"x{i}": make(x, dtype=x.dtype) for i, x in enumerate(case.arrays())}
        symbol = symbol.as_np_ndarray() if as_np else symbol
        states = {name: arrays.pop(name) for name in symbol.list_auxiliary_states()}
        executor = symbol.bind(mx.cpu(), arrays, aux_states=states)
        outputs = [y.asnumpy() for y in executor.forward(is_train=case.train)]
    except Exception as error:
        say(f"  {str(error).splitlines()[0][:160]}")
        return 1
    for i, y in enumerate(outputs):
        want = stored.get(f"{case.key}|out{i}")
        if want is not None and not np.allclose(y, want, rtol=1e-3, atol=1e-4, equal_nan=True):
            say(f"  output {i} differs")
            return 2
    return 0


if __name__ == "__main__":
    {"write": write, "run": run}[sys.argv[1]](Path(sys.argv[2]))
