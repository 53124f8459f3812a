"""Large products of float32 matrices by AMX, as exact as those of float32.

Each element is the exact sum of three bfloat16: of the element, of what is left, and of what is
left then. Six of the nine products of such parts are added in float32; those of the last with the
second or the last part, below 2 ** -26 of the product, are left out. So an element of the result is
as near to the exact one as with products and sums of float32, and takes half of the time.

AMX takes numbers below 2 ** -126 for zeros, and infinities have no such parts. So the operands'
largest elements are found while they are packed, and the library multiplies if one is not between
the bounds below: parts of elements far below the largest one do not matter.

Parts are packed as registers are loaded: blocks of 32 rows of the left operand, or columns of the
right one, by 32 terms of the sums; pairs of neighbouring parts in a register are the terms i and
i + 16 of these, so that packing a row moves no element across lanes. Operands are packed in pieces
that stay in the caches. Sums are added in an order that depends on the sizes only.

References:
    G. Henry, P. Tang, A. Heinecke, Leveraging the bfloat16 Artificial Intelligence Datatype for
    Higher-Precision Computations, 2019.
"""

from collections.abc import Sequence
from ctypes import addressof, c_int64
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available, compile_assembly
from gluonish.kernels.compiler.amx_code import DEPTH, ROW_NBYTES, ROWS, AmxAssembler, has_amx
from gluonish.kernels.compiler.team_code import TeamAssembler
from gluonish.kernels.compiler.vector_code import Value
from gluonish.kernels.generated.scratch import Scratch
from gluonish.kernels.generated.wide_products import finish_rows, has_activation
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn import sgemm
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED

_FLOAT = 4  # bytes
_SIDE = 2 * ROWS  # rows or columns of a block
_PARTS = 3
_REGISTER = ROWS * ROW_NBYTES  # bytes
_BLOCK = 2 * _PARTS * _REGISTER  # bytes of a packed block of 32 terms
_TERMS = 36  # blocks of terms that are added before the sums are stored
_NEAR = 7 << 17  # packed bytes of the larger operand that a task reads again and again
_TASKS = 2  # for each thread, at least
_AHEAD = 4  # panels of the near operand after which the next far panel is in the second cache
_INTEGER = 8  # bytes
_PACKING = "out x top rows terms step"
_PRODUCT = (
    "out near far bias rows columns blocks out_row adds near_is_left near_panels tasks threads "
    "claims tops pack x x_row x_step terms"
)
# Parts of the operands in the order in which their products are added, the smallest first.
_PAIRS = ((0, 2), (0, 1), (1, 1), (1, 0), (2, 0), (0, 0))

# Bits of the magnitudes between which an operand's largest element must be: 2 ** -80 and 2 ** 60.
_LOWEST, _HIGHEST = (127 - 80) << 23, (127 + 60) << 23
# Multiplications from which the library is slower, and the least number of terms. Each element is
# packed for as many products as there are rows or columns: of 512 rows, 1024 columns are worth it.
_LARGE = 1 << 27
_NARROW = 256
_REUSE = 300  # products of rows and columns for each of them


class _Code(AmxAssembler, TeamAssembler):
    """Adds what is special to splitting numbers; see the base classes."""

    def rounded(self, x: Value) -> Value:
        """Return a vector rounded to bfloat16, as float32; halves go away from 0."""
        half, top = self._bits(0x8000), self._bits(0xFFFF0000)
        rounded = self._builder.add(self._builder.bitcast(x, half.type), half)
        return self._builder.bitcast(self._builder.and_(rounded, top), self._vector)

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

    def _bits(self, value: int) -> Value:
        kind = self._ir.VectorType(self._ir.IntType(32), ROWS)
        return self._ir.Constant(kind, [value] * ROWS)


class _Packing(NamedTuple):
    """What the code that packs depends on.

    Attributes:
        left: Whether a register's rows are the operand's, and not its terms.
        by_terms: Whether neighbours in memory are terms of a sum.
    """

    left: bool
    by_terms: bool


