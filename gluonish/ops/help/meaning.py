"""What the arguments of operators are, in words, for the help of the functions made from them.

A name means the same at most operators, so there is one text a name, for inputs and for other
arguments; where an operator means something else by it, that operator has its own.
"""

from collections.abc import Iterator
from functools import cache

from gluonish.ops.help import arrays, common, layers, training, vision


def meaning(operator: str, argument: str, *, is_input: bool) -> str | None:
    """Return what an operator's argument is, as a text without a stop; None if nobody wrote it.

    Args:
        operator: Name in the registry.
        is_input: Whether it is an array that the operator reads.
    """
    own = own_texts().get((operator, argument))
    return _common(is_input).get(argument) if own is None else own


@cache
def own_texts() -> dict[tuple[str, str], str]:
    """Return the texts that are of single operators, by operator and argument."""
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
    """Yield entries, each in one line; what is indented further goes on with the line above."""
    entry = ""
    for line in texts.strip().splitlines():
        if entry and line.startswith(indent + "    " if entry.startswith(indent) else "    "):
            entry += f" {line.strip()}"
            continue
        if entry:
            yield entry
        entry = line
    yield entry
