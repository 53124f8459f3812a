"""What the engine calls a step has no place at which CPython may do something else.

See docs/engine.md. A step is marked by a comment: at an ``if`` or loop it is the
condition and the body, or each turn; above statements (``# A step``) it is these, up to the first
call. "Up to the call" (or "a call at its end") lets the last statement of its way be a call.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gluonish_engine

MODULES = sorted(Path(gluonish_engine.__file__).parent.glob("*.py"))
_CALLS = (ast.Call, ast.With, ast.Await, ast.Yield, ast.YieldFrom, ast.JoinedStr)
_MAKES = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_LOOPS = (ast.For, ast.While)


def is_plain(node: ast.AST, calls: bool = False) -> bool:
    """Whether nothing in a statement or expression is called, made or repeated."""
    barred = (ast.With, *_LOOPS) if calls else (*_CALLS, *_MAKES, *_LOOPS, ast.GeneratorExp)
    # A tuple that is unpacked into, or compared as a constant, is not made.
    return not any(
        isinstance(one, barred) and not isinstance(getattr(one, "ctx", None), ast.Store)
        for one in ast.walk(node)
    )


def faults(body: list[ast.stmt], ends: bool, calls: bool) -> Iterator[int]:
    """Yield the lines of a step's statements that are more than a step.

    Args:
        body: The statements.
        ends: Whether the step ends with the last of them, so that it may make something.
        calls: Whether it may call something there.
    """
    for statement in body:
        last = ends and statement is body[-1]
        if isinstance(statement, ast.If):
            if not is_plain(statement.test):
                yield statement.lineno
            yield from faults(statement.body, last, calls)
            yield from faults(statement.orelse, last, calls)
        elif isinstance(statement, ast.Try):
            # What is done where there is no memory is another matter.
            yield from faults(statement.body, last, calls)
        elif isinstance(statement, ast.Raise):
            continue  # the way ends here
        elif not is_plain(statement) and not (last and (calls or is_made(statement))):
            yield statement.lineno


def is_made(statement: ast.stmt) -> bool:
    """Whether a statement makes something, and calls nothing."""
    return not any(isinstance(one, _CALLS) for one in ast.walk(statement))


def steps_of(source: str) -> Iterator[tuple[int, list[int]]]:
    """Yield the line of each step of a module, with the lines that are at fault."""
    lines = source.splitlines()
    marked = {n for n, line in enumerate(lines, 1) if re.search(r"# .*\bis a step|# a step", line)}
    above = {n for n, line in enumerate(lines, 1) if re.search(r"^\s*# A step", line)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If | ast.For | ast.While) and node.lineno in marked:
            calls = "call" in lines[node.lineno - 1]
            found = list(faults(node.body, True, calls))
            if isinstance(node, ast.If) and not is_plain(node.test):
                found.append(node.lineno)
            yield node.lineno, found
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list):
                continue
            for place, statement in enumerate(body):
                if statement.lineno - 1 in above:
                    plain = [one for one in body[place : place + 2] if is_plain(one)]
                    yield statement.lineno, [] if plain else [statement.lineno]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_steps_are_steps(module: Path) -> None:
    for line, found in steps_of(module.read_text(encoding="utf-8")):
        assert not found, f"{module.name}: the step of line {line} is none, see {found}"


def test_there_are_steps_to_look_at() -> None:
    sources = [module.read_text(encoding="utf-8") for module in MODULES]
    assert sum(len(list(steps_of(source))) for source in sources) > 30


def test_a_step_that_calls_is_found() -> None:
    bad = "if self.x is None:  # a step\n    self.x = y\n    self.note()\n    self.z = 1\n"
    assert list(steps_of(bad)) == [(1, [3])]
    good = "for var in rest:  # each turn is a step\n    var.active += 1\n    fresh = [var]\n"
    assert list(steps_of(good)) == [(1, [])]
    early = "for var in rest:  # each turn is a step\n    fresh = [var]\n    var.active += 1\n"
    assert list(steps_of(early)) == [(1, [2])]
