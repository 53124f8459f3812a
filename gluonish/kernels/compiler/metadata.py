"""Metadata of LLVM that llvmlite does not write: nodes that are distinct from all others.

A loop's node names itself first; of two loops with equal nodes LLVM would keep one.
"""

_FIRST = 900000  # above the numbers that llvmlite gives to its nodes


class Node:
    """A node, as `set_metadata` of llvmlite's instructions takes it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def get_reference(self) -> str:
        """Return the node's name."""
        return self._name


class Metadata:
    """The nodes of a module; ``str()`` gives their definitions, which follow the module's text."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def add(self, *operands: str) -> Node:
        """Return a distinct node of these operands."""
        node = Node(f"!{_FIRST + len(self._lines)}")
        self._lines.append(f"{node.get_reference()} = distinct !{{{', '.join(operands)}}}")
        return node

    def add_loop(self, *properties: str) -> Node:
        """Return the node of a loop, whose first operand is itself."""
        return self.add(f"!{_FIRST + len(self._lines)}", *(f"!{{{each}}}" for each in properties))
