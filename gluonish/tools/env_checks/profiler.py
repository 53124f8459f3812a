"""Checks of the variables that start the profiler with the program."""

import json
import tempfile
from functools import cache
from pathlib import Path

from gluonish.core.config import MXNET_PROFILER_AUTOSTART, MXNET_PROFILER_MODE
from gluonish.tools.env_checks.process import expect, observes, run_program

# An operator on arrays, then a graph with another operator.
_PROGRAM = """\
import os, sys
os.chdir({folder!r})
from gluonish import cpu, ndarray, symbol
x = ndarray.ones((3,))
ndarray.relu(x).asnumpy()
(symbol.Variable("x") * 2).bind(cpu(), {{"x": x}}).forward()[0].asnumpy()
"""


@cache
def _traced(**variables: str) -> frozenset[str] | None:
    """Return the operators in a program's trace, or None without a trace."""
    with tempfile.TemporaryDirectory() as folder:
        run_program(_PROGRAM.format(folder=folder), **variables)
        path = Path(folder, "profile.json")
        if not path.exists():
            return None
        events = json.loads(path.read_text())["traceEvents"]
    return frozenset(event["name"] for event in events if event.get("cat") == "operator")


@observes(MXNET_PROFILER_AUTOSTART)
def _autostart() -> str:
    """Run a program that does not use the profiler, and look for a trace."""
    found = [_traced(MXNET_PROFILER_AUTOSTART=on, MXNET_PROFILER_MODE="0") for on in ("0", "1")]
    seen = found[0] is None and bool(found[1])
    expect(MXNET_PROFILER_AUTOSTART, seen, "a trace with operators only with 1", found)
    return "a program wrote profile.json with 1, and no file with 0"


@observes(MXNET_PROFILER_MODE)
def _mode() -> str:
    """Run a program with an operator on arrays and a graph, and look for both in its trace."""
    only, both = (
        _traced(MXNET_PROFILER_AUTOSTART="1", MXNET_PROFILER_MODE=mode) for mode in ("0", "1")
    )
    seen = (
        only == frozenset({"_mul_scalar"}) and both is not None and {"_mul_scalar", "relu"} <= both
    )
    expect(MXNET_PROFILER_MODE, seen, "relu with 1 only, the graph always", (only, both))
    return "mode 0 recorded the graph's operator only, mode 1 also the one on arrays"
