"""Products of small matrices with AVX-512: gradients of dense layers, and layers of few units.

A step computes a tile of the output: up to `_ROWS` rows, and the columns of a panel (see
`attention_panels`). Blocks of the right operand are copied to a panel, so that all that the
innermost loop reads is in the first cache. The terms of a sum are added in order.

A layer with few units computes the transpose of its output, of which the weight is the left operand
and the transposed data are the right one.

Larger matrices are left to the library, which packs the left operand, too; and layers with more
units, because a sum must not depend on whether the library has packed the weight.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import CompiledKernel, available, compile_assembly
from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes
from gluonish.kernels.generated import attention_panels
from gluonish.kernels.generated.attention_panels import (
    FLOAT,
    Matrix,
    fill,
    gather,
    load_row,
    multiply,
    panel_width,
    row_nbytes,
    scatter,
    store_row,
)
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.numpy.dense import SMALL_PRODUCT
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.linalg.matmul import DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED, has_vector_bias
from gluonish.ops.registry import Attrs

_ROWS = 64  # of a tile
_DEPTH = 64  # terms of a sum between two loads of the right operand
_TOGETHER = (6, 4, 1)  # rows of a tile whose sums are in registers
_AVX512 = 16  # lanes; with fewer, there are too few registers for such a tile

# Multiplications of a product beyond which the library is faster, and the least extent of an axis
# of which tiles are not mostly empty.
_LARGE = 1 << 22
_NARROW = 32
# A layer of up to `_UNITS` units with as many multiplications; with fewer, NumPy is as fast.
_UNITS = 16
_LEAST = 1 << 15
_LEAST_WORK = 1 << 18  # multiplications for each thread


class _Form(NamedTuple):
    """What the code of a kernel depends on.

    Attributes:
        layer: Whether the right operand and the output are stored by columns, as the data and the
            output of a dense layer are; then the rows are one tile.
        bias: Whether each row has a bias.
        relu: Whether a ReLU follows.
    """

    layer: bool = False
    bias: bool = False
    relu: bool = False

    @property
    def names(self) -> str:
        """The names of the params; steps of rows and columns count bytes."""
        bias = " bias" * self.bias
        return f"out left right{bias} rows columns inner left_row left_column right_row"


@lru_cache(64)
def _kernel(form: _Form) -> CompiledKernel:
    def text() -> str:
        code = Assembler(form.names)
        _Writer(code, form).write()
        return code.finish()

    return compile_assembly(
        f"dense products {form} {lanes()}", text, __name__, attention_panels.__name__
    )


class _Writer:
    """Writes the code of a kernel."""

    def __init__(self, code: Assembler, form: _Form) -> None:
        self.code = code
        self.form = form
        params = code.params
        self.rows, self.columns, self.inner = params["rows"], params["columns"], params["inner"]
        self.out_row = code.product(self.columns, FLOAT)
        self.panel = code.reserve(code.number(_DEPTH * row_nbytes()))
        self.tile = code.reserve(code.number(_ROWS * row_nbytes()))
        self.zeros = code.reserve(code.number(row_nbytes()))
        fill(code, 0.0, code.number(1), self.zeros)

    def write(self) -> None:
        """Write the loop over tiles, of which those of the same rows are neighbours."""
        code = self.code
        extent = code.sum(self.columns, panel_width() - 1)
        across, _ = code.divide(extent, code.number(panel_width()))
        with code.loop(code.begin, code.end) as step:
            row, column = code.divide(step, across)
            row, column = code.product(row, _ROWS), code.product(column, panel_width())
            rows = code.least(code.difference(self.rows, row), code.number(_ROWS))
            left = code.difference(self.columns, column)
            columns = code.least(left, code.number(panel_width()))
            if self.form.layer:
                self._multiply(row, rows, column, columns, self.tile, row_nbytes())
                self._finish(rows)
                self._store_columns(rows, column, columns)
            else:
                self._tile(row, rows, column, columns)

    def _tile(self, row: Value, rows: Value, column: Value, columns: Value) -> None:
        """Compute a tile of an output that is stored by rows."""
        code = self.code
        start = code.sum(code.product(row, self.out_row), code.product(column, FLOAT))
        out = code.sum(code.params["out"], start)
        is_full = code.less(panel_width() - 1, columns)
        target = code.select(is_full, out, self.tile)
        target_row = code.select(is_full, self.out_row, row_nbytes())
        self._multiply(row, rows, column, columns, target, target_row)
        with code.when(code.unless(is_full)), code.loop(0, rows) as i:
            source = code.sum(self.tile, code.product(i, row_nbytes()))
            self._copy(source, code.sum(out, code.product(i, self.out_row)), columns)

    def _multiply(
        self,
        row: Value,
        rows: Value,
        column: Value,
        columns: Value,
        target: Value,
        target_row: Value | int,
    ) -> None:
        """Store a tile of the product, of a panel's width."""
        code, params = self.code, self.code.params
        left = code.sum(params["left"], code.product(row, params["left_row"]))

        def end(i: Value, sums: list[Value]) -> None:
            store_row(code, sums, code.sum(target, code.product(i, target_row)))

        with code.loop(0, self.inner, _DEPTH) as first:
            depth = code.least(code.difference(self.inner, first), code.number(_DEPTH))
            self._fill_panel(column, columns, first, depth)
            is_first = code.less(first, 1)

            def start(i: Value, is_first: Value = is_first) -> list[Value]:
                made = code.sum(target, code.product(i, target_row))
                return load_row(code, code.select(is_first, self.zeros, made))

            at = code.sum(left, code.product(first, params["left_column"]))
            block = Matrix(at, params["left_row"], params["left_column"])
            right = Matrix(self.panel, row_nbytes(), FLOAT)
            multiply(code, block, rows, depth, right, start, end, _TOGETHER)

    def _fill_panel(self, column: Value, columns: Value, first: Value, depth: Value) -> None:
        """Copy a block of the right operand."""
        code, step = self.code, self.code.params["right_row"]
        at = code.params["right"]
        if self.form.layer:
            rows = Matrix(code.sum(at, code.product(first, FLOAT)), step, FLOAT)
            last = code.difference(self.columns, 1)
            gather(code, rows, column, last, depth, self.panel, None, "float32")
            return
        start = code.sum(at, code.product(first, step), code.product(column, FLOAT))
        with code.loop(0, depth) as i:
            target = code.sum(self.panel, code.product(i, row_nbytes()))
            self._copy(code.sum(start, code.product(i, step)), target, columns)

    def _copy(self, source: Value, target: Value, columns: Value) -> None:
        """Copy the first columns of a row."""
        code = self.code
        full, rest = code.divide(columns, code.number(lanes()))
        with code.loop(0, full) as i:
            offset = code.product(i, lanes() * FLOAT)
            code.store(code.load(code.sum(source, offset)), code.sum(target, offset))
        with code.loop(code.difference(columns, rest), columns) as i:
            offset = code.product(i, FLOAT)
            code.copy(code.sum(source, offset), code.sum(target, offset))

    def _finish(self, rows: Value) -> None:
        """Add the bias of each row of the tile, and apply the activation."""
        code, form = self.code, self.form
        if not (form.bias or form.relu):
            return
        with code.loop(0, rows) as i:
            at = code.sum(self.tile, code.product(i, row_nbytes()))
            made = load_row(code, at)
            if form.bias:
                offset = code.product(i, FLOAT)
                bias = code.load_element(code.sum(code.params["bias"], offset))
                made = [code.add(x, bias) for x in made]
            if form.relu:
                made = [code.relu(x) for x in made]
            store_row(code, made, at)

    def _store_columns(self, rows: Value, column: Value, columns: Value) -> None:
        """Copy the tile to an output that is stored by columns."""
        code = self.code
        step = code.product(self.rows, FLOAT)
        out = code.sum(code.params["out"], code.product(column, step))
        scatter(code, self.tile, rows, Matrix(out, step, FLOAT), columns, "float32")


