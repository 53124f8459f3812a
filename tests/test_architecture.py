"""ARCHITECTURE.md speaks of the code as it is: each path and each dotted name on it exists."""

import importlib
import re
from pathlib import Path

import pytest

from tests.test_layers import LAYERS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
PATHS = [text for text in QUOTED if re.fullmatch(r"(gluonish|engine|tests)/[\w/.]+", text)]
NAMES = [text for text in QUOTED if re.fullmatch(r"gluonish(_engine)?(\.\w+)+", text)]


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


@pytest.mark.parametrize("path", PATHS)
def test_path_on_the_page_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("name", NAMES)
def test_name_on_the_page_exists(name: str) -> None:
    assert found(name) is not None


def test_name_that_is_gone_is_noticed() -> None:
    with pytest.raises(AttributeError):
        found("gluonish.ndarray.eager.no_such_function")
    with pytest.raises(AttributeError):
        found("gluonish.no_such_module.function")


def test_page_has_every_room_of_the_layers() -> None:
    rooms = {name.split(".")[1] for line in LAYERS for name in line if "." in name}
    missing = [
        room
        for room in sorted(rooms - {"__main__"})
        if not re.search(rf"`gluonish/{room}(\.py)?`", PAGE)
    ]
    assert missing == []


def test_rooms_stand_on_the_page_in_the_order_of_the_layers() -> None:
    table = PAGE.partition("| layer |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", table, re.MULTILINE)
    rank = {name: number for number, line in enumerate(LAYERS) for name in line}
    ranks = []
    for _, rooms in rows:
        names = [
            "gluonish_engine" if "engine/" in room else room.removesuffix(".py").replace("/", ".")
            for room in re.findall(r"`([\w/.]+)`", rooms)
        ]
        assert len({rank[name] for name in names}) == 1, names
        ranks.append(rank[names[0]])
    assert ranks == sorted(ranks)
    assert [number for number, _ in rows] == [str(i + 1) for i in range(len(rows))]


def test_words_of_the_house_are_in_order() -> None:
    table = PAGE.partition("| word |")[2]
    words = re.findall(r"^\| ([A-Za-z, ]+) \|", table, re.MULTILINE)
    assert len(words) > 30
    assert words == sorted(words, key=str.lower)
