"""The HTML page of a profile, and numbers with units.

Tables and figures need no JavaScript. ``page.js`` draws the timeline from the spans in the page,
which are stored as columns of numbers, since there may be many.
"""

import heapq
import html
import json
from pathlib import Path
from string import Template
from typing import Any

from gluonish.tools.profile.summary import Communication, Device, Operator, Summary
from gluonish.tools.profile.trace import Span, Trace

_TIMES = ((1e6, "s"), (1e3, "ms"), (1.0, "µs"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))  # decimal units


def time_text(time_us: float) -> str:
    """Return a time in the unit that fits it, with three digits: 1,234.5 us is 1.23 ms."""
    for size, unit in _TIMES:
        if time_us >= size:
            return f"{_three_digits(time_us / size)} {unit}"
    return f"{time_us:.2f} µs" if time_us else "0 µs"


def bytes_text(nbytes: float) -> str:
    """Return a number of bytes in the unit that fits it, with three digits."""
    for size, unit in _SIZES:
        if nbytes >= size:
            return f"{_three_digits(nbytes / size)} {unit}"
    return f"{nbytes:.0f} bytes"


def share_text(share: float) -> str:
    """Format a fraction in percent: 0.0312 is 3.1 %."""
    return f"{100 * share:.1f} %"


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"


# Maximum number of spans: a browser needs seconds to open more. Only the longest ones are shown.
MOST_SPANS = 200_000
_FOLDER = Path(__file__).parent
_HEADS = (
    ("Operator", "text"),
    ("Runs", "number"),
    ("Total", "number"),
    ("Mean", "number"),
    ("Longest", "number"),
    ("Share of operator time", "number"),
    ("Read and written", "number"),
)


def page(title: str, trace: Trace, summary: Summary, sentences: list[str]) -> str:
    """Return the HTML text of the page.

    Args:
        title: Name of the script.
        trace: The trace to show.
        summary: Summary of the trace.
        sentences: Advice on the trace.
    """
    parts = {
        "title": html.escape(title),
        "style": _read("page.css"),
        "program": _read("page.js"),
        "figures": _figures(summary),
        "advice": _advice(sentences),
        "devices": "\n".join(_device(device, summary) for device in summary.devices),
        "communication": _communication(summary),
        "heads": "".join(_head(number, *head) for number, head in enumerate(_HEADS)),
        "operators": "\n".join(_operator(operator) for operator in summary.operators),
        "data": _as_json(_data(trace)),
    }
    return Template(_read("page.html")).substitute(parts)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _figures(summary: Summary) -> str:
    runs = sum(operator.runs for operator in summary.operators)
    figures = [
        ("Duration", time_text(summary.duration_us)),
        ("Operators run", f"{runs:,}"),
        ("Time in operators", time_text(summary.operator_us)),
        ("Waiting for results", time_text(summary.wait_us)),
    ]
    if summary.communication:
        figures.insert(0, ("Ranks", f"{len(summary.communication)}"))
    peaks = [device.peak_nbytes for device in summary.devices if device.peak_nbytes is not None]
    if peaks:
        figures.append(("Peak memory of arrays", bytes_text(max(peaks))))
    return "\n".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures)


