"""Make symbol_json.json and symbol_json.npz: graphs that gluonish writes, run by MXNet 1.9.1.

Two steps, from the repository's root; the first with gluonish, the second with the black box
(shared/ORACLE.md):

    PYTHONPATH=.:engine python tests/golden/make_symbol_json.py write
    OMP_NUM_THREADS=1 oracle/bin/python tests/golden/make_symbol_json.py run

The first writes the JSON of the programs in symbol_programs.py, by name, and an array for each of
their variables. The second loads that JSON into MXNet, runs it forward and backward with heads of
1, and stores outputs and gradients; it fails if MXNet would have written another text for the same
program. Arrays are called ``program.in.variable``, ``program.out.0``, ``program.grad.variable``.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
# MXNet cannot differentiate a loop in a loop, nor one whose stacked outputs nobody reads.
FORWARD_ONLY = ("nested", "until")
TEXTS, ARRAYS = FOLDER / "symbol_json.json", FOLDER / "symbol_json.npz"


def programs() -> Any:
    """Return the programs, wherever the script was started."""
    sys.path.insert(0, str(FOLDER))
    import symbol_programs

    return symbol_programs.PROGRAMS


def write() -> None:
    """Store texts and inputs."""
    import gluonish as mx

    rng = np.random.default_rng(7)
    texts, arrays = {}, {}
    for name, program in programs().items():
        with mx.name.NameManager():
            symbol, given = program(mx)
        texts[name] = symbol.tojson()
        shapes, _, auxiliary = symbol.infer_shape(**given)
        names = [*symbol.list_arguments(), *symbol.list_auxiliary_states()]
        for variable, shape in zip(names, [*shapes, *auxiliary], strict=True):
            values = (rng.standard_normal(shape) * 8).round() / 8
            if variable.endswith("moving_var"):
                values = np.abs(values) + 1
            if variable in ("words", "label"):
                values = rng.integers(0, 3, shape)
            if name == "until":
                values = np.full(shape, {"limit": 9, "i": 1, "s": 0.5}[variable])
            arrays[f"{name}.in.{variable}"] = np.asarray(values, np.float32)
    TEXTS.write_text(json.dumps(texts, indent=0) + "\n")
    np.savez_compressed(ARRAYS, **arrays)


def run() -> None:
    """Add what MXNet computes."""
    np.bool = bool  # type: ignore[assignment]  # MXNet 1.9.1 asks NumPy for it
    import mxnet as mx

    texts = json.loads(TEXTS.read_text())
    with np.load(ARRAYS) as stored:
        arrays = {key: stored[key] for key in stored if ".in." in key}
    for name, program in programs().items():
        with mx.name.NameManager():
            own, _ = program(mx)
        if own.tojson() != texts[name]:
            sys.exit(f"{name}: MXNet writes\n{own.tojson()}\nwhere gluonish writes\n{texts[name]}")
        symbol = mx.sym.load_json(texts[name])
        prefix = f"{name}.in."
        given = {
            key.removeprefix(prefix): mx.nd.array(values)
            for key, values in arrays.items()
            if key.startswith(prefix)
        }
        arguments = {key: given[key] for key in symbol.list_arguments()}
        grads = {
            key: mx.nd.zeros(value.shape)
            for key, value in arguments.items()
            if key != "words" and name not in FORWARD_ONLY
        }
        auxiliary = {key: given[key] for key in symbol.list_auxiliary_states()}
        executor = symbol.bind(mx.cpu(), arguments, grads, aux_states=auxiliary)
        outputs = executor.forward(is_train=bool(grads))
        if grads:
            executor.backward([mx.nd.ones(y.shape) for y in outputs])
        arrays.update({f"{name}.out.{i}": y.asnumpy() for i, y in enumerate(outputs)})
        arrays.update({f"{name}.grad.{key}": g.asnumpy() for key, g in grads.items()})
    np.savez_compressed(ARRAYS, **arrays)


if __name__ == "__main__":
    {"write": write, "run": run}[sys.argv[1]]()
