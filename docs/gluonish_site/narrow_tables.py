"""Tables on narrow screens: those of four to six columns are shown row by row.

Each cell gets the title of its column as an attribute, which the style sheet shows before it.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_TABLE = re.compile(r'<table class="docutils([^"]*)">(.*?)</table>', re.S)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.S)
_ROW = re.compile(r"<tr\b.*?</tr>", re.S)
_CELL = re.compile(r"<td\b(?P<attributes>[^>]*)>(?P<content>.*?)</td>", re.S)
_TAG = re.compile(r"<[^>]*>")
_COLUMNS = range(4, 7)


def add_titles(
    app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Mark the tables of a page that are to be shown row by row where the screen is narrow."""
    del app, name, template, doctree
    if "body" in context:
        context["body"] = _TABLE.sub(_with_titles, context["body"])


def _with_titles(table: re.Match[str]) -> str:
    titles = [_TAG.sub("", head).strip() for head in _HEAD.findall(table[2])]
    if len(titles) not in _COLUMNS or "<table" in table[2] or "span=" in table[2]:
        return table[0]
    rows = _ROW.sub(lambda row: _titled_row(row[0], titles), table[2])
    return f'<table class="docutils by-row{table[1]}">{rows}</table>'


def _titled_row(row: str, titles: list[str]) -> str:
    left = iter(titles)

    def titled(cell: re.Match[str]) -> str:
        title = next(left, "").replace('"', "&quot;")
        mark = f'data-title="{title}"' if _TAG.sub("", cell["content"]).strip() else "data-empty"
        return f"<td{cell['attributes']} {mark}>{cell['content']}</td>"

    return _CELL.sub(titled, row)
