"""Recorded times of PyTorch compiled and captured, by card and version: compiling takes a minute.

``--report`` adds what a run with ``--compile`` found. Rows without compiling compare with what was
recorded on the same card by the same version of PyTorch, and with nothing else.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

COMPILED = "torch compiled, graph"  # what rows call it
_PATH = Path(__file__).resolve().parents[1] / "results" / "torch-compiled.json"
_GRAPHS = ", CUDA graphs"  # of ours, which PyTorch's side does not depend on
Figures = dict[str, dict[str, dict[str, float]]]  # milliseconds by card, version and row


def _read(path: Path) -> Figures:
    found: Figures = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def recorded_ms(card: str, version: str, row: str, path: Path = _PATH) -> float | None:
    """Return what PyTorch's compiled and captured step took, in milliseconds.

    Args:
        card: The device's name.
        version: PyTorch's.
        row: Of stage 3 or 5.
        path: The file of figures.

    Returns:
        None where no run on such a card recorded it.
    """
    rows = _read(path).get(card, {}).get(version.partition("+")[0], {})
    return rows.get(row.removesuffix(_GRAPHS))


def record(
    rows: Iterable[Mapping[str, Any]], versions: Mapping[str, Any], path: Path = _PATH
) -> list[str]:
    """Add the figures of a run to the file.

    Args:
        rows: As stages' files have them.
        versions: ``device``, the card's name, and ``torch``; nothing is recorded without.
        path: The file of figures.

    Returns:
        The rows whose figures were recorded.
    """
    if "device" not in versions or "torch" not in versions:
        return []
    found = {
        row["name"].removesuffix(_GRAPHS): round(told["value"], 4)
        for row in rows
        for told in row["values"]
        if told["what"] == COMPILED and told["unit"] == "ms"
    }
    if found:
        figures = _read(path)
        of_card = figures.setdefault(versions["device"], {})
        of_card.setdefault(versions["torch"].partition("+")[0], {}).update(found)
        path.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", "utf-8")
    return sorted(found)