@lru_cache(1024)
def _plan_of(form: _Form, sizes: tuple[int, ...]) -> KernelPlan:
    rows, columns = sizes[:2]
    steps = -(-rows // _ROWS) * -(-columns // panel_width())
    grain = max(1, _LEAST_WORK // (_ROWS * panel_width() * sizes[2]))
    return KernelPlan(_kernel(form), [*[0] * (3 + form.bias), *sizes], steps, grain)


def _plan_dense(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan ``out = relu(data weight^T + bias)``, with optional bias and relu."""
    (out,), (data, weight, *rest) = outputs, inputs
    _require_contiguous(out, data, weight, *rest)
    units, features = weight.shape
    step = features * FLOAT
    form = _Form(layer=True, bias=bool(rest), relu=attrs.get("activation") == "relu")
    plan = _plan_of(form, (units, out.size // units, features, step, FLOAT, step))
    return Bound(plan, (0, 2, 1, *range(3, 3 + len(rest))))


def _plan_dot(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the product of two matrices, of which the left one may be transposed."""
    (out,), (lhs, rhs) = outputs, inputs
    _require_contiguous(out, lhs, rhs)
    rows, columns = out.shape
    across, step = lhs.shape[1] * FLOAT, FLOAT
    left = (step, across) if attrs["transpose_a"] else (across, step)
    sizes = (rows, columns, rhs.shape[0], *left, columns * FLOAT)
    return Bound(_plan_of(_Form(), sizes))


def _require_contiguous(*arrays: Array) -> None:
    """Refuse arrays with gaps.

    Raises:
        RefusedError: An array is not contiguous.
    """
    for x in arrays:
        if not x.flags.c_contiguous:
            raise RefusedError(
                f"dense_products: expected contiguous arrays, got strides {x.strides}"
            )


def _supports_dense(
    data: Spec,
    weight: Spec,
    *rest: Spec,
    activation: str | None = None,
    with_sum: bool = False,
    **_: Any,
) -> bool:
    if with_sum or activation not in (None, "relu") or not _is_float(data, weight, *rest):
        return False
    if weight.shape[0] > _UNITS or not has_vector_bias(data, weight, *rest):
        return False
    few = data.size // weight.shape[1] < panel_width()
    return not few and _LEAST <= data.size * weight.shape[0] <= SMALL_PRODUCT


def _supports_dot(lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, **_: Any) -> bool:
    if transpose_b or len(lhs.shape) != 2 or len(rhs.shape) != 2 or not _is_float(lhs, rhs):
        return False
    if min(*lhs.shape, *rhs.shape) < _NARROW:
        return False
    return SMALL_PRODUCT < lhs.size * rhs.shape[1] <= _LARGE


def _is_float(*specs: Spec) -> bool:
    return lanes() == _AVX512 and all(x.dtype == FLOAT32 and x.size for x in specs)


def _enabled() -> bool:
    return MXNET_USE_FUSION.value and available()


KERNELS = tuple(
    (op, FastKernel(BackEnd.GENERATED, name, supports, plan=plan, enabled=_enabled))
    for op, name, supports, plan in (
        (FULLY_CONNECTED, "dense_products", _supports_dense, _plan_dense),
        (FUSED_DENSE, "dense_products", _supports_dense, _plan_dense),
        (DOT, "dot_products", _supports_dot, _plan_dot),
    )
)
