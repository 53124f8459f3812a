"""Blocks of float32 as three bfloat16 of each element: how they are packed and multiplied by AMX.

See `split_products`, which explains why products of the parts are exact enough.

Parts are packed as registers are loaded: blocks of 32 rows of the left operand, or columns of the
right one, by 32 terms of the sums; pairs of neighbouring parts in a register are the terms i and
i + 16 of these, so that packing a row moves no element across lanes.
"""

from collections.abc import Sequence
from ctypes import addressof, c_int64
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.amx_code import DEPTH, ROW_NBYTES, ROWS, AmxAssembler
from gluonish.kernels.compiler.team_code import TeamAssembler
from gluonish.kernels.compiler.vector_code import Value
from gluonish.ops.kernel import Array, address

FLOAT = 4  # bytes
SIDE = 2 * ROWS  # rows or columns of a block
PARTS = 3
REGISTER = ROWS * ROW_NBYTES  # bytes
BLOCK = 2 * PARTS * REGISTER  # bytes of a packed block of 32 terms
INTEGER = 8  # bytes
PACKING = "out x top rows terms step"
PACKING_NBYTES = INTEGER * len(PACKING.split())
# Parts of the operands in the order in which their products are added, the smallest first.
_PAIRS = ((0, 2), (0, 1), (1, 1), (1, 0), (2, 0), (0, 0))

# Bits of the magnitudes between which an operand's largest element must be: 2 ** -80 and 2 ** 60.
LOWEST, HIGHEST = (127 - 80) << 23, (127 + 60) << 23


class SplitAssembler(AmxAssembler, TeamAssembler):
    """Adds what is special to splitting numbers; see the base classes."""

    def rounded(self, x: Value) -> Value:
        """Return a vector rounded to bfloat16, as float32; halves go away from 0."""
        half, top = self._bits(0x8000), self._bits(0xFFFF0000)
        rounded = self._builder.add(self._builder.bitcast(x, half.type), half)
        return self._builder.bitcast(self._builder.and_(rounded, top), self._vector)

    def truncated(self, x: Value) -> Value:
        """Return a vector cut to bfloat16, as float32."""
        top = self._bits(0xFFFF0000)
        cut = self._builder.and_(self._builder.bitcast(x, top.type), top)
        return self._builder.bitcast(cut, self._vector)

    def larger_magnitude(self, x: Value, top: Value) -> Value:
        """Return the larger of magnitudes and ``top``; NaN counts as largest."""
        mask = self._bits(0x7FFFFFFF)
        bits, limit = (self._builder.bitcast(value, mask.type) for value in (x, top))
        bits = self._builder.and_(bits, mask)
        larger = self._builder.icmp_unsigned(">", bits, limit)
        return self._builder.bitcast(self._builder.select(larger, bits, limit), self._vector)

    def raise_to(self, address: Value, magnitudes: Value) -> None:
        """Replace an integer in memory, which other threads change, by the bits of a larger one."""
        kind = self._bits(0).type
        integers = self._builder.bitcast(magnitudes, kind)
        name = f"llvm.vector.reduce.umax.v{ROWS}i32"
        function = self._external(name, self._ir.IntType(32), [kind])
        top = self._builder.zext(self._builder.call(function, [integers]), self._int64)
        pointer = self._pointer(address, self._int64)
        self._builder.atomic_rmw("max", pointer, top, "monotonic")

    def invoke_packing(self, kernel: Value, memory: Value, count: Value, **values: Value) -> None:
        """Pack some blocks of rows by a kernel of `packing`.

        Args:
            kernel: The kernel's address.
            memory: Address of `PACKING_NBYTES` bytes, for its params.
            count: How many blocks of rows.
            **values: The params.
        """
        for i, name in enumerate(PACKING.split()):
            self.store_int64(values[name], self.sum(memory, i * INTEGER))
        self.invoke(kernel, count, memory, count, self.number(1), self.number(0))

    def lanes_if(self, condition: Value, lanes: Value) -> Value:
        """Return some lanes if a condition holds, else none."""
        return self._builder.select(condition, lanes, lanes.type(None))

    def _bits(self, value: int) -> Value:
        kind = self._ir.VectorType(self._ir.IntType(32), ROWS)
        return self._ir.Constant(kind, [value] * ROWS)


class Packing(NamedTuple):
    """What the code that packs depends on.

    Attributes:
        left: Whether a register's rows are the operand's, and not its terms.
        by_terms: Whether neighbours in memory are terms of a sum.
    """

    left: bool
    by_terms: bool


def _write_packing(code: SplitAssembler, form: Packing) -> None:
    """Write the loop over blocks of rows (of a right operand: columns), along memory."""
    params = code.params
    blocks, _ = code.divide(code.sum(params["terms"], DEPTH - 1), code.number(DEPTH))
    top = code.reserve(code.number(ROW_NBYTES))
    code.store(code.zeros(), top)
    extents = [(code.begin, code.end), (0, blocks)]
    order = 1 if form.by_terms else -1
    with code.loop(*extents[::order][0]) as outer, code.loop(*extents[::order][1]) as inner:
        block, k = (outer, inner)[::order]
        number = code.sum(code.product(block, blocks), k)
        start = code.sum(params["out"], code.product(number, BLOCK))
        with code.loop(0, 2) as half:
            row = code.sum(code.product(block, SIDE), code.product(half, ROWS))
            vectors = _loaded(code, form, row, code.product(k, DEPTH))
            _store_parts(code, form, vectors, code.sum(start, code.product(half, REGISTER)), top)
    code.raise_to(params["top"], code.load(top))


