"""Pieces of the pages that objects show in a notebook: self-contained, without scripts or colors.

Text and lines have the color of the notebook's own text, so that light and dark themes work. All
texts are escaped here: the functions take plain text, except where they say HTML.
"""

from collections.abc import Iterable
from html import escape

__all__ = ["details", "frame", "heading", "preformatted", "table"]

_LINE = "1px solid rgba(128, 128, 128, 0.4)"
_STYLE = (
    f".gluonish {{ border: {_LINE}; border-radius: 4px; padding: 6px 10px; margin: 2px 0; "
    "display: inline-block; max-width: 100%; overflow-x: auto; box-sizing: border-box; "
    "font-size: 13px; line-height: 1.45 }"
    ".gluonish pre { margin: 4px 0 0; padding: 0; background: none; border: 0; color: inherit; "
    "font-size: 12px; line-height: 1.35 }"
    ".gluonish table { border-collapse: collapse; margin: 4px 0; border: 0; background: none }"
    ".gluonish th, .gluonish td { text-align: left; padding: 1px 12px 1px 0; border: 0; "
    f"border-bottom: {_LINE}; background: none; vertical-align: top; font-size: 12px }}"
    ".gluonish details > div { margin-left: 7px; padding-left: 12px; "
    f"border-left: {_LINE} }}"
    ".gluonish summary { cursor: pointer }"
    ".gluonish .leaf { padding-left: 1.1em }"
    ".gluonish .note { opacity: 0.65 }"
    ".gluonish img { display: block; margin: 6px 0 0; max-width: 100%; image-rendering: pixelated }"
    ".gluonish svg { display: block; max-width: 100%; height: auto }"
)


def frame(*parts: str) -> str:
    """Return the HTML of a whole object from the HTML of its parts."""
    return f'<div class="gluonish"><style>{_STYLE}</style>{"".join(parts)}</div>'


def heading(title: str, *notes: str) -> str:
    """Return the HTML of a title, bold up to its first parenthesis, with notes behind it."""
    name, parenthesis, rest = title.partition("(")
    shown = "".join(f' <span class="note">· {escape(note)}</span>' for note in notes if note)
    return f"<b>{escape(name)}</b>{escape(parenthesis + rest)}{shown}"


def preformatted(text: str) -> str:
    """Return the HTML of text whose lines and columns stay as they are."""
    return f"<pre>{escape(text)}</pre>"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return the HTML of a table of texts."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return the HTML of a part that folds; both arguments are HTML."""
    attribute = " open" if is_open else ""
    return f"<details{attribute}><summary>{summary}</summary><div>{body}</div></details>"
