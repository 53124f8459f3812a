"""Large products of float32 matrices by AMX, as exact as those of float32.

Each element is the exact sum of three bfloat16: of the element, of what is left, and of what is
left then. Six of the nine products of such parts are added in float32; those of the last with the
second or the last part, below 2 ** -26 of the product, are left out. So an element of the result is
as near to the exact one as with products and sums of float32, and takes half of the time.

AMX takes numbers below 2 ** -126 for zeros, and infinities have no such parts. So the operands'
largest elements are found while they are packed, and the library multiplies if one is not between
the bounds below: parts of elements far below the largest one do not matter.

The larger operand, the near one, is packed in pieces that stay in the second cache of the core that
multiplies them; the far one is packed before. Sums are added in an order that depends on the sizes
only.

References:
    G. Henry, P. Tang, A. Heinecke, Leveraging the bfloat16 Artificial Intelligence Datatype for
    Higher-Precision Computations, 2019.
"""

from collections.abc import Sequence
from ctypes import addressof, c_int64
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels import openmp
from gluonish.kernels.compiler import CompiledKernel, available, compile_assembly
from gluonish.kernels.compiler.amx_code import DEPTH, ROW_NBYTES, ROWS, has_amx
from gluonish.kernels.compiler.vector_code import Value
from gluonish.kernels.generated import split_blocks
from gluonish.kernels.generated.scratch import Scratch
from gluonish.kernels.generated.split_blocks import (
    BLOCK,
    FLOAT,
    HIGHEST,
    INTEGER,
    LOWEST,
    PACKING_NBYTES,
    SIDE,
    SplitAssembler,
    add_products,
    is_exact,
    packed,
    packing_of,
)
from gluonish.kernels.generated.wide_products import finish_rows, has_activation
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn import sgemm
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError, address
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED

