"""Distinct metadata nodes of LLVM, which llvmlite does not support.

A loop's node references itself first; LLVM would merge equal nodes of two loops.
"""

_FIRST = 900000  # above llvmlite's own node numbers


class Node:
    """A metadata node that can be passed to `set_metadata` of llvmlite's instructions."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def get_reference(self) -> str:
        """Return the node's name."""
        return self._name


class Metadata:
    """The distinct nodes of a module; ``str()`` returns their definitions in LLVM IR."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def add(self, *operands: str) -> Node:
        """Add a distinct node with these operands, and return it."""
        node = Node(f"!{_FIRST + len(self._lines)}")
        self._lines.append(f"{node.get_reference()} = distinct !{{{', '.join(operands)}}}")
        return node

    def add_loop(self, *properties: str) -> Node:
        """Add the node of a loop, whose first operand is the node itself."""
        return self.add(f"!{_FIRST + len(self._lines)}", *(f"!{{{each}}}" for each in properties))
