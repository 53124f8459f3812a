"""The tutorials as notebooks: programs in jupytext's percent format, read as cells."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext

_NOQA = re.compile(r"  # (noqa|type: ignore)[^\n]*")
_QUICK = """\
# What the command line would say. The quick form takes seconds; without "--quick" it is complete.
import sys

__file__ = "{name}.py"
sys.argv = [__file__{options}]
%matplotlib inline"""
_DOWNLOADS = "notebooks"
_PACKED = "tutorials.zip"
_PACKED_AT = (2026, 1, 1, 0, 0, 0)  # equal files are packed into equal bytes


def texts(root: Path) -> dict[str, str]:
    """Return the notebooks of the tutorials by file name, as pages of the site."""
    made = {}
    for path in programs(root):
        cells = [*read(path), *map(_markdown, _results(path.stem, root))]
        link = f"{{download}}`Download as a notebook </{_DOWNLOADS}/{path.stem}.ipynb>`"
        cells[0]["source"] += f"\n\n{link}"
        made[f"tutorials/{path.stem}.ipynb"] = _notebook(cells)
    return made


def downloads(root: Path) -> dict[str, bytes]:
    """Return what is offered to be downloaded: each tutorial to be run, and all in one archive."""
    files = runnable(root)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(f"tutorials/{name}", _PACKED_AT), content)
    notebooks = {name: content for name, content in files.items() if name.endswith(".ipynb")}
    made = {f"{_DOWNLOADS}/{name}": content for name, content in notebooks.items()}
    return {**made, f"{_DOWNLOADS}/{_PACKED}": packed.getvalue()}


def runnable(root: Path) -> dict[str, bytes]:
    """Return the notebooks to be run, and the files that they read, by file name."""
    made = {}
    for path in programs(root):
        options = ', "--quick"' if "--quick" in path.read_text("utf-8") else ""
        title, *rest = read(path)
        settings = _code(_QUICK.format(name=path.stem, options=options))
        made[f"{path.stem}.ipynb"] = _notebook([title, settings, *rest]).encode()
    folder = root / "tutorials"
    read_by_them = [*programs(root), *sorted(folder.glob("*.txt")), root / "LICENSE"]
    return {**made, **{path.name: path.read_bytes() for path in read_by_them}}


def write_notebooks(root: Path, folder: Path) -> None:
    """Write the notebooks to be run, and the files that they read, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in runnable(root).items():
        (folder / name).write_bytes(content)


def programs(root: Path) -> list[Path]:
    """Return the files of the tutorials."""
    return sorted((root / "tutorials").glob("*.py"))


def read(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a tutorial; the first one has its title."""
    (first, *rest) = jupytext.read(path, fmt="py:percent").cells
    title, _, text = first.source.partition("\n")
    name, _, more = title.strip().rstrip(".").partition(": ")
    lead = f"\n{more[:1].upper()}{more[1:]}.\n" if more else ""
    cells = [_markdown(f"# {name}\n{lead}{text}".rstrip())]
    for cell in rest:
        cells.append((_code if cell.cell_type == "code" else _markdown)(cell.source))
    return cells


def _notebook(cells: list[dict[str, Any]]) -> str:
    for index, cell in enumerate(cells):
        cell["id"] = f"cell-{index}"
    content = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1)


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": _NOQA.sub("", text),
    }


def _results(name: str, root: Path) -> Iterator[str]:
    """Yield what a run printed and drew, if that is kept in ``docs/pictures/tutorials``."""
    folder = root / "docs" / "pictures" / "tutorials"
    printed = folder / f"{name}.txt"
    if printed.exists():
        yield f"## What it prints\n\n```text\n{printed.read_text('utf-8').rstrip()}\n```"
    for picture in sorted(folder.glob(f"{name}-*.png")):
        yield f"![{name}](../pictures/tutorials/{picture.name})"
