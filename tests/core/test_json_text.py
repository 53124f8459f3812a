"""JSON from files, and where it is wrong."""

import pytest

from gluonish.core.errors import FileFormatError
from gluonish.core.json_text import parse_json


def refusal(content: str | bytes) -> str:
    with pytest.raises(FileFormatError) as caught:
        parse_json(content, "a.json", "the JSON of a graph")
    return str(caught.value)


@pytest.mark.parametrize(
    "content", ['{"a": [1, "x\ty"]}', b'{"a": [1, "x\ty"]}', '\n {"a": [1, "x\ty"]} end']
)
def test_the_first_value_is_read(content: str | bytes) -> None:
    assert parse_json(content, "a.json", "a value") == {"a": [1, "x\ty"]}


def test_a_mistake_is_told_with_its_place() -> None:
    assert refusal('{"a": }').startswith("a.json: expected the JSON of a graph, got ")
    assert refusal('{"a": }').endswith("(char 6)")
    assert refusal(b'{"a": "\xff"}').endswith("at byte 7")
    assert refusal("").endswith("(char 0)")


def test_lists_in_lists_are_told_with_the_place_where_they_are_deep() -> None:
    # A bracket in a string, behind an escaped quote, counts for nothing.
    head = '["\\"[[[", '
    assert refusal(head + "[" * 100_000).endswith(f"at char {len(head) + 198}")
    assert refusal('["' + '\\"[' * 10 + '",' + '{"a":' * 100_000).endswith(
        f"at char {2 + 30 + 2 + 198 * 5}"
    )


def test_a_number_of_too_many_digits_is_told_with_its_place() -> None:
    assert refusal("[1, " + "9" * 5000 + "]").endswith("too many digits at char 4")
