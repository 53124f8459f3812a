"""Descriptions of operator arguments for help().

A name has the same meaning in most operators, so there is one description per name, for inputs and
for attributes; operators that use a name differently have their own.
"""

from collections.abc import Iterator
from functools import cache

from gluonish.ops.help import arrays, common, layers, training, vision


def meaning(operator: str, argument: str, *, is_input: bool) -> str | None:
    """Return the description of an operator's argument, without a full stop; None if missing."""
    own = own_texts().get((operator, argument))
    return _common(is_input).get(argument) if own is None else own


@cache
def own_texts() -> dict[tuple[str, str], str]:
    """Return the descriptions of single operators, by operator and argument."""
    found = {}
    operators: list[str] = []
    for module in (layers, vision, arrays, training):
        for line in _joined(module.TEXTS, "  "):
            if line.startswith("  "):
                argument, text = line.strip().split(": ", 1)
                found.update({(operator, argument): text for operator in operators})
            else:
                operators = line.split()
    return found


@cache
def _common(is_input: bool) -> dict[str, str]:
    found = {}
    for line in _joined(common.INPUTS if is_input else common.ATTRIBUTES, ""):
        argument, text = line.split(": ", 1)
        found[argument] = text
    return found


def _joined(texts: str, indent: str) -> Iterator[str]:
    """Yield entries, each joined with its continuation lines."""
    entry = ""
    for line in texts.strip().splitlines():
        if entry and line.startswith(indent + "    " if entry.startswith(indent) else "    "):
            entry += f" {line.strip()}"
            continue
        if entry:
            yield entry
        entry = line
    yield entry
