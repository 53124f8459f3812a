"""The Blocks in a Block, by their attribute paths."""

from collections.abc import Iterator

from gluonish.gluon.block.block import Block


def blocks_by_path(block: Block) -> Iterator[tuple[str, Block]]:
    """Yield a Block and all Blocks in it with their attribute paths; a shared Block once."""
    seen: set[int] = set()
    left = [("", block)]
    while left:
        path, found = left.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield path, found
        children = [
            (f"{path}.{name}" if path else name, child) for name, child in found._children.items()
        ]
        left += reversed(children)
