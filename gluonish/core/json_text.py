"""JSON from files: whatever is wrong with it, the error says where."""

import json
import re
from typing import Any

from gluonish.core.errors import FileFormatError

__all__ = ["parse_json"]

# A string, whole or cut off, or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_LONG_NUMBER = re.compile(r"\d{4301,}")
_DEEP = 200


def parse_json(content: str | bytes, name: str, what: str) -> Any:
    """Return the value that a file begins with; what follows it is ignored.

    Args:
        content: The file's content, in UTF-8.
        name: What error messages call it.
        what: What it should hold, for error messages: ``the JSON of a graph``.

    Raises:
        FileFormatError: It is no JSON, nested too deeply, or holds a number of thousands of digits;
            names the character, or the byte that is not in UTF-8.
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{name}: expected {what} in UTF-8, got {error.reason} at byte {error.start}"
        ) from error
    start = len(text) - len(text.lstrip())
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{name}: expected {what}, got {error}") from error
    except RecursionError as error:
        raise FileFormatError(
            f"{name}: expected {what}, got lists in lists, the {_DEEP}th at char {_deep(text)}"
        ) from error
    except ValueError as error:  # of `int`, which takes no more digits
        found = _LONG_NUMBER.search(text)
        place = found.start() if found else start
        raise FileFormatError(
            f"{name}: expected {what}, got a number of too many digits at char {place}"
        ) from error
    return value


def _deep(text: str) -> int:
    """Return where the first list or object begins that is inside many others."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth == _DEEP:
            return token.start()
    return 0
