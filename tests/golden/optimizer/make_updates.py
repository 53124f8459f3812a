"""Make updates.npz beside it with MXNet 1.9.1: ``oracle/bin/python make_updates.py``.

``update_cases.json`` names operators with the roles of their arrays. Under the number of each case
stand the outputs, and after them all inputs as the call left them, one after the other in float32.
The tests make the same inputs with ``values``.
"""

import json
from pathlib import Path

import mxnet as mx
import numpy as np

HERE = Path(__file__).parent


def values(role, rng):
    """The array of a role; states stay above what a centered mean of squares needs."""
    low, high = {"w": (-1, 1), "g": (-3, 3), "s": (1, 2), "t": (-0.5, 0.5), "r": (0.05, 0.2)}.get(
        role.lower(), (0.5, 0.5)
    )
    size = {"r": 2, "c": 1}.get(role, 5)
    return rng.uniform(low, high, size).astype("float16" if role.isupper() else "float32")


def call(name, arrays, attrs, outputs):
    function = getattr(mx.nd, name, None) or getattr(mx.nd._internal, name)
    attrs = {key: tuple(v) if isinstance(v, list) else v for key, v in attrs.items()}
    result = function(*arrays, out=outputs, **attrs)
    return result if isinstance(result, list) else [result]


def main():
    cases = json.loads((HERE / "update_cases.json").read_text())["operators"]
    rng = np.random.default_rng(0)
    found = {}
    for n, (name, roles, attrs) in enumerate(cases):
        given = [values(role, rng) for role in roles]
        arrays = [mx.nd.array(x, dtype=x.dtype) for x in given]
        count = attrs.get("num_weights", attrs.get("num_tensors", 1))
        size = len(roles.rstrip("rc")) // count
        outputs = [
            mx.nd.zeros(5, dtype="float32" if "phase1" in name else given[i * size].dtype)
            for i in range(count)
        ]
        new = call(name, arrays, attrs, outputs if count > 1 else outputs[0])
        found[str(n)] = np.concatenate([x.asnumpy().astype("float32") for x in (*new, *arrays)])
    np.savez_compressed(HERE / "updates.npz", **found)


if __name__ == "__main__":
    main()
