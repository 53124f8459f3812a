import re
from pathlib import Path

from gluonish.ops import catalog, registry
from gluonish.ops.registry import all_operators


def test_names_and_aliases_are_found() -> None:
    assert catalog.has("broadcast_add")
    assert catalog.has("broadcast_plus")
    assert not catalog.has("no_such_operator")


def test_every_name_is_found_by_searching_for_it() -> None:
    """A reader who looks for an operator finds the line that registers it."""
    folder = Path(registry.__file__).parent
    text = "\n".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    words = set(re.findall(r"\w+", text))
    own = [op for op in all_operators() if Path(op.source[0]).is_relative_to(folder)]
    assert len(own) > 600
    assert [op.name for op in own if op.name not in words] == []