def _loaded(code: SplitAssembler, form: Packing, row: Value, term: Value) -> list[Value]:
    """Load 16 rows by 32 terms as vectors along memory.

    Terms that are not there are zeros; a row that is not there is any other one.
    """
    params = code.params
    made = []
    following = code.number(DEPTH * FLOAT)  # offset of what is loaded next
    if not form.by_terms:
        following = code.product(params["step"], DEPTH)
    for half in range(2):
        if form.by_terms:
            start, line = code.sum(term, half * ROWS), row
            lanes = code.first_lanes(code.difference(params["terms"], start))
        else:
            start, line = row, code.sum(term, half * ROWS)
            lanes = code.first_lanes(code.difference(params["rows"], start))
        last = code.difference(params["rows" if form.by_terms else "terms"], 1)
        at = code.sum(params["x"], code.product(start, FLOAT))
        for i in range(ROWS):
            number = code.sum(line, i)
            where = (
                lanes if form.by_terms else code.lanes_if(code.less(number, params["terms"]), lanes)
            )
            place = code.sum(at, code.product(code.least(number, last), params["step"]))
            code.prefetch(code.sum(place, following))
            made.append(code.load_where(place, where))
    return made


def _store_parts(
    code: SplitAssembler, form: Packing, vectors: list[Value], at: Value, top: Value
) -> None:
    """Store the parts of 16 pairs of vectors as a register of each, and the largest magnitudes."""
    tops = code.load(top)
    for vector in vectors:
        tops = code.larger_magnitude(vector, tops)
    code.store(tops, top)
    if form.left != form.by_terms:
        vectors = code.transpose(vectors[:ROWS]) + code.transpose(vectors[ROWS:])
    for i in range(ROWS):
        pair = [vectors[i], vectors[i + ROWS]]
        for part in range(PARTS):
            # What is left after two parts has no more bits than bfloat16, unless it is subnormal.
            found = [code.rounded(x) for x in pair]
            if part == PARTS - 1:
                found = [pair[0], code.truncated(pair[1])]
            offset = part * 2 * REGISTER + i * ROW_NBYTES
            code.store(code.exact_pairs(*found), code.sum(at, offset))
            pair = [code.subtract(x, y) for x, y in zip(pair, found, strict=True)]


def add_products(code: SplitAssembler, places: Sequence[Value], following: Sequence[Value]) -> None:
    """Add the products of the parts of two blocks; registers 4 to 7 have the operands.

    Args:
        places: Addresses of the left block and the right one.
        following: Addresses of the blocks to read into the first cache.
    """
    loaded = {4: -1, 6: -1}
    # Between products, the next blocks are read into the first cache.
    lines = [
        code.sum(place, offset) for place in following for offset in range(0, BLOCK, ROW_NBYTES)
    ]
    each = len(lines) // (4 * len(_PAIRS))
    for pair in _PAIRS:
        for register, place, part in zip((4, 6), places, pair, strict=True):
            if part == loaded[register]:
                continue
            loaded[register] = part
            for half in range(2):
                source = code.sum(place, (2 * part + half) * REGISTER)
                code.load_register(register + half, source, ROW_NBYTES)
        for i in range(4):
            code.add_product(i, 4 + i // 2, 6 + i % 2)
            for line in lines[:each]:
                code.prefetch(line)
            del lines[:each]


@lru_cache(8)
def packing(form: Packing) -> CompiledKernel:
    """Return the kernel that packs; its params are `PACKING`, its extent is blocks of rows."""

    def text() -> str:
        code = SplitAssembler(PACKING)
        _write_packing(code, form)
        return code.finish()

    return compile_assembly(f"split products: packing {form}", text, __name__)


def is_exact(top: int) -> bool:
    """Whether the parts of numbers are exact, given the bits of the largest magnitude."""
    return LOWEST <= top < HIGHEST


def packing_of(x: Array, *, left: bool) -> tuple[CompiledKernel, int]:
    """Return the kernel that packs an operand (rows or columns, terms), and the lines' distance."""
    by_terms = x.strides[1] == FLOAT
    step = x.strides[0] if by_terms else x.strides[1]
    return packing(Packing(left=left, by_terms=by_terms)), step


def packed(memory: Array, x: Array, *, left: bool) -> int:
    """Pack an operand; return the bits of its largest magnitude."""
    top = np.zeros(1, np.int64)
    kernel, step = packing_of(x, left=left)
    params = (c_int64 * len(PACKING.split()))(
        *(address(memory), address(x), address(top), *x.shape, step)
    )
    kernel.run_at(-(-len(x) // SIDE), addressof(params), 1)
    return int(top[0])
