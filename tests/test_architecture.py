"""ARCHITECTURE.md and docs/ speak of the code as it is: each path and each name exists."""

import importlib
import re
from pathlib import Path

import pytest

from tests.test_layers import FLOORS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
# All but the record of the development of 0.1.0, which names what came and went.
PAGES = [
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
QUOTED = {
    text
    for page in PAGES
    if page.name != "changelog_details.md"
    for text in re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))
}
PATHS = sorted(text for text in QUOTED if re.fullmatch(r"(gluonish|engine|tests)/[\w/.]+", text))
NAMES = sorted(text for text in QUOTED if re.fullmatch(r"gluonish(_engine)?(\.\w+)+", text))


def found(dotted: str) -> object:
    """Return what a dotted name stands for: as much of it as possible is a module."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            thing = getattr(thing, part)
        return thing
    raise ModuleNotFoundError(dotted)


def drawn_floors(page: str) -> list[tuple[str, ...]]:
    """Return the packages of each floor of the picture, the lowest first.

    A floor begins with its number; lines without one continue it.
    """
    floors: list[list[str]] = []
    numbers: list[int] = []
    for number, packages in re.findall(r"^ *(\d*) +│ ([a-z_ ]+) │ [^│]*│$", page, re.MULTILINE):
        if number:
            numbers.append(int(number))
            floors.append([])
        floors[-1] += packages.split()
    assert numbers == list(range(len(numbers), 0, -1))
    return [tuple(floor) for floor in reversed(floors)]


@pytest.mark.parametrize("path", PATHS)
def test_path_on_a_page_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", NAMES)
def test_name_on_a_page_exists(name: str) -> None:
    assert found(name) is not None


def test_name_that_is_gone_is_noticed() -> None:
    with pytest.raises(AttributeError):
        found("gluonish.ndarray.eager.no_such_function")
    with pytest.raises(AttributeError):
        found("gluonish.no_such_module.function")


def test_picture_shows_the_floors_of_the_layers() -> None:
    assert drawn_floors(PAGE) == list(FLOORS)


def test_lines_of_the_picture_have_one_width() -> None:
    picture = PAGE.partition("```text\n")[2].partition("```")[0].splitlines()
    assert len({len(line) for line in picture}) == 1


def test_words_of_the_code_are_in_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    words = re.findall(r"^\| ([A-Za-z, ]+) \|", page.partition("| word |")[2], re.MULTILINE)
    assert words == sorted(words, key=str.lower)
