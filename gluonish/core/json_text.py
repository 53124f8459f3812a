"""JSON from files, with errors that name the position."""

import json
import re
from collections import Counter
from typing import Any

from gluonish.core.errors import FileFormatError

# A string, complete or truncated, or a bracket.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_LONG_NUMBER = re.compile(r"\d{4301,}")
_MAX_DEPTH = 200


def parse_json(content: str | bytes, name: str, what: str) -> Any:
    """Return the first JSON value of a file; text after it is ignored.

    Args:
        content: The file's content, in UTF-8.
        name: Name of the file in messages.
        what: Expected content in messages: ``the JSON of a graph``.

    Raises:
        FileFormatError: The file is not JSON, is nested too deeply, or has a number with thousands
            of digits; names the position.
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
            f"{name}: expected {what}, got more than {_MAX_DEPTH} nested lists or objects, at char "
            f"{_nesting_position(text)}"
        ) from error
    except ValueError as error:  # `int` limits the number of digits
        found = _LONG_NUMBER.search(text)
        position = found.start() if found else start
        raise FileFormatError(
            f"{name}: expected {what}, got a number with too many digits at char {position}"
        ) from error
    return value


def _nesting_position(text: str) -> int:
    """Return the position of the first list or object that is nested too deeply."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth == _MAX_DEPTH:
            return token.start()
    return 0


def parse_object(content: bytes, name: str, what: str, start: int = 0) -> dict[str, Any]:
    """Return the JSON object in a section of a file.

    Args:
        content: The section.
        name: Name of the file in messages.
        what: Expected content in messages: ``a JSON header``.
        start: Offset of the section in the file, in bytes.

    Raises:
        FileFormatError: The section is not a JSON object, is nested too deeply, has a number with
            thousands of digits, a duplicate name, or a name that is not valid Unicode.
    """
    try:
        found = json.loads(content.decode("utf-8"), object_pairs_hook=_distinct)
        if isinstance(found, dict):
            "".join(found).encode()  # JSON can contain lone surrogates
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
