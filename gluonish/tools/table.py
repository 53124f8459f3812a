"""Tables and lines of text that fit the terminal; pipes and files get them in full."""

import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, TextIO

_GAP = "  "
_SMALLEST = 12  # characters that a column of text keeps
_CUT = "..."
_NUMBER = re.compile(r"-|[+-]?[\d.,]+(e[+-]?\d+)?%?|-?(nan|inf)")

Rows = Sequence[Sequence[str]]


def terminal_width(stream: TextIO | None = None) -> int | None:
    """Return the columns of the terminal that a stream writes to; None for a pipe or a file.

    Args:
        stream: By default standard output.
    """
    shown: Any = sys.stdout if stream is None else stream
    return shutil.get_terminal_size().columns if shown.isatty() else None


def table(rows: Rows, width: int | None = None, right: Sequence[int] = ()) -> str:
    """Return rows as aligned columns, of which those of numbers are aligned to the right.

    Cells of text are wrapped, and words that are too long are cut in their middle, so that lines
    fit. Numbers are never cut: columns that do not fit follow below, with the first one repeated.

    Args:
        rows: The cells, with the titles first.
        width: Columns of the terminal; None for any width.
        right: Columns that are aligned to the right and kept whole although they are no numbers.
    """
    columns = list(zip(*rows, strict=True))
    numeric = [i in right or _is_numeric(column[1:]) for i, column in enumerate(columns)]
    widths = [max(map(len, column)) for column in columns]
    if width is None:
        return _lines(columns, widths, numeric)
    _shrink(widths, numeric, width)
    blocks = (
        _lines([columns[i] for i in block], [widths[i] for i in block], [numeric[i] for i in block])
        for block in _blocks(widths, width)
    )
    return "\n\n".join(blocks)


def wrapped(text: str, width: int | None, indent: str = "") -> str:
    """Return a line wrapped at words, with further lines indented.

    Args:
        text: The line.
        width: Columns of the terminal; None leaves the line as it is.
        indent: What further lines begin with.
    """
    if width is None or len(text) <= width:
        return text
    lead = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(
        text.strip(),
        max(width, len(indent) + _SMALLEST),
        initial_indent=lead,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def cut(text: str, width: int) -> str:
    """Return text of at most ``width`` characters, without its middle if it is longer."""
    if len(text) <= width:
        return text
    kept = width - len(_CUT)
    end = kept // 2
    return text[: kept - end] + _CUT + text[len(text) - end :]


def _is_numeric(cells: Sequence[str]) -> bool:
    return any(re.search(r"\d", cell) for cell in cells) and all(map(_NUMBER.fullmatch, cells))


def _shrink(widths: list[int], numeric: Sequence[bool], width: int) -> None:
    """Make columns of text narrower until the table fits; the first one last."""
    text = [i for i, is_number in enumerate(numeric) if not is_number]
    for group in ([i for i in text if i > 0], [i for i in text if i == 0]):
        while _total(widths) > width:
            widest = max(group, key=lambda i: widths[i], default=None)
            if widest is None or widths[widest] <= _SMALLEST:
                break
            others = sorted((widths[i] for i in group if widths[i] < widths[widest]), reverse=True)
            equal = sum(widths[i] == widths[widest] for i in group)
            least = max(_SMALLEST, others[0] if others else 0)
            excess = _total(widths) - width
            narrower = max(least, widths[widest] - -(-excess // equal))
            for i in group:
                widths[i] = min(widths[i], narrower)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _blocks(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the columns of each block of a table that may be too wide."""
    blocks = [[0]]
    for i in range(1, len(widths)):
        if len(blocks[-1]) > 1 and _total([widths[j] for j in (*blocks[-1], i)]) > width:
            blocks.append([0])
        blocks[-1].append(i)
    return blocks


def _lines(columns: Sequence[Sequence[str]], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    adjust = [str.rjust if number else str.ljust for number in numeric]
    lines = []
    for row in zip(*columns, strict=True):
        cells = [_cell(text, width) for text, width in zip(row, widths, strict=True)]
        for k in range(max(map(len, cells))):
            parts = [cell[k] if k < len(cell) else "" for cell in cells]
            line = (f(text, w) for f, text, w in zip(adjust, parts, widths, strict=True))
            lines.append(_GAP.join(line).rstrip())
    return "\n".join(lines)


def _cell(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [cut(line, width) for line in lines] or [""]