def _write_packing(code: _Code, form: _Packing) -> None:
    """Write the loop over blocks of rows (of a right operand: columns)."""
    params = code.params
    blocks, _ = code.divide(code.sum(params["terms"], DEPTH - 1), code.number(DEPTH))
    top = code.reserve(code.number(ROW_NBYTES))
    with code.loop(code.begin, code.end) as block:
        start = code.sum(params["out"], code.product(block, blocks, _BLOCK))
        code.store(code.zeros(), top)
        with code.loop(0, blocks) as k, code.loop(0, 2) as half:
            row = code.sum(code.product(block, _SIDE), code.product(half, ROWS))
            vectors = _loaded(code, form, row, code.product(k, DEPTH))
            at = code.sum(start, code.product(k, _BLOCK), code.product(half, _REGISTER))
            _store_parts(code, form, vectors, at, top)
        code.raise_to(params["top"], code.load(top))


def _loaded(code: _Code, form: _Packing, row: Value, term: Value) -> list[Value]:
    """Load 16 rows by 32 terms as vectors along memory; what is outside is zeros."""
    params = code.params
    lines, along = (row, term) if form.by_terms else (term, row)
    line_end, along_end = params["rows"], params["terms"]
    if not form.by_terms:
        line_end, along_end = along_end, line_end
    made = []
    for half in range(2):
        start = code.sum(along, half * ROWS) if form.by_terms else along
        rest = code.difference(along_end, start)
        for i in range(ROWS):
            line = code.sum(lines, i if form.by_terms else i + half * ROWS)
            offset = code.sum(code.product(line, params["step"]), code.product(start, _FLOAT))
            count = code.select(code.less(line, line_end), rest, 0)
            at = code.sum(params["x"], offset)
            made.append(code.load_where(at, code.first_lanes(count)))
    return made


def _store_parts(code: _Code, form: _Packing, vectors: list[Value], at: Value, top: Value) -> None:
    """Store the parts of 16 pairs of vectors as a register of each, and the largest magnitudes."""
    tops = code.load(top)
    for vector in vectors:
        tops = code.larger_magnitude(vector, tops)
    code.store(tops, top)
    if form.left != form.by_terms:
        vectors = code.transpose(vectors[:ROWS]) + code.transpose(vectors[ROWS:])
    for i in range(ROWS):
        pair = [vectors[i], vectors[i + ROWS]]
        for part in range(_PARTS):
            # What is left after two parts has no more bits than bfloat16.
            found = pair if part == _PARTS - 1 else [code.rounded(x) for x in pair]
            offset = part * 2 * _REGISTER + i * ROW_NBYTES
            code.store(code.exact_pairs(*found), code.sum(at, offset))
            pair = [code.subtract(x, y) for x, y in zip(pair, found, strict=True)]


class _Block(NamedTuple):
    """A block of the output, and packed operands: the near one and the far one.

    Attributes:
        far: Number of the far operand's panel.
        near: Number of the near operand's panel.
        places: Addresses of the near and the far panel.
        following: Addresses of the panels of the next block.
        done: Bytes of the near operand that this far panel was multiplied by before.
        ahead: Address of the next far panel.
    """

    far: Value
    near: Value
    places: Sequence[Value]
    following: Sequence[Value]
    done: Value
    ahead: Value


