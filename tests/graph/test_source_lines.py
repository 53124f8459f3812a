from pathlib import Path

from gluonish.core.errors import GraphError
from gluonish.core.program_lines import Line, with_line
from gluonish.graph.source_lines import SourceLines, innermost, note

HERE = Path(__file__).name


def _made_here(name: str) -> None:
    note(name)


def _made_there(name: str) -> None:
    note(name)


def test_the_innermost_line_of_the_user_is_kept() -> None:
    with SourceLines() as lines:
        _made_here("one")
    text = lines.completed("one: no")
    assert text.startswith(f"one: no; at {HERE}:")
    assert text.endswith("in _made_here: note(name)")


def test_lines_around_the_scope_are_not_looked_at() -> None:
    with SourceLines() as lines:
        note("here")
    assert lines.completed("here: no") == "here: no"


def test_nothing_is_recorded_outside_of_a_scope() -> None:
    lines = SourceLines()
    with lines:
        pass
    _made_here("late")
    assert lines.completed("late: no") == "late: no"


def test_scopes_nest() -> None:
    with SourceLines() as outer:
        with SourceLines() as inner:
            _made_here("in")
        _made_here("out")
    assert [outer.completed(name) == name for name in ("in", "out")] == [True, False]
    assert [inner.completed(name) == name for name in ("in", "out")] == [False, True]


def test_the_innermost_of_several_nodes_counts() -> None:
    with SourceLines() as lines:
        _made_here("outer")
        _made_there("inner")
    assert " in _made_there: " in lines.completed("outer: loop failed: inner: expected this")
    assert " in _made_here: " in lines.completed("outer: loop failed: other: expected this")


def test_a_message_that_begins_with_a_node_is_completed_once() -> None:
    with SourceLines() as lines:
        _made_here("node")
    error = GraphError("node: expected this, got that")
    lines.complete(error)
    lines.complete(error)
    assert str(error).count(f"; at {HERE}:") == 1


def test_a_message_about_something_else_stays() -> None:
    error = GraphError("other: expected this, got that")
    SourceLines().complete(error)
    assert str(error) == "other: expected this, got that"
    assert with_line("text", None) == "text"


def test_the_innermost_line_of_a_traceback() -> None:
    try:
        _raise()
    except ValueError as error:
        line = innermost(error.__traceback__)
    assert line is not None
    assert str(line).endswith('in _raise: raise ValueError("no")')


def _raise() -> None:
    raise ValueError("no")


def test_a_line_without_a_source_has_a_number() -> None:
    assert str(Line("<stdin>", 3, "forward")) == "<stdin>:3 in forward"
    assert innermost(None) is None
