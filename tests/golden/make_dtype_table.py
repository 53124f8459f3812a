"""Write dtype_table.json: of which dtypes MXNet 1.9.1's operators give what.

Usage, in MXNet's environment, from the root of the repository:

    python tests/golden/make_dtype_table.py

The calls are the first valid golden case of each operator, with its float32 arrays in other dtypes.
The file holds, by operator and dtype, the dtypes of the outputs; what MXNet refuses, or ends the
process over, is left out. MXNet's CPU build computes nothing in bfloat16 but casts and what oneDNN
does, so bfloat16 is no row here; the test asks that it does as float16 does.
"""

import dataclasses
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.golden.case import first_cases  # noqa: E402
from tests.golden.make_cases import Oracle, say  # noqa: E402

DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")


def typed(case, dtype):
    """Return a case with its float32 arrays in another dtype; only the outputs' specs are asked."""
    inputs = [
        dataclasses.replace(recipe, dtype=dtype) if x.dtype == "float32" else recipe
        for recipe, x in zip(case.inputs, case.arrays(), strict=True)
    ]
    return dataclasses.replace(case, inputs=inputs, grad=False, random=True)


def calls():
    """Return (operator, dtype, case) for each call."""
    first = first_cases(HERE / "cases")
    return [(op, dtype, typed(case, dtype)) for op, case in first.items() for dtype in DTYPES]


def main():
    """Write the file."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found: dict[str, dict[str, list[str]]] = {}
    asked = calls()
    cases = [case for _, _, case in asked]
    oracles = {as_np: Oracle(cases) for as_np in (False, True)}
    for position, (op, dtype, _) in enumerate(asked):
        results = oracles[op.startswith("_np")].run(position)
        if "error" in results:
            say(f"  {op} {dtype}: {str(results['error'])[:100]}")
            continue
        specs = [str(results[f"out{i}.spec"]) for i in range(len(results))]
        found.setdefault(op, {})[dtype] = [spec.split("(")[0] for spec in specs]
    rows = [f"{json.dumps(op)}: {json.dumps(found[op])}" for op in sorted(found)]
    (HERE / "dtype_table.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