class _Writer:
    """Writes the loop over tasks: each packs some blocks of the near operand, and multiplies them.

    The packed near operand stays in the second cache while the far one is read once.
    """

    def __init__(self, code: _Code) -> None:
        self.code = code
        self.rows, self.columns = code.params["rows"], code.params["columns"]
        self.out_row = code.params["out_row"]
        self.panel = code.product(code.params["blocks"], _BLOCK)  # bytes
        self.is_left = code.less(0, code.params["near_is_left"])
        self.edge = code.reserve(code.number(_SIDE * _SIDE * _FLOAT))
        self.packing = code.reserve(code.number(_INTEGER * len(_PACKING.split())))

    def write(self) -> None:
        """Write the loop; a thread without tasks of its own takes those of others."""
        code, params = self.code, self.code.params
        tasks, threads = params["tasks"], params["threads"]
        near_size = code.select(self.is_left, self.rows, self.columns)
        far_size = code.select(self.is_left, self.columns, self.rows)
        panels, self.far_panels = self._blocks(near_size), self._blocks(far_size)
        with code.registers(), code.loop(code.begin, code.end) as thread:
            memory = code.sum(
                params["near"], code.product(thread, params["near_panels"], self.panel)
            )
            own, _ = code.divide(code.product(thread, tasks), threads)
            with code.loop(0, tasks) as i:
                _, task = code.divide(code.sum(own, i), tasks)
                place = code.product(task, _INTEGER)
                with code.when(code.claim(code.sum(params["claims"], place), code.number(0))):
                    first, _ = code.divide(code.product(task, panels), tasks)
                    end, _ = code.divide(code.product(code.sum(task, 1), panels), tasks)
                    top = code.sum(params["tops"], place)
                    self._pack(memory, first, end, code.difference(near_size, 0), top)
                    self._multiply(memory, first, end, code.load_int64(top))

    def _blocks(self, extent: Value) -> Value:
        return self.code.divide(self.code.sum(extent, _SIDE - 1), self.code.number(_SIDE))[0]

    def _pack(self, memory: Value, first: Value, end: Value, size: Value, top: Value) -> None:
        """Call the kernel that packs, with its params on the stack."""
        code, params = self.code, self.code.params
        row = code.product(first, _SIDE)
        values = {
            "out": memory,
            "x": code.sum(params["x"], code.product(row, params["x_row"])),
            "top": top,
            "rows": code.difference(size, row),
            "terms": params["terms"],
            "step": params["x_step"],
        }
        for i, name in enumerate(_PACKING.split()):
            code.store_int64(values[name], code.sum(self.packing, i * _INTEGER))
        count = code.difference(end, first)
        alone = code.number(1), code.number(0)
        code.invoke(params["pack"], count, self.packing, count, *alone)

    def _multiply(self, memory: Value, first: Value, end: Value, top: Value) -> None:
        """Multiply packed blocks by all of the far operand, if the parts are exact."""
        code, far = self.code, self.code.params["far"]
        is_exact = code.both(code.less(_LOWEST - 1, top), code.less(top, _HIGHEST))
        count = code.select(is_exact, self.far_panels, 0)
        last = code.difference(end, 1)
        with code.loop(0, count) as f, code.loop(first, end) as n:
            done = code.product(code.difference(n, first), self.panel)
            own = code.sum(memory, done)
            other = code.sum(far, code.product(f, self.panel))
            is_last = code.less(code.difference(last, 1), n)
            following = (
                code.select(is_last, memory, code.sum(own, self.panel)),
                code.select(is_last, code.sum(other, self.panel), other),
            )
            block = _Block(f, n, (own, other), following, done, code.sum(other, self.panel))
            self._block(block)

    def _block(self, block: _Block) -> None:
        """Compute a block; through memory of its own at the edges of the output."""
        code, params = self.code, self.code.params
        m = code.select(self.is_left, block.near, block.far)
        n = code.select(self.is_left, block.far, block.near)
        row, column = code.product(m, _SIDE), code.product(n, _SIDE)
        rows, columns = code.difference(self.rows, row), code.difference(self.columns, column)
        out = code.sum(params["out"], code.product(row, self.out_row), code.product(column, _FLOAT))
        is_whole = code.both(code.less(_SIDE - 1, rows), code.less(_SIDE - 1, columns))
        at = code.select(is_whole, out, self.edge)
        step = code.select(is_whole, self.out_row, _SIDE * _FLOAT)
        adds = code.less(0, params["adds"])
        with code.when(code.both(adds, code.unless(is_whole))):
            self._copy_edge(out, rows, columns, back=False)
        # A step of 0 loads the bias to all rows of a register.
        bias = code.sum(params["bias"], code.product(column, _FLOAT))
        before, before_step = code.select(adds, at, bias), code.select(adds, step, 0)
        for i in range(4):
            code.load_register(i, self._quarter(before, before_step, i), before_step)
        last = code.difference(self.panel, _BLOCK)
        with code.loop(0, self.panel, _BLOCK) as offset:
            self._read_ahead(block, offset, at, step)
            here = [code.sum(place, offset) for place in block.places]
            is_last = code.less(code.difference(last, 1), offset)
            after = [
                code.select(is_last, place, code.sum(x, _BLOCK))
                for place, x in zip(block.following, here, strict=True)
            ]
            sides = [
                [code.select(self.is_left, x, y), code.select(self.is_left, y, x)]
                for x, y in (here, after)
            ]
            self._add_products(*sides)
        for i in range(4):
            code.store_register(i, self._quarter(at, step, i), step)
        with code.when(code.unless(is_whole)):
            self._copy_edge(out, rows, columns, back=True)

    def _read_ahead(self, block: _Block, offset: Value, at: Value, step: Value) -> None:
        """Read lines of the output, and into the second cache of the far operand's next panel."""
        code = self.code
        row, _ = code.divide(offset, code.number(_BLOCK // 2))
        row = code.least(row, code.number(_SIDE - 2))
        for i in range(2):
            line = code.sum(at, code.product(code.sum(row, i), step))
            for half in range(2):
                code.prefetch(code.sum(line, half * ROW_NBYTES), writes=True)
        nbytes = _BLOCK // _AHEAD
        done, _ = code.divide(code.sum(block.done, offset), code.number(_AHEAD))
        start = code.sum(block.ahead, code.least(done, code.difference(self.panel, nbytes)))
        for i in range(0, nbytes, ROW_NBYTES):
            code.prefetch(code.sum(start, i), level=2)

    def _quarter(self, at: Value, step: Value, number: int) -> Value:
        """Return the address of the part of a block that a register holds."""
        lower = self.code.product(step, number // 2 * ROWS)
        return self.code.sum(at, lower, number % 2 * ROW_NBYTES)

    def _add_products(self, places: Sequence[Value], following: Sequence[Value]) -> None:
        """Add the products of the parts of two blocks; registers 4 to 7 have the operands."""
        code = self.code
        loaded = {4: -1, 6: -1}
        # Between products, the next blocks are read into the first cache.
        lines = [
            code.sum(place, offset)
            for place in following
            for offset in range(0, _BLOCK, ROW_NBYTES)
        ]
        each = len(lines) // (4 * len(_PAIRS))
        for pair in _PAIRS:
            for register, place, part in zip((4, 6), places, pair, strict=True):
                if part == loaded[register]:
                    continue
                loaded[register] = part
                for half in range(2):
                    source = code.sum(place, (2 * part + half) * _REGISTER)
                    code.load_register(register + half, source, ROW_NBYTES)
            for i in range(4):
                code.add_product(i, 4 + i // 2, 6 + i % 2)
                for line in lines[:each]:
                    code.prefetch(line)
                del lines[:each]

    def _copy_edge(self, out: Value, rows: Value, columns: Value, *, back: bool) -> None:
        """Copy what there is of a block from the output, or back."""
        code = self.code
        lanes = [code.first_lanes(code.difference(columns, i * ROWS)) for i in range(2)]
        with code.loop(0, code.least(rows, code.number(_SIDE))) as i:
            for half, where in enumerate(lanes):
                place = code.sum(out, code.product(i, self.out_row), half * ROW_NBYTES)
                own = code.sum(self.edge, code.product(i, _SIDE * _FLOAT), half * ROW_NBYTES)
                if back:
                    code.store_where(code.load(own), place, where)
                else:
                    code.store(code.load_where(place, where), own)


@lru_cache(8)
def _packing(form: _Packing) -> CompiledKernel:
    def text() -> str:
        code = _Code(_PACKING)
        _write_packing(code, form)
        return code.finish()

    return compile_assembly(f"split products: packing {form}", text, __name__)


@cache
def _product() -> CompiledKernel:
    def text() -> str:
        code = _Code(_PRODUCT)
        _Writer(code).write()
        return code.finish()

    return compile_assembly("split products", text, __name__)


def supports(rows: int, terms: int, columns: int) -> bool:
    """Whether `product` is faster than the library, and this processor has AMX."""
    return (
        terms >= _NARROW
        and rows * columns >= _REUSE * (rows + columns)
        and rows * columns * terms >= _LARGE
        and has_amx()
        and available()
        and MXNET_USE_FUSION.value
        and onednn.enabled()  # which multiplies what this cannot
    )


def product(
    out: Array, a: Array, b: Array, bias: Array | None = None, *, add: bool = False
) -> None:
    """Compute ``out = a b + bias``, or ``out += a b`` with ``add``.

    Args:
        out: Matrix of contiguous rows.
        a: Matrix of contiguous rows or columns.
        b: The same.
        bias: A number for each column; None for none.

    Raises:
        RefusedError: A matrix has gaps in both axes.
    """
    for name, x, steps in (("out", out, out.strides[1:]), ("a", a, a.strides), ("b", b, b.strides)):
        if _FLOAT not in steps or min(x.strides) < _FLOAT:
            raise RefusedError(
                f"split_products: expected {name} with contiguous rows, got strides {x.strides}"
            )
    wide = np.zeros(-(-out.shape[1] // _SIDE) * _SIDE, FLOAT32)
    if bias is not None:
        wide[: out.shape[1]] = bias.reshape(-1)
    blocks = -(-a.shape[1] // DEPTH)
    depth = -(-blocks // -(-blocks // _TERMS)) * DEPTH
    for start in range(0, a.shape[1], depth):
        end = min(start + depth, a.shape[1])
        _add(out, a[:, start:end], b[start:end], wide, add=add or start > 0)


def _add(out: Array, a: Array, b: Array, bias: Array, *, add: bool) -> None:
    """Do the same with few terms; the larger operand is packed in pieces, the near one."""
    blocks = -(-a.shape[1] // DEPTH)
    is_left = len(out) > out.shape[1]
    near, far = (a, b.T) if is_left else (b.T, a)
    panels, far_panels = (-(-len(x) // _SIDE) for x in (near, far))
    threads = 1 if openmp.is_disabled() else openmp.team().threads()
    tasks = max(-(-panels * blocks * _BLOCK // _NEAR), _TASKS * threads)
    tasks = min(-(-tasks // threads) * threads, panels)
    threads = min(threads, tasks)
    near_panels = -(-panels // tasks)
    count = far_panels * blocks * _BLOCK // _FLOAT
    notes = np.zeros((2, tasks), np.int64)  # which tasks are taken, largest magnitudes
    with Scratch(count + threads * near_panels * blocks * _BLOCK // _FLOAT) as memory:
        if _is_exact(_packed(memory, far, left=not is_left)):
            pack, step = _packing_of(near, left=is_left)
            values = {
                **{"out": address(out), "far": address(memory), "near": address(memory[count:])},
                **{"bias": address(bias), "x": address(near), "terms": near.shape[1]},
                **{"claims": address(notes), "tops": address(notes[1]), "pack": pack.address},
                **{"rows": len(out), "columns": out.shape[1], "blocks": blocks},
                **{"out_row": out.strides[0], "x_row": near.strides[0], "x_step": step},
                **{"near_panels": near_panels, "tasks": tasks, "threads": threads},
                **{"near_is_left": is_left, "adds": add},
            }
            names = _PRODUCT.split()
            params = (c_int64 * len(names))(*(values[name] for name in names))
            _product().run_threads(threads, addressof(params))
    for task, top in enumerate(notes[1].tolist()):
        if _is_exact(top):
            continue
        piece = slice(*(i * panels // tasks * _SIDE for i in (task, task + 1)))
        target, x, y, addend = out[:, piece], a, b[:, piece], bias[piece]
        if is_left:
            target, x, y, addend = out[piece], a[piece], b, bias
        sgemm.product(target, x, y, add=add)
        if not add:
            target += addend[: target.shape[1]]


def _is_exact(top: int) -> bool:
    """Whether the parts of numbers are exact, given the bits of the largest magnitude."""
    return _LOWEST <= top < _HIGHEST


def _packing_of(x: Array, *, left: bool) -> tuple[CompiledKernel, int]:
    """Return the kernel that packs an operand (rows or columns, terms), and the lines' distance."""
    by_terms = x.strides[1] == _FLOAT
    step = x.strides[0] if by_terms else x.strides[1]
    return _packing(_Packing(left=left, by_terms=by_terms)), step


def _packed(memory: Array, x: Array, *, left: bool) -> int:
    """Pack an operand; return the bits of its largest magnitude."""
    top = np.zeros(1, np.int64)
    kernel, step = _packing_of(x, left=left)
    params = (c_int64 * len(_PACKING.split()))(
        *(address(memory), address(x), address(top), *x.shape, step)
    )
    kernel.run_at(-(-len(x) // _SIDE), addressof(params), 1)
    return int(top[0])


def _supports_dot(lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, **_: Any) -> bool:
    if len(lhs.shape) != 2 or len(rhs.shape) != 2 or lhs.dtype != FLOAT32 or rhs.dtype != FLOAT32:
        return False
    rows, terms = lhs.shape[::-1] if transpose_a else lhs.shape
    return supports(rows, terms, rhs.shape[0 if transpose_b else 1])


def _dot(
    xp: ModuleType,
    out: Array,
    lhs: Array,
    rhs: Array,
    *,
    transpose_a: bool,
    transpose_b: bool,
    **_: Any,
) -> None:
    product(out, lhs.T if transpose_a else lhs, rhs.T if transpose_b else rhs)


def _supports_dense(
    data: Spec, weight: Spec, *rest: Spec, activation: str | None = None, **_: Any
) -> bool:
    if any(x.dtype != FLOAT32 for x in (data, weight, *rest)) or not has_activation(activation):
        return False
    units, terms = weight.shape
    return supports(data.size // max(1, terms), terms, units)


def _dense(
    xp: ModuleType,
    out: Array,
    data: Array,
    weight: Array,
    *rest: Array,
    no_bias: bool,
    activation: str | None = None,
    with_sum: bool = False,
    **_: Any,
) -> None:
    if not all(x.flags.c_contiguous for x in (out, data, weight, *rest)):
        raise RefusedError("split_products: expected contiguous arrays, got strided ones")
    units, terms = weight.shape
    rows, made = data.reshape(-1, terms), out.reshape(-1, units)
    bias = None if no_bias else rest[0]
    if not with_sum:
        product(made, rows, weight.T, bias)
        if activation is not None:
            finish_rows(made, made, None, activation)
        return
    with Scratch(made.size) as memory:  # the output may be the addend
        sums = memory[: made.size].reshape(made.shape)
        product(sums, rows, weight.T, bias)
        finish_rows(made, sums, rest[-1].reshape(made.shape), activation)


KERNELS = tuple(
    (op, FastKernel(BackEnd.GENERATED, name, supports_call, run=run))
    for op, name, supports_call, run in (
        (DOT, "split_dot", _supports_dot, _dot),
        (FULLY_CONNECTED, "split_dense", _supports_dense, _dense),
        (FUSED_DENSE, "split_dense", _supports_dense, _dense),
    )
)
