"""Checks of the variables that start the profiler, and that tell more of errors."""

import json
import tempfile
from functools import cache
from pathlib import Path

from gluonish.core.config import (
    GLUONISH_FULL_TRACEBACKS,
    MXNET_CHECK_VALUES,
    MXNET_PROFILER_AUTOSTART,
    MXNET_PROFILER_MODE,
)
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


# A value that is not a number.
_NAN = """\
import warnings
warnings.simplefilter("ignore")
import gluonish as mx
try:
    mx.nd.log(mx.nd.array([-1.0])).asnumpy()
    print("no error")
except mx.MXNetError as error:
    print(str(error).splitlines()[0])
"""
_DEEP = """\
import gluonish as mx
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Dense(3, in_units=2))
net.initialize()
import traceback
try:
    net(mx.nd.ones((1, 5)))
except mx.MXNetError as error:
    print(len(traceback.extract_tb(error.__traceback__)))
"""


@observes(MXNET_CHECK_VALUES)
def _check_values() -> str:
    """Compute a logarithm that is NaN."""
    found = [run_program(_NAN, MXNET_CHECK_VALUES=on).strip() for on in ("0", "1")]
    seen = found[0] == "no error" and "log" in found[1] and "NaN" in found[1]
    expect(MXNET_CHECK_VALUES, seen, "an error that names log and NaN only with 1", found)
    return f"a logarithm that is NaN raised with 1: {found[1]:.60}"


@observes(GLUONISH_FULL_TRACEBACKS)
def _full_tracebacks() -> str:
    """Count the frames of an error that a layer raises."""
    short, full = (
        int(run_program(_DEEP, GLUONISH_FULL_TRACEBACKS=on).strip()) for on in ("0", "1")
    )
    expect(GLUONISH_FULL_TRACEBACKS, short < full, "fewer frames with 0", (short, full))
    return f"an error of a layer had {full} frames with 1, and {short} with 0"
