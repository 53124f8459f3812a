"""Write operators.json, the recorded API of registered operators, and the names of all.

Usage: python tests/golden/make_operators.py path/to/mxnet-1.9.1.json
"""

import json
import sys
from pathlib import Path

from gluonish.ops.registry import all_operators

KEPT = (
    "aliases",
    "exposed",
    "inputs",
    "key_var_num_args",
    "outputs",
    "outputs_with_hidden",
    "params",
)


def main(source: str) -> None:
    """Copy the entries of registered operators out of the recorded API."""
    recorded = json.loads(Path(source).read_text(encoding="utf-8"))["operators"]
    names = sorted(op.name for op in all_operators() if op.name in recorded)
    kept = {
        name: {key: recorded[name][key] for key in KEPT if key in recorded[name]} for name in names
    }
    text = json.dumps(kept, indent=1) + "\n"
    Path(__file__).with_name("operators.json").write_text(text, encoding="utf-8")
    called = sorted(
        name
        for name, entry in recorded.items()
        if not entry.get("gradient_helper") or entry.get("exposed")
    )
    text = json.dumps(called, indent=0) + "\n"
    Path(__file__).with_name("operator_names.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
