"""Safety checks for pickles from files, made before anything is unpickled.

A pickle is a program. The readers run it with stand-ins for the few names that they know, which a
pickle cannot change (`Sealed`), and only after `check_opcodes` has checked it.
"""

import io
import pickle
import pickletools
import sys
from collections.abc import Collection
from typing import Any, BinaryIO

from gluonish.core.errors import FileFormatError

# These access objects outside the file, or make them in ways that valid files do not need.
FOREIGN_OPCODES = frozenset(
    (
        *("PERSID", "EXT1", "EXT2", "EXT4"),
        *("INST", "OBJ", "NEWOBJ_EX", "NEXT_BUFFER", "READONLY_BUFFER"),
    )
)
BROKEN_PICKLE = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions of the unpickler and `pickletools` for an invalid pickle."""

_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
# They add the popped items to the object below.
_FILLING = frozenset({"APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD"})
# Python hashes nested tuples recursively without a limit: about 100,000 overflow the C stack.
# Readers recurse, too.
_MAX_DEPTH = 200
# Limit for the sum of sizes of all nested objects, per opcode: without shared objects the sum is
# about the number of opcodes times the depth.
_VISITS_AN_OPCODE = 64
_FREE_VISITS = 1 << 15
# Hashes of text and bytes are secret to this process, and a smaller integer is its own hash. A file
# can choose thousands of other keys with one hash, which makes a dictionary quadratic.
_HASH_MODULUS = sys.hash_info.modulus
_MAX_CHOSEN_KEYS = 1000


class Sealed(type):
    """Metaclass of classes whose attributes a pickle cannot set."""

    def __setattr__(cls, name: str, value: object) -> None:
        raise FileFormatError(f"expected data, got a change of {cls.__name__}.{name}")


class _WithinFile:
    """Wrapper of a file for `pickletools`, whose `read` allocates no more than the file's size."""

    def __init__(self, file: BinaryIO) -> None:
        position = file.tell()
        self._end = file.seek(0, io.SEEK_END)
        file.seek(position)
        self._file = file
        self.readline = file.readline
        self.tell = file.tell

    def read(self, nbytes: int) -> bytes:
        """Return up to ``nbytes`` bytes."""
        return self._file.read(min(nbytes, self._end - self._file.tell()))


def check_opcodes(
    pickled: bytes | BinaryIO,
    refused: Collection[str],
    max_nbytes: int,
    max_opcodes: int | None = None,
) -> None:
    """Reject a pickle that accesses outside objects, or could exhaust memory, stack or time.

    Args:
        pickled: The pickle, or a file at the position of one, which is left at its end.
        refused: Names of opcodes, in addition to `FOREIGN_OPCODES`.
        max_nbytes: Maximum size of the pickle.
        max_opcodes: Maximum number of opcodes; None for no limit. An opcode of one byte may make an
            object of 100 bytes.

    Raises:
        FileFormatError: The pickle has a rejected opcode, too large a memo index, too deep or too
            much nesting, an object inside itself, many keys with chosen hashes, or too many bytes
            or opcodes.
        Exception: The file is not a pickle: one of `BROKEN_PICKLE`.
    """
    objects = _Objects()
    start = None
    source: Any = pickled if isinstance(pickled, bytes) else _WithinFile(pickled)
    for count, (opcode, argument, position) in enumerate(pickletools.genops(source)):
        start = position if start is None else start
        if position is not None and start is not None and position - start > max_nbytes:
            raise FileFormatError(f"expected a pickle of up to {max_nbytes} bytes, got more")
        if max_opcodes is not None and count >= max_opcodes:
            raise FileFormatError(f"expected a pickle of up to {max_opcodes} opcodes, got more")
        if opcode.name in FOREIGN_OPCODES or opcode.name in refused:
            raise FileFormatError(f"expected only data, got the opcode {opcode.name}")
        if opcode.name in _PUTS and isinstance(argument, int) and argument > count + 1:
            raise FileFormatError(f"expected a memo index up to {count}, got {argument}")
        if objects.step(opcode, argument) > _MAX_DEPTH:
            raise FileFormatError(
                f"expected lists, dictionaries and tuples of up to {_MAX_DEPTH} levels, got more"
            )
        if objects.chosen_keys > _MAX_CHOSEN_KEYS:
            raise FileFormatError(
                f"expected keys of text or integers, got more than {_MAX_CHOSEN_KEYS} others"
            )
        if objects.visits > _FREE_VISITS + _VISITS_AN_OPCODE * count:
            raise FileFormatError(
                "expected few shared objects, got nested ones that multiply the size"
            )


