"""Docstrings as reStructuredText: sections become lists, names in backticks become links."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

_SECTIONS = [
    ("Inputs", "params_style"),
    ("Outputs", "params_style"),
    ("Attributes", "params_style"),
    ("Raises", "params_style"),
]
# A colon there does not end a type, as napoleon would have it.
_RETURNS = re.compile(r"^(Returns|Yields ?):\n( +.*\n?)+", re.MULTILINE)
_ARGS = re.compile(r"^Args:\n( +.*\n?)+", re.MULTILINE)
_COLON = "\0"
Kind = Literal["module", "class", "function", "method"]
_MAX_TYPE = 60  # characters; longer ones tell a reader little
SEPARATOR = "\u2502"  # between the cells of a table
_LITERAL = re.compile(r"(``.+?``|`[^`\n]+`|`[^`]+`)", re.DOTALL)
_DOTTED = re.compile(r"[A-Za-z_][\w.]*(\(\))?")


@cache
def _config() -> Any:
    return Config(
        napoleon_use_param=False,
        napoleon_use_rtype=False,
        napoleon_custom_sections=_SECTIONS,
    )


def rst_of(
    doc: str | None,
    what: Kind,
    name: str,
    find: Callable[[str], str | None],
    types: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Return the lines of a docstring as reStructuredText.

    Args:
        doc: The docstring.
        what: What has it.
        name: The full name, for messages.
        find: Returns the full name of what a name in backticks means, or None.
        types: The types of parameters, by name.
    """
    text = _ARGS.sub(lambda found: _with_types(found[0], types), inspect.cleandoc(doc or ""))
    text = _RETURNS.sub(lambda found: found[0][:8] + found[0][8:].replace(":", _COLON), text)
    lines = escaped(text, find).splitlines()
    made = GoogleDocstring(lines, _config(), what=what, name=name).lines()
    return "\n".join(made).replace(_COLON, ":").splitlines()


def types_of(value: Any) -> dict[str, str]:
    """Return the types of a callable's parameters as text, without modules; `Any` is left out."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return {}
    found = {}
    for parameter in parameters:
        annotation = parameter.annotation
        if annotation is not parameter.empty:
            text = (
                annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
            )
            text = re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace("NoneType", "None")
            if not re.search(r"\bAny\b", text) and len(text) < _MAX_TYPE:
                found[parameter.name] = text
    return found


def _with_types(section: str, types: Mapping[str, str]) -> str:
    """Return the section Args with the type of each parameter in parentheses behind its name."""

    def typed(entry: re.Match[str]) -> str:
        kind = types.get(entry[1])
        return entry[0] if kind is None else f"    {entry[1]} ({kind}): "

    return re.sub(r"^    (\w+): ", typed, section, flags=re.MULTILINE)


def escaped(text: str, find: Callable[[str], str | None] = lambda _: None) -> str:
    """Return text with what reStructuredText would take for markup escaped.

    Programs (lines from ``>>>`` to an empty one) and blocks behind ``::`` stay as they are.
    """
    parts: list[str] = []
    prose: list[str] = []
    inside: int | None = None  # the indentation of what announced the block, -1 in a program
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if inside is not None and (
            (inside == -1 and line.strip())
            or (inside >= 0 and (not line.strip() or indent > inside))
        ):
            parts.append(line)
            continue
        inside = None
        if line.lstrip().startswith(">>> "):
            parts += [_prose(prose, find)] if prose else []
            prose = []
            parts.append(line)
            inside = -1
            continue
        prose.append(line)
        if line.rstrip().endswith("::"):
            parts.append(_prose(prose, find))
            prose = []
            inside = indent
    return "\n".join([*parts, _prose(prose, find)] if prose else parts)


def _prose(lines: list[str], find: Callable[[str], str | None]) -> str:
    pieces = _LITERAL.split("\n".join(lines))
    return "".join(
        _literal(piece, find) if index % 2 else _plain(piece) for index, piece in enumerate(pieces)
    )


def _plain(text: str) -> str:
    text = re.sub(r"([\\*|`])", r"\\\1", text)
    return re.sub(r"(?<=\w)_(?![\w])", r"\\_", text)


def _literal(text: str, find: Callable[[str], str | None]) -> str:
    name = text.strip("`")
    if text.startswith("``") or not _DOTTED.fullmatch(name):
        return f"``{name.strip()}``"
    found = find(name.removesuffix("()"))
    return f"``{name}``" if found is None else f":py:obj:`{name} <{found}>`"


def summary(doc: str | None, find: Callable[[str], str | None] = lambda _: None) -> str:
    """Return the first sentence of a docstring in one line of reStructuredText."""
    text = " ".join(inspect.cleandoc(doc or "").partition("\n\n")[0].split())
    found = re.match(r"(.+?[.:])(?= [A-Z`]|$)", text)
    sentence = (found[1] if found else text).rstrip(":")
    return escaped(sentence if sentence.count("``") % 2 == 0 else text, find)


def indented(lines: list[str], depth: int = 3) -> list[str]:
    """Return lines moved to the right."""
    return [" " * depth + line if line.strip() else "" for line in lines]


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], widths: str) -> list[str]:
    """Return the lines of a table.

    Args:
        head: Titles of the columns.
        rows: The cells of each row, a line of reStructuredText each.
        widths: Widths of the columns in percent, with spaces between.
    """
    lines = [f" {SEPARATOR} ".join(row) for row in (head, *rows)]
    return [f".. gluonish-table:: {widths}", "", *indented(lines), ""]


def heading(text: str, mark: str = "=") -> list[str]:
    """Return the lines of a heading."""
    return [text, mark * max(len(text), 4), ""]