def _advice(sentences: list[str]) -> str:
    if not sentences:
        return "<p>Nothing conspicuous: devices were busy, and no operator dominates.</p>"
    items = "\n".join(f"<li>{html.escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>\n{items}\n</ul>"


def _communication(summary: Summary) -> str:
    """Return a table of communication between ranks; empty for one process."""
    if not summary.communication:
        return ""
    rows = "\n".join(_rank(found, summary) for found in summary.communication)
    return Template(_read("communication.html")).substitute(rows=rows)


def _rank(found: Communication, summary: Summary) -> str:
    whole_us = summary.duration_us or 1.0
    waiting, transfer = found.waiting_us / whole_us, found.transfer_us / whole_us
    return (
        f'<tr class="device"><th scope="row">rank&nbsp;{found.rank}</th>'
        f"<td>{found.exchanges:,}</td><td>{bytes_text(found.nbytes)}</td>"
        f"<td>{time_text(found.waiting_us)}</td><td>{share_text(waiting)}</td>"
        f"<td>{time_text(found.transfer_us)}</td><td>{share_text(transfer)}</td>"
        f"<td>{share_text(found.hidden)}</td><td>{_bar(found.hidden)}</td></tr>"
    )


def _device(device: Device, summary: Summary) -> str:
    peak = "" if device.peak_nbytes is None else bytes_text(device.peak_nbytes)
    rows = [_bar_row(device.name, device.busy_us, summary, peak, "device")]
    rows += [_bar_row(lane.name, lane.busy_us, summary, "", "lane") for lane in device.lanes]
    return "\n".join(rows)


def _bar_row(name: str, busy_us: float, summary: Summary, peak: str, kind: str) -> str:
    share = busy_us / summary.duration_us if summary.duration_us else 0.0
    return (
        f'<tr class="{kind}"><th scope="row">{html.escape(name)}</th>'
        f"<td>{time_text(busy_us)}</td><td>{share_text(share)}</td>"
        f"<td>{_bar(share)}</td><td>{peak}</td></tr>"
    )


def _bar(share: float) -> str:
    return f'<span class="bar"><span style="width:{100 * share:.2f}%"></span></span>'


def _fixed(text: str) -> str:
    """Return text padded to a fixed width, so that bars are aligned."""
    return f'<span class="fixed">{text}</span>'


def _head(number: int, name: str, kind: str) -> str:
    order = ' aria-sort="descending"' if name == "Total" else ""
    return (
        f'<th scope="col" class="{kind}"{order}>'
        f'<button type="button" data-column="{number}">{name}</button></th>'
    )


def _operator(operator: Operator) -> str:
    cells: list[tuple[float, str]] = [
        (operator.runs, f"{operator.runs:,}"),
        (operator.total_us, time_text(operator.total_us)),
        (operator.mean_us, time_text(operator.mean_us)),
        (operator.longest_us, time_text(operator.longest_us)),
        (operator.share, _bar(operator.share) + _fixed(share_text(operator.share))),
        (operator.nbytes, bytes_text(operator.nbytes)),
    ]
    name = html.escape(operator.name)
    tds = "".join(f'<td data-value="{value!r}">{text}</td>' for value, text in cells)
    return f'<tr data-name="{name}"><th scope="row">{name}</th>{tds}</tr>'


def _data(trace: Trace) -> dict[str, Any]:
    """Return the spans as columns: times in microseconds, and indices of names and details."""
    spans = trace.spans
    if len(spans) > MOST_SPANS:
        longest = heapq.nlargest(
            MOST_SPANS, range(len(spans)), key=lambda number: spans[number].duration_us
        )
        spans = [spans[number] for number in sorted(longest)]
    rows = {row.number: place for place, row in enumerate(trace.rows)}
    names: dict[str, int] = {}
    categories: dict[str, int] = {}
    details: dict[str, int] = {}
    return {
        "duration": round(trace.duration_us, 3),
        "rows": [
            {"process": row.process, "name": row.name, "depth": row.depth} for row in trace.rows
        ],
        "row": [rows[span.row] for span in spans],
        "name": [names.setdefault(span.name, len(names)) for span in spans],
        "category": [categories.setdefault(span.category, len(categories)) for span in spans],
        "start": [round(span.start_us, 3) for span in spans],
        "time": [round(span.duration_us, 3) for span in spans],
        "depth": [span.depth for span in spans],
        "detail": [details.setdefault(_detail(span), len(details)) for span in spans],
        "names": list(names),
        "categories": list(categories),
        "details": list(details),
        "memory": {
            device: {
                "at": [round(at, 3) for at, _ in curve],
                "bytes": [nbytes for _, nbytes in curve],
            }
            for device, curve in trace.memory.items()
        },
        "left_out": len(trace.spans) - len(spans),
    }


def _detail(span: Span) -> str:
    """Return the tooltip of a span, below its name and time."""
    lines = []
    shapes, dtypes = span.details.get("shapes", {}), span.details.get("dtypes", {})
    for side, word in (("in", "reads"), ("out", "writes")):
        pairs = zip(dtypes.get(side, ()), shapes.get(side, ()), strict=False)
        arrays = [f"{dtype} {tuple(shape)}" for dtype, shape in pairs]
        if arrays:
            nbytes = span.details.get("bytes", {}).get(side)
            amount = "" if nbytes is None else f" ({bytes_text(nbytes)})"
            lines.append(f"{word} {', '.join(arrays)}{amount}")
    if "keys" in span.details:
        keys, nbytes = span.details["keys"], span.details.get("bytes", 0)
        lines.append(f"{', '.join(map(str, keys)) or 'no arrays'}: {bytes_text(nbytes)} sent")
        parts = [("waiting_us", "for ranks"), ("transfer_us", "transfer")]
        lines += [f"{time_text(span.details[x])} {y}" for x, y in parts if x in span.details]
    named = ("scope", "node", "steps", "error")
    lines += [f"{key}: {span.details[key]}" for key in named if key in span.details]
    return "\n".join(lines)


def _as_json(data: dict[str, Any]) -> str:
    """Return JSON text that is safe in a script element, without tags."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
