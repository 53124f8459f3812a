"""Checks of variables that have nothing to act on: the log says so, once, where one is set."""

import functools

from gluonish.core.config import Flag, flags_without_effect
from gluonish.tools.env_checks.process import expect, observes, run_program

# The engine is made, replaced and asked for again, and the table is printed.
_PROGRAM = """
import argparse, contextlib, io, logging, sys
logging.basicConfig(stream=sys.stdout, format="%(name)s: %(message)s")
import gluonish as mx
from gluonish.engine import use_engine
from gluonish.tools.env import run
print("imported")
for _ in range(2):
    (mx.nd.ones((2, 2)) + 1).wait_to_read()
with use_engine("NaiveEngine"):
    (mx.nd.ones((2, 2)) + 1).wait_to_read()
with contextlib.redirect_stdout(io.StringIO()):
    run(argparse.Namespace(json=False, markdown=False, check=False, variables=[]))
print("end")
"""


@functools.cache
def _log_with(*, every_one_set: bool) -> tuple[str, ...]:
    """The lines that a program prints with all of these variables set, or with none."""
    texts = {
        flag.name: flag.default_as_text if every_one_set else "" for flag in flags_without_effect()
    }
    return tuple(run_program(_PROGRAM, **texts).splitlines())


def _observe(flag: Flag[object]) -> str:
    told = f"gluonish: {flag.name} is set. {flag.doc}"
    lines = _log_with(every_one_set=True)
    expect(flag, lines.count(told) == 1, "one line of the log about it", lines)
    expect(flag, lines.index(told) > lines.index("imported"), "it after the import", lines)
    without = [line for line in _log_with(every_one_set=False) if flag.name in line]
    expect(flag, not without, "nothing of it in the log where it is not set", without)
    return "the log said once that it has no effect, and nothing where it was not set"


def _register(flag: Flag[object]) -> None:
    observes(flag)(lambda: _observe(flag))


for _flag in flags_without_effect():
    _register(_flag)
