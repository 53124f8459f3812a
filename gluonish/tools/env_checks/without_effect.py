"""Checks of variables without effect: the log reports each variable that is set once."""

import functools

from gluonish.core.config import Flag, flags_without_effect
from gluonish.tools.env_checks.process import expect, observes, run_program

# The engine is created, replaced and used again, and the table is printed.
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
    """Return the output lines of a program with all or none of these variables set."""
    texts = {
        flag.name: flag.default_as_text if every_one_set else "" for flag in flags_without_effect()
    }
    return tuple(run_program(_PROGRAM, **texts).splitlines())


def _observe(flag: Flag[object]) -> str:
    message = f"gluonish: {flag.name} is set. {flag.doc}"
    lines = _log_with(every_one_set=True)
    expect(flag, lines.count(message) == 1, "one log record about it", lines)
    expect(
        flag, lines.index(message) > lines.index("imported"), "the record after the import", lines
    )
    without = [line for line in _log_with(every_one_set=False) if flag.name in line]
    expect(flag, not without, "no log record if it is unset", without)
    return "the log reported once that it has no effect, and nothing if unset"


def _register(flag: Flag[object]) -> None:
    observes(flag)(lambda: _observe(flag))


for _flag in flags_without_effect():
    _register(_flag)
