"""Write sparse_ops.npz: what MXNet 1.9.1 gives for the calls of sparse_cases.py.

Usage: python tests/golden/make_sparse.py    (in an environment with mxnet 1.9.1 and numpy 1.23.5)
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

import mxnet as mx  # noqa: E402
import numpy as np  # noqa: E402

from tests.golden.sparse_cases import CASES, WRONG  # noqa: E402


def describe(result: Any, values: dict[str, Any], name: str) -> Any:
    """Put an array into ``values``, and return its storage type and, if row-sparse, its rows."""
    values[name] = result.asnumpy()
    told = {"stype": result.stype}
    if result.stype == "row_sparse":
        told["rows"] = result.indices.asnumpy().tolist()
    return told


def main() -> None:
    """Run every case."""
    values: dict[str, Any] = {}
    table: dict[str, Any] = {}
    for number, (name, run) in enumerate(CASES.items()):
        if name in WRONG:
            continue
        try:
            found = run(mx)
            listed = found if isinstance(found, list) else [found]
            table[name] = [describe(x, values, f"{number}_{i}") for i, x in enumerate(listed)]
            table[name][0]["at"] = number
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[-200:]}")  # noqa: T201
    values["table"] = np.array(json.dumps(table))
    np.savez_compressed(HERE / "sparse_ops.npz", **values)


if __name__ == "__main__":
    main()
