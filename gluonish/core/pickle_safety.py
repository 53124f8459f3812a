"""What readers of pickles from files have in common: what they refuse before anything is made.

A pickle is a program. A reader here runs it with stand-ins for the few names that it knows, which a
program cannot change (`Sealed`), and only after `check_opcodes` has gone through it.
"""

import io
import pickle
import pickletools
import sys
from collections.abc import Collection
from typing import Any, BinaryIO

from gluonish.core.errors import FileFormatError

# These reach for objects outside the file, or make them in ways that no file of ours needs.
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
"""What the unpickler and `pickletools` raise for a pickle that is none."""

_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
# They put what they take into the object below it.
_FILLING = frozenset({"APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD"})
# Python hashes nested tuples by recursion on the C stack, without a bound: about 100,000 end it.
# Readers recurse too.
_MAX_DEPTH = 200
# How much walks through all objects may visit, each time that one stands inside another, for each
# opcode: where a file has nothing twice it is about how deep its objects lie.
_VISITS_AN_OPCODE = 64
_FREE_VISITS = 1 << 15
# The hashes of text and bytes are secrets of this process, and those of smaller numbers are the
# numbers. Of other keys a file may choose thousands with one hash, for each of which a dictionary
# looks at all before it.
_HASH_MODULUS = sys.hash_info.modulus
_MAX_CHOSEN_KEYS = 1000


class Sealed(type):
    """A class of classes whose attributes a pickle cannot set."""

    def __setattr__(cls, name: str, value: object) -> None:
        """Refuse."""
        raise FileFormatError(f"expected data, got a change of {cls.__name__}.{name}")


class _WithinFile:
    """A file as `pickletools` reads it: memory for a length that a pickle claims is not asked for.

    Args:
        file: The file.
    """

    def __init__(self, file: BinaryIO) -> None:
        place = file.tell()
        self._end = file.seek(0, io.SEEK_END)
        file.seek(place)
        self._file = file
        self.readline = file.readline
        self.tell = file.tell

    def read(self, nbytes: int) -> bytes:
        """Return the next bytes, or those that there are."""
        return self._file.read(min(nbytes, self._end - self._file.tell()))


def check_opcodes(
    pickled: bytes | BinaryIO,
    refused: Collection[str],
    max_nbytes: int,
    max_opcodes: int | None = None,
) -> None:
    """Refuse a pickle that reaches outside, or would take memory or stack without need.

    Args:
        pickled: The pickle; of a file, which is left at the pickle's end, what is at its position.
        refused: Names of opcodes, beside those in `FOREIGN_OPCODES`.
        max_nbytes: How long the pickle may be.
        max_opcodes: How many opcodes it may have; None for any number. One of a byte may make an
            object of a hundred.

    Raises:
        FileFormatError: It has a refused opcode, a memo number that would make a huge table,
            objects in objects beyond measure, an object inside itself, many keys of chosen hashes,
            or too many bytes or opcodes.
        Exception: It is no pickle: one of `BROKEN_PICKLE`.
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
            raise FileFormatError(f"expected plain data, got the opcode {opcode.name}")
        if opcode.name in _PUTS and isinstance(argument, int) and argument > count + 1:
            raise FileFormatError(f"expected a memo number up to {count}, got {argument}")
        if objects.step(opcode, argument) > _MAX_DEPTH:
            raise FileFormatError(
                f"expected lists, dictionaries and tuples of up to {_MAX_DEPTH} levels, got more"
            )
        if objects.chosen_keys > _MAX_CHOSEN_KEYS:
            raise FileFormatError(
                f"expected keys of text or whole numbers, got more than {_MAX_CHOSEN_KEYS} others"
            )
        if objects.visits > _FREE_VISITS + _VISITS_AN_OPCODE * count:
            raise FileFormatError(
                "expected objects that are seldom inside several others, got some that multiply"
            )


class _Object:
    """What the unpickler makes.

    Attributes:
        size: How many objects a walk through it meets, one inside it twice where it is there twice.
        depth: How many levels it has.
        shared: Whether it was taken from the memo, and may be inside others.
    """

    __slots__ = ("depth", "shared", "size")

    def __init__(self, parts: "list[_Object]") -> None:
        self.size = 1
        self.depth = 0
        self.shared = False
        self.add(parts)

    def add(self, parts: "list[_Object]") -> None:
        """Put objects into it."""
        for part in parts:
            self.size += part.size
            self.depth = max(self.depth, part.depth + 1)


# All that nothing is inside of: numbers, text, classes. Of the second kind a file chooses the hash.
_LEAF, _CHOSEN_LEAF = _Object([]), _Object([])
_LEAVES = (_LEAF, _CHOSEN_LEAF)


class _Objects:
    """The unpickler's stack and memo, without the values.

    Attributes:
        visits: Sizes of all objects that were put into others, added up: what hashing, comparing
            and walking through them takes.
        chosen_keys: How many keys of dictionaries and members of sets have hashes that the file
            chooses.
    """

    def __init__(self) -> None:
        self.visits = 0
        self.chosen_keys = 0
        self._stack: list[_Object] = []
        self._marks: list[int] = []
        self._memo: dict[object, _Object] = {}

    def step(self, opcode: pickletools.OpcodeInfo, argument: object) -> int:
        """Follow one opcode; return how many levels what is then on top of the stack has, or 0."""
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
            parts = self._taken(opcode, kept=1)
            self._count_keys(name, parts)
            self._fill(parts)
        else:
            self._replace(opcode, argument)
        return stack[-1].depth if stack else 0

    def _share(self, found: _Object) -> None:
        found.shared = found not in _LEAVES
        self._stack.append(found)

    def _fill(self, parts: list[_Object]) -> None:
        target = self._stack[-1]
        if target.shared:
            # Sizes of what it is inside of were taken before; no file of ours has circles.
            raise FileFormatError("expected no object inside itself, got one")
        if target in _LEAVES:  # a class, whose change its stand-in refuses
            target = self._stack[-1] = _Object([])
        target.add(parts)

    def _count_keys(self, name: str, parts: list[_Object]) -> None:
        if name == "SETITEM":  # taken from the top, the value first
            parts = parts[1:]
        elif name in ("SETITEMS", "DICT"):
            parts = parts[::2]
        elif name not in ("ADDITEMS", "FROZENSET"):
            return
        self.chosen_keys += sum(part is not _LEAF for part in parts)

    def _replace(self, opcode: pickletools.OpcodeInfo, argument: object) -> None:
        """Take what the opcode takes, and put what it puts."""
        parts = self._taken(opcode, kept=0)
        self._count_keys(opcode.name, parts)
        holds = bool(parts) or opcode.name.startswith("EMPTY_")
        large = isinstance(argument, int) and abs(argument) >= _HASH_MODULUS
        leaf = _CHOSEN_LEAF if large or isinstance(argument, float) else _LEAF
        made = [_Object(parts) if holds else leaf for _ in opcode.stack_after]
        self._stack.extend(made)

    def _taken(self, opcode: pickletools.OpcodeInfo, kept: int) -> list[_Object]:
        """Take what an opcode takes from the stack, but for the lowest ones."""
        before = opcode.stack_before[kept:]
        taken: list[_Object] = []
        if pickletools.markobject in before:
            start = self._marks.pop()
            taken = self._stack[start:]
            del self._stack[start:]
            before = before[: before.index(pickletools.markobject)]
        for _ in before:
            taken.append(self._stack.pop())
        self.visits += sum(part.size for part in taken)
        return taken
