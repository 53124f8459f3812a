"""The tutorials as notebooks: comments between the parts of a program become text."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NUMBERED = re.compile(r"(\d+)\. ([^.:?]{1,90})([.:?]) ?(.*)", re.DOTALL)
# Names in a comment: with dots, an underscore or parentheses.
_CODE = re.compile(
    r"(?<![\w.`])(?!i\.e|e\.g)"
    r"((?:[a-z_]\w*\.)+[A-Za-z_]\w*(?:\(\))?|\w+\(\)|[a-z]+_[a-z_]+)(?![\w`(])"
)
_NOQA = re.compile(r"  # (noqa|type: ignore)[^\n]*")


def texts(root: Path) -> dict[str, str]:
    """Return the notebooks of the tutorials by file name."""
    return {
        f"tutorials/{path.stem}.ipynb": json.dumps(notebook(path, root), indent=1)
        for path in sorted((root / "tutorials").glob("*.py"))
    }


def notebook(path: Path, root: Path) -> dict[str, Any]:
    """Return a tutorial as a notebook: docstring and comments as text, code, and pictures."""
    text = path.read_text("utf-8")
    _, docstring, program = text.split('"""', 2)
    first, _, rest = docstring.partition("\n")
    title, _, more = first.strip().rstrip(".").partition(": ")
    lead = f"\n{more[:1].upper()}{more[1:]}.\n" if more else ""
    cells = [_markdown(f"# {title}\n{lead}{rest}".rstrip())]
    for kind, content in parts(program):
        cells.append(_markdown(prose(content)) if kind == "text" else _code(content))
    cells += [_markdown(text) for text in _results(path.stem, root)]
    for index, cell in enumerate(cells):
        cell["id"] = f"cell-{index}"
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def parts(program: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a program: comments that begin a paragraph, and the code between them."""
    code: list[str] = []
    comment: list[str] = []
    before = ""
    for line in [*program.splitlines(), ""]:
        is_comment = line.startswith("#") and (bool(comment) or not before.strip())
        if is_comment:
            if any(text.strip() for text in code):
                yield "code", "\n".join(code).strip("\n")
            code = []
            comment.append(line)
        else:
            if comment:
                yield "text", "\n".join(comment)
                comment = []
            code.append(line)
        before = line
    if any(text.strip() for text in code):
        yield "code", "\n".join(code).strip("\n")


def prose(comment: str) -> str:
    """Return a comment as Markdown; a numbered one gets a heading."""
    text = " ".join(line.lstrip("#").strip() for line in comment.splitlines())
    text = "".join(
        f"`{part}`" if index % 2 else re.sub(r"([_<])", r"\\\1", part)
        for index, part in enumerate(_CODE.split(text))
    )
    found = _NUMBERED.match(text)
    if found is None:
        numbered = re.match(r"(\d+)\. (.*)", text, re.DOTALL)
        return text if numbered is None else f"## Step {numbered[1]}\n\n{numbered[2]}"
    number, heading, end, rest = found.groups()
    body = rest if end != ":" else rest[:1].upper() + rest[1:]
    return f"## {number}. {heading}{'?' if end == '?' else ''}\n\n{body}".rstrip()


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