class _Object:
    """An object that the unpickler would make.

    Attributes:
        size: Number of nested objects, shared ones counted repeatedly.
        depth: Number of levels.
        shared: Whether it came from the memo, and may be inside other objects.
    """

    __slots__ = ("depth", "shared", "size")

    def __init__(self, children: "list[_Object]") -> None:
        self.size = 1
        self.depth = 0
        self.shared = False
        self.add(children)

    def add(self, children: "list[_Object]") -> None:
        """Add nested objects."""
        for child in children:
            self.size += child.size
            self.depth = max(self.depth, child.depth + 1)


# Objects without children: numbers, text, classes. A file can choose the hash of the second kind.
_LEAF, _CHOSEN_LEAF = _Object([]), _Object([])
_LEAVES = (_LEAF, _CHOSEN_LEAF)


class _Objects:
    """The unpickler's stack and memo, without the values.

    Attributes:
        visits: Sum of the sizes of all nested objects: the cost of hashing, comparing or walking.
        chosen_keys: Number of keys and set members whose hashes the file can choose.
    """

    def __init__(self) -> None:
        self.visits = 0
        self.chosen_keys = 0
        self._stack: list[_Object] = []
        self._marks: list[int] = []
        self._memo: dict[object, _Object] = {}

    def step(self, opcode: pickletools.OpcodeInfo, argument: object) -> int:
        """Simulate one opcode; return the depth of the top of the stack, 0 if it is empty."""
        name, stack = opcode.name, self._stack
        if name == "MARK":
            self._marks.append(len(stack))
        elif name in _PUTS:
            self._memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif name in _GETS:
            self._share(self._memo.get(argument, _LEAF))
        elif name == "DUP":
            self._share(stack[-1])
        elif name == "POP" and self._marks and self._marks[-1] == len(stack):
            self._marks.pop()
        elif name in _FILLING:
            children = self._pop(opcode, skip=1)
            self._count_keys(name, children)
            self._fill(children)
        else:
            self._replace(opcode, argument)
        return stack[-1].depth if stack else 0

    def _share(self, found: _Object) -> None:
        found.shared = found not in _LEAVES
        self._stack.append(found)

    def _fill(self, children: list[_Object]) -> None:
        target = self._stack[-1]
        if target.shared:
            # The sizes of its parents are already counted; valid files have no cycles.
            raise FileFormatError("expected no object inside itself, got one")
        if target in _LEAVES:  # a class, whose stand-in rejects changes
            target = self._stack[-1] = _Object([])
        target.add(children)

    def _count_keys(self, name: str, children: list[_Object]) -> None:
        if name == "SETITEM":  # popped from the top, the value first
            children = children[1:]
        elif name in ("SETITEMS", "DICT"):
            children = children[::2]
        elif name not in ("ADDITEMS", "FROZENSET"):
            return
        self.chosen_keys += sum(child is not _LEAF for child in children)

    def _replace(self, opcode: pickletools.OpcodeInfo, argument: object) -> None:
        """Pop the inputs of an opcode, and push its results."""
        children = self._pop(opcode, skip=0)
        self._count_keys(opcode.name, children)
        holds = bool(children) or opcode.name.startswith("EMPTY_")
        large = isinstance(argument, int) and abs(argument) >= _HASH_MODULUS
        leaf = _CHOSEN_LEAF if large or isinstance(argument, float) else _LEAF
        made = [_Object(children) if holds else leaf for _ in opcode.stack_after]
        self._stack.extend(made)

    def _pop(self, opcode: pickletools.OpcodeInfo, skip: int) -> list[_Object]:
        """Pop the inputs of an opcode, except the lowest ``skip``."""
        before = opcode.stack_before[skip:]
        taken: list[_Object] = []
        if pickletools.markobject in before:
            start = self._marks.pop()
            taken = self._stack[start:]
            del self._stack[start:]
            before = before[: before.index(pickletools.markobject)]
        for _ in before:
            taken.append(self._stack.pop())
        self.visits += sum(child.size for child in taken)
        return taken