_TERMS = 36  # blocks of terms that are added before the sums are stored
_NEAR = 7 << 17  # packed bytes of the larger operand that a task reads again and again
_TASKS = 2  # for each thread, at least
_AHEAD = 4  # panels of the near operand after which the next far panel is in the second cache
_PRODUCT = (
    "out near far bias rows columns blocks out_row adds near_is_left near_panels tasks threads "
    "claims tops pack x x_row x_step terms"
)
# Multiplications from which the library is slower, and the least number of terms. Each element is
# packed for as many products as there are rows or columns: of 512 rows, 1024 columns are worth it.
_LARGE = 1 << 27
_NARROW = 256
_REUSE = 300  # products of rows and columns for each of them


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

    def __init__(self, code: SplitAssembler) -> None:
        self.code = code
        self.rows, self.columns = code.params["rows"], code.params["columns"]
        self.out_row = code.params["out_row"]
        self.panel = code.product(code.params["blocks"], BLOCK)  # bytes
        self.is_left = code.less(0, code.params["near_is_left"])
        self.edge = code.reserve(code.number(SIDE * SIDE * FLOAT))
        self.packing = code.reserve(code.number(PACKING_NBYTES))

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
                place = code.product(task, INTEGER)
                with code.when(code.claim(code.sum(params["claims"], place), code.number(0))):
                    first, _ = code.divide(code.product(task, panels), tasks)
                    end, _ = code.divide(code.product(code.sum(task, 1), panels), tasks)
                    top = code.sum(params["tops"], place)
                    self._pack(memory, first, end, code.difference(near_size, 0), top)
                    self._multiply(memory, first, end, code.load_int64(top))

    def _blocks(self, extent: Value) -> Value:
        return self.code.divide(self.code.sum(extent, SIDE - 1), self.code.number(SIDE))[0]

    def _pack(self, memory: Value, first: Value, end: Value, size: Value, top: Value) -> None:
        """Call the kernel that packs, with its params on the stack."""
        code, params = self.code, self.code.params
        row = code.product(first, SIDE)
        code.invoke_packing(
            params["pack"],
            self.packing,
            code.difference(end, first),
            out=memory,
            x=code.sum(params["x"], code.product(row, params["x_row"])),
            top=top,
            rows=code.difference(size, row),
            terms=params["terms"],
            step=params["x_step"],
        )

    def _multiply(self, memory: Value, first: Value, end: Value, top: Value) -> None:
        """Multiply packed blocks by all of the far operand, if the parts are exact."""
        code, far = self.code, self.code.params["far"]
        is_exact = code.both(code.less(LOWEST - 1, top), code.less(top, HIGHEST))
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
        row, column = code.product(m, SIDE), code.product(n, SIDE)
        rows, columns = code.difference(self.rows, row), code.difference(self.columns, column)
        out = code.sum(params["out"], code.product(row, self.out_row), code.product(column, FLOAT))
        is_whole = code.both(code.less(SIDE - 1, rows), code.less(SIDE - 1, columns))
        at = code.select(is_whole, out, self.edge)
        step = code.select(is_whole, self.out_row, SIDE * FLOAT)
        adds = code.less(0, params["adds"])
        with code.when(code.both(adds, code.unless(is_whole))):
            self._copy_edge(out, rows, columns, back=False)
        # A step of 0 loads the bias to all rows of a register.
        bias = code.sum(params["bias"], code.product(column, FLOAT))
        before, before_step = code.select(adds, at, bias), code.select(adds, step, 0)
        for i in range(4):
            code.load_register(i, self._quarter(before, before_step, i), before_step)
        last = code.difference(self.panel, BLOCK)
        with code.loop(0, self.panel, BLOCK) as offset:
            self._read_ahead(block, offset)
            here = [code.sum(place, offset) for place in block.places]
            is_last = code.less(code.difference(last, 1), offset)
            after = [
                code.select(is_last, place, code.sum(x, BLOCK))
                for place, x in zip(block.following, here, strict=True)
            ]
            sides = [
                [code.select(self.is_left, x, y), code.select(self.is_left, y, x)]
                for x, y in (here, after)
            ]
            add_products(code, *sides)
        for i in range(4):
            code.store_register(i, self._quarter(at, step, i), step)
        with code.when(code.unless(is_whole)):
            self._copy_edge(out, rows, columns, back=True)

    def _read_ahead(self, block: _Block, offset: Value) -> None:
        """Read a part of the far operand's next panel into the second cache."""
        code = self.code
        nbytes = BLOCK // _AHEAD
        done, _ = code.divide(code.sum(block.done, offset), code.number(_AHEAD))
        start = code.sum(block.ahead, code.least(done, code.difference(self.panel, nbytes)))
        for i in range(0, nbytes, ROW_NBYTES):
            code.prefetch(code.sum(start, i), level=2)

    def _quarter(self, at: Value, step: Value, number: int) -> Value:
        """Return the address of the part of a block that a register holds."""
        lower = self.code.product(step, number // 2 * ROWS)
        return self.code.sum(at, lower, number % 2 * ROW_NBYTES)

    def _copy_edge(self, out: Value, rows: Value, columns: Value, *, back: bool) -> None:
        """Copy what there is of a block from the output, or back."""
        code = self.code
        lanes = [code.first_lanes(code.difference(columns, i * ROWS)) for i in range(2)]
        with code.loop(0, code.least(rows, code.number(SIDE))) as i:
            for half, where in enumerate(lanes):
                place = code.sum(out, code.product(i, self.out_row), half * ROW_NBYTES)
                own = code.sum(self.edge, code.product(i, SIDE * FLOAT), half * ROW_NBYTES)
                if back:
                    code.store_where(code.load(own), place, where)
                else:
                    code.store(code.load_where(place, where), own)


@cache
def _product() -> CompiledKernel:
    def text() -> str:
        code = SplitAssembler(_PRODUCT)
        _Writer(code).write()
        return code.finish()

    return compile_assembly("split products", text, __name__, split_blocks.__name__)


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
        if FLOAT not in steps or min(x.strides) < FLOAT:
            raise RefusedError(
                f"split_products: expected {name} with contiguous rows, got strides {x.strides}"
            )
    wide = np.zeros(-(-out.shape[1] // SIDE) * SIDE, FLOAT32)
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
    panels, far_panels = (-(-len(x) // SIDE) for x in (near, far))
    threads = 1 if openmp.is_disabled() else openmp.team().threads()
    tasks = max(-(-panels * blocks * BLOCK // _NEAR), _TASKS * threads)
    tasks = min(-(-tasks // threads) * threads, panels)
    threads = min(threads, tasks)
    near_panels = -(-panels // tasks)
    count = far_panels * blocks * BLOCK // FLOAT
    notes = np.zeros((2, tasks), np.int64)  # which tasks are taken, largest magnitudes
    with Scratch(count + threads * near_panels * blocks * BLOCK // FLOAT) as memory:
        if is_exact(packed(memory, far, left=not is_left)):
            pack, step = packing_of(near, left=is_left)
            values: dict[str, int] = {
                name: address(x)
                for name, x in (
                    *(("out", out), ("far", memory), ("near", memory[count:]), ("bias", bias)),
                    *(("x", near), ("claims", notes), ("tops", notes[1])),
                )
            }
            values.update(rows=len(out), columns=out.shape[1], terms=near.shape[1], blocks=blocks)
            values.update(out_row=out.strides[0], x_row=near.strides[0], x_step=step, adds=add)
            values.update(near_is_left=is_left, near_panels=near_panels, pack=pack.address)
            values.update(tasks=tasks, threads=threads)
            names = _PRODUCT.split()
            params = (c_int64 * len(names))(*(values[name] for name in names))
            _product().run_threads(threads, addressof(params))
    for task, top in enumerate(notes[1].tolist()):
        if is_exact(top):
            continue
        piece = slice(*(i * panels // tasks * SIDE for i in (task, task + 1)))
        target, x, y, addend = out[:, piece], a, b[:, piece], bias[piece]
        if is_left:
            target, x, y, addend = out[piece], a[piece], b, bias
        sgemm.product(target, x, y, add=add)
        if not add:
            target += addend[: target.shape[1]]


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
