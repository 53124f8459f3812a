"""JSON from files: whatever is wrong with it, the error says where."""

import json
import re
from collections import Counter
from typing import Any

from gluonish.core.errors import FileFormatError

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


def parse_object(content: bytes, name: str, what: str, start: int = 0) -> dict[str, Any]:
    """Return an object of JSON that fills its part of a file, and has no name twice.

    Args:
        content: The part of the file.
        name: What error messages call the file.
        what: What it should hold, for error messages: ``a JSON header``.
        start: Where in the file the part begins, in bytes.

    Raises:
        FileFormatError: It is no JSON, no object, nested too deeply, holds a number of thousands of
            digits, one name twice, or names that are no text.
    """
    try:
        found = json.loads(content.decode("utf-8"), object_pairs_hook=_distinct)
        if isinstance(found, dict):
            "".join(found).encode()  # JSON can tell halves of characters
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{name}: expected {what} at byte {start}, got {error!s:.200}"
        ) from error
    if not isinstance(found, dict):
        raise FileFormatError(f"{name}: expected {what} at byte {start}, got {found!r:.60}")
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the name {twice!r:.100} twice")
    return result
