"""What a network shows in a notebook: its layers as a tree that folds, with shapes and counts."""

from collections.abc import Iterator
from typing import Any

from gluonish.core.html import details, frame, heading
from gluonish.core.object_repr import arguments_repr
from gluonish.gluon.block.protocols import BlockTree
from gluonish.gluon.block.summary import layers_of
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.parameter.parameter_html import parameter_table, total_text

_FEW, _MOST = 12, 2000  # layers


def block_html(block: BlockTree) -> str:
    """Return the HTML of a network."""
    return frame(_Tree(len(list(layers_of(block))) <= _FEW).of(block, ""))


class _Tree:
    """Makes the HTML of Blocks, each once.

    Args:
        unfolded: Whether Blocks without parameters of their own are open.
    """

    def __init__(self, unfolded: bool) -> None:
        self.unfolded = unfolded
        self.seen: set[int] = set()  # ids of the Blocks so far

    def of(self, block: BlockTree, name: str) -> str:
        """Return the HTML of a Block and those in it."""
        title = f"{name}: {_text(block)}" if name else _text(block)
        if id(block) in self.seen:
            return f'<div class="leaf">{heading(title, "shared, see above")}</div>'
        self.seen.add(id(block))
        own: list[Any] = list(_own(block))
        children = block._children
        if not own and not children:
            return f'<div class="leaf">{heading(title)}</div>'
        everything: list[Any] = [p for layer in layers_of(block) for _, p in _own(layer)]
        notes = [total_text(everything, "parameters")] if everything else []
        if not name and getattr(block, "_active", False):
            notes.append("hybridized")
        body = parameter_table(own) if own else ""
        for key, child in children.items():
            body += self.of(child, key) if len(self.seen) < _MOST else "..."
        is_open = not name or (self.unfolded and not own)
        return details(heading(title, *notes), body, is_open=is_open)


def _text(block: BlockTree) -> str:
    """Return the Block in one line: its own text, or its class with its arguments."""
    name = type(block).__name__
    if block._children and not block._reg_params:
        return name
    text = repr(block)
    if "\n" not in text:
        return text
    return name if block._children else arguments_repr(block, leave_out=("prefix", "params"))


def _own(block: BlockTree) -> Iterator[tuple[str, Parameter]]:
    """Yield the parameters of a Block without those of its children, by attribute or name."""
    named = {id(p): name for name, p in block._reg_params.items()}
    for name, parameter in block.params.items():
        named.setdefault(id(parameter), name.removeprefix(block.params.prefix))
    found = {id(p): p for p in (*block._reg_params.values(), *block.params.values())}
    yield from ((named[key], parameter) for key, parameter in found.items())
