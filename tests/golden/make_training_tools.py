"""Make training_tools.json: log lines of callbacks, tables and pictures of networks.

From the repository's root, with the black box (shared/ORACLE.md), which needs the package graphviz:

    oracle/bin/python tests/golden/make_training_tools.py
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import mxnet as mx

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import callback_calls  # noqa: E402
import visualization_networks  # noqa: E402


def printed(symbol: Any, arguments: dict[str, Any]) -> str:
    """Return what print_summary writes."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        mx.viz.print_summary(symbol, **arguments)
    return text.getvalue()


def main() -> None:
    """Write the file."""
    found: dict[str, Any] = {
        "callback": callback_calls.run(mx, mx.callback, mx.model.BatchEndParam),
        "tables": {},
        "pictures": {},
    }
    for name, (make, shape) in visualization_networks.CASES.items():
        with mx.name.NameManager():
            symbol = make(mx.sym)
        for key, arguments in visualization_networks.tables(shape).items():
            found["tables"][f"{name} {key}"] = printed(symbol, arguments).splitlines()
        for key, arguments in visualization_networks.pictures(shape).items():
            source = mx.viz.plot_network(symbol, **arguments).source
            found["pictures"][f"{name} {key}"] = source.splitlines()
    (FOLDER / "training_tools.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
