"""Instructions for products of bfloat16 in the matrix registers of Intel's AMX.

Each of the eight registers holds 16 rows of 64 bytes. ``c += a b`` takes ``a`` as 16 rows of 32
bfloat16, ``b`` as 16 rows of 16 *pairs*, the elements of rows 2 k and 2 k + 1 of a column, and
``c`` as 16 rows of 16 float32 (Intel, Architecture Instruction Set Extensions, chapter 3). Inputs
and sums below 2 ** -126 count as zero.
"""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from struct import pack
from typing import Any

from gluonish.core.operating_system import LINUX
from gluonish.kernels.compiler.errors import KernelError
from gluonish.kernels.compiler.machine_code import host
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes

ROWS = 16  # of a register
ROW_NBYTES = 64
DEPTH = 32  # columns of `a` in a product

_REGISTERS = 8
_FEATURES = ("+amx-tile", "+amx-bf16", "+avx512f")
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18  # of Linux on x86-64


@cache
def has_amx() -> bool:
    """Whether this process may multiply bfloat16 with AMX; asks Linux for the permission."""
    if not LINUX or platform.machine() != "x86_64":
        return False
    try:
        features = host()[1].split(",")
    except KernelError:
        return False
    if not all(name in features for name in _FEATURES):
        return False
    system_call: Any = ctypes.CDLL(None).syscall
    granted: bool = system_call(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0
    return granted


class AmxAssembler(Assembler):
    """Writes a kernel that multiplies with AMX; see `Assembler`."""

    @contextmanager
    def registers(self) -> Iterator[None]:
        """Configure all registers to their full size for the ``with`` block.

        What was configured before is restored: libraries may keep their configuration.
        """
        before, ours = (self.reserve(self.number(ROW_NBYTES)) for _ in range(2))
        shape = pack("<BB14x", 1, 0) + pack("<16H", *[ROW_NBYTES] * _REGISTERS, *[0] * 8)
        shape += pack("<16B", *[ROWS] * _REGISTERS, *[0] * 8)
        for i in range(0, ROW_NBYTES, 8):
            word = self.number(int.from_bytes(shape[i : i + 8], "little"))
            self._builder.store(word, self._pointer(self.sum(ours, i), self._int64))
        self._call("sttilecfg", self._bytes_at(before))
        self._call("ldtilecfg", self._bytes_at(ours))
        yield
        self._call("ldtilecfg", self._bytes_at(before))

    def clear_register(self, number: int) -> None:
        """Set a register to zeros."""
        self._call("tilezero", self._register(number))

    def load_register(self, number: int, address: Value, step: Value | int) -> None:
        """Load a register from rows that are ``step`` bytes apart."""
        place = self._register(number), self._bytes_at(address), self._number(step)
        self._call("tileloadd64", *place)

    def store_register(self, number: int, address: Value, step: Value | int) -> None:
        """Store a register to rows that are ``step`` bytes apart."""
        place = self._register(number), self._bytes_at(address), self._number(step)
        self._call("tilestored64", *place)

    def add_product(self, c: int, a: int, b: int) -> None:
        """Add the product of registers ``a`` and ``b`` to ``c``."""
        self._call("tdpbf16ps", *map(self._register, (c, a, b)))

    def rounded_pairs(self, first: Value, second: Value) -> Value:
        """Return two vectors rounded to bfloat16, as pairs in one vector; halves go away from 0."""
        builder, kind = self._builder, self._ir.VectorType(self._ir.IntType(32), lanes())
        half, top, width = (
            self._ir.Constant(kind, [number] * lanes()) for number in (0x8000, 0xFFFF0000, 16)
        )
        low, high = (builder.add(builder.bitcast(x, kind), half) for x in (first, second))
        made = builder.or_(builder.lshr(low, width), builder.and_(high, top))
        return builder.bitcast(made, self._vector)

    def exact_pairs(self, first: Value, second: Value) -> Value:
        """Return two vectors of bfloat16 converted to float32 as pairs in one vector."""
        builder, kind = self._builder, self._ir.VectorType(self._ir.IntType(32), lanes())
        width = self._ir.Constant(kind, [16] * lanes())
        low, high = (builder.bitcast(x, kind) for x in (first, second))
        return builder.bitcast(builder.or_(builder.lshr(low, width), high), self._vector)

    def _register(self, number: int) -> Value:
        return self._ir.IntType(8)(number)

    def _bytes_at(self, address: Value) -> Value:
        return self._pointer(address, self._ir.IntType(8))

    def _call(self, name: str, *arguments: Value) -> None:
        full = f"llvm.x86.{name}"
        function = self._module.globals.get(full)
        if function is None:
            kind = self._ir.FunctionType(self._ir.VoidType(), [x.type for x in arguments])
            function = self._ir.Function(self._module, kind, full)
        self._builder.call(function, arguments)
