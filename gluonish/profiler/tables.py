"""Totals as text: tables and JSON of `dumps`."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.profiler.events import Totals
from gluonish.profiler.recorder import MEMORY, Key

Sections = dict[str, list[tuple[str, Totals]]]

_NS_PER_MS = 1e6
_BYTES_PER_KB = 1000
_ORDERS: Mapping[str, Callable[[Totals], float]] = {
    "total": lambda totals: totals.total,
    "avg": lambda totals: totals.mean,
    "min": lambda totals: totals.least,
    "max": lambda totals: totals.most,
    "count": lambda totals: totals.count,
}
_TIME_HEADS: tuple[str, ...] = ("Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
_MEMORY_HEADS = ("Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)")
_VALUE_HEADS = ("Total", "Min Value", "Max Value", "Avg Value")


def check_order(sort_by: str) -> None:
    """Check the argument ``sort_by`` of `dumps`.

    Args:
        sort_by: ``"total"``, ``"avg"``, ``"min"``, ``"max"`` or ``"count"``.

    Raises:
        ArgumentError: ``sort_by`` is not one of those.
    """
    if sort_by not in _ORDERS:
        raise ArgumentError(f"dumps: expected sort_by among {list(_ORDERS)}, got {sort_by!r}")


def _sections(totals: Mapping[Key, Totals], sort_by: str, ascending: bool) -> Sections:
    """Group names with totals by category, and sort each category by ``sort_by``."""
    order = _ORDERS[sort_by]
    sections: Sections = {}
    for (category, name), found in sorted(totals.items()):
        heading = category if found.is_time or category == MEMORY else f"{category},counter"
        sections.setdefault(heading, []).append((name, found))
    for rows in sections.values():
        rows.sort(key=lambda row: order(row[1]), reverse=not ascending)
    return sections


def _amounts(category: str, totals: Totals) -> tuple[float, ...]:
    """Return total, least, most and mean: times in milliseconds, memory in 1000 bytes.

    Memory has no total, because a sum of memory in use has no meaning.
    """
    amounts = (totals.total, totals.least, totals.most, totals.mean)
    if category == MEMORY:
        return tuple(amount / _BYTES_PER_KB for amount in amounts[1:])
    return tuple(amount / (_NS_PER_MS if totals.is_time else 1) for amount in amounts)


def _row(name: str, count: object, fields: tuple[str, ...]) -> str:
    return f"{name:<25}{count:>16}" + "".join(f"{field:>17}" for field in fields)


def as_table(totals: Mapping[Key, Totals], sort_by: str, ascending: bool) -> str:
    """Return statistics as text tables, one for each category.

    Args:
        totals: Statistics by category and name.
        sort_by: What rows are sorted by; see `check_order`.
        ascending: Whether to list the smallest first.
    """
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    for category, rows in sorted(_sections(totals, sort_by, ascending).items()):
        heads = _TIME_HEADS if rows[0][1].is_time else _VALUE_HEADS
        if category == MEMORY:
            heads = _MEMORY_HEADS
        lines += [category, "================="]
        lines.append(_row("Name", "Total Count", heads))
        dashes = tuple("-" * len(head) for head in heads)
        lines.append(_row("----", "-" * len("Total Count"), dashes))
        for name, found in rows:
            amounts = tuple(f"{amount:.4f}" for amount in _amounts(category, found))
            lines.append(_row(name, found.count, amounts))
        lines.append("")
    return "\n".join(lines) + "\n"


def as_json(totals: Mapping[Key, Totals], sort_by: str, ascending: bool) -> str:
    """Return statistics as JSON.

    Args:
        totals: Statistics by category and name.
        sort_by: What entries are sorted by; see `check_order`.
        ascending: Whether to list the smallest first.
    """
    kinds: dict[str, dict[str, Any]] = {"Time": {}, "Memory": {}, "Counter": {}}
    for category, rows in sorted(_sections(totals, sort_by, ascending).items()):
        for name, found in rows:
            amounts = [round(amount, 6) for amount in _amounts(category, found)]
            keys = ("Total", "Min", "Max", "Avg")[-len(amounts) :]
            kind = "Time" if found.is_time else "Memory" if category == MEMORY else "Counter"
            numbers = dict(zip(keys, amounts, strict=True))
            kinds[kind].setdefault(category, {})[name] = {"Count": found.count, **numbers}
    units = {"Time": "ms", "Memory": "kB", "Counter": "1"}
    return json.dumps({**kinds, "Unit": units}, indent=4)
