"""Tables and lines that fit a terminal."""

import io
import re

import pytest

from gluonish.tools.table import cut, table, terminal_width, wrapped

ROWS = [
    ("Name", "Number", "Text"),
    ("a_name_without_spaces", "12.5", "some words that go on for longer than a line has room"),
    ("b", "123456.789", "short"),
]


def test_a_pipe_gets_whole_lines_with_numbers_to_the_right() -> None:
    assert table(ROWS).splitlines() == [
        "Name                       Number  Text",
        f"a_name_without_spaces        12.5  {ROWS[1][2]}",
        "b                      123456.789  short",
    ]


@pytest.mark.parametrize("width", range(26, 100))
def test_lines_fit_and_words_and_numbers_stay_whole(width: int) -> None:
    text = table(ROWS, width)
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    for number in ("12.5", "123456.789"):
        assert number in words
    assert set(ROWS[1][2].split()) <= set(words)


def test_a_long_word_loses_its_middle() -> None:
    assert cut("stage1_unit1_convolution", 12) == "stage...tion"
    assert cut("short", 5) == "short"
    rows = [("Name", "N"), ("x" * 40 + "_end", "1")]
    assert re.search(r"x\.\.\.\w*_end +1$", table(rows, 20))


def test_columns_of_numbers_that_do_not_fit_follow_below() -> None:
    rows = [("size", *"abcdef"), ("1", *(f"{x}.5" for x in range(6)))]
    lines = table(rows, 20, right=range(7)).splitlines()
    assert lines[0].split()[0] == lines[3].split()[0] == "size"
    assert " ".join(lines).split().count("5.5") == 1
    assert max(map(len, lines)) <= 20


def test_further_lines_of_a_paragraph_are_indented() -> None:
    assert wrapped("one two three four", 14, "  ") == "one two three\n  four"
    assert wrapped("  one two three four", 17, "    ") == "  one two three\n    four"
    assert wrapped("one two three four", None) == "one two three four"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "77")
    assert terminal_width(Terminal()) == 77
    assert terminal_width(io.StringIO()) is None
