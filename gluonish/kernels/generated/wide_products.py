"""Matrix products of narrow arrays by products of float32: dense layers and `dot` of bfloat16.

A loop converts blocks of the operands to float32 in scratch memory, oneDNN multiplies them, and
another loop adds bias and addend, applies the activation and rounds once. The library itself has no
fast product of bfloat16 without the instructions of AVX512_BF16. With them it is used instead,
except on Intel's cores without AMX for 128 rows or more, where it takes 1.35 times as long if the
weight is not packed.

Dense layers of fewer than 128 rows compute the transpose of a block of the output, of which a block
of the weight is the left operand and the data are the right one: on a core with AVX2, 16 rows take
0.7 of the time of the product in the usual order. The number of rows is padded to a multiple of 8:
without that, 12 rows take 1.8 times as long as 16. More rows are as fast in the usual order, and
what follows the product reads and writes rows. Sums are float32, in an order that depends on sizes
only.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import BFLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.compiler.machine_code import host
from gluonish.kernels.generated.loops import narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.scratch import Scratch, matrices, size_of
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn import sgemm
from gluonish.ops.fused.operator import FUSED_DENSE
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError
from gluonish.ops.linalg.matmul import DOT, WIDE_DOT
from gluonish.ops.nn.dense import FULLY_CONNECTED, has_vector_bias

_WORTH = 1 << 19  # multiplications from which it takes less time than the reference kernel
_BLOCK = 1 << 19  # elements of a weight that are float32 at once
_ROWS = 512  # of the data, or of a product, that are float32 at once
_DATA = 1 << 23  # elements of the data that are float32 at once
_COLUMNS = 2048  # of a product, or of its left operand, that are float32 at once
_PADDING = 8  # the number of rows becomes a multiple of this
_GAP = 16  # elements between rows of sums, so that they do not compete for sets of a cache
_GRAIN = 1 << 14  # minimum elements for each thread
_CHUNK = 32  # columns of an output that a step of `_FINISH` fills

# Features of processors whose oneDNN kernels multiply bfloat16 without a detour.
_FAST_FEATURES = ("+avxneconvert", "+amx-bf16", "+bf16")
# With this alone, cores of AMD do; those of Intel, which lack `_AMD`, for few rows and for packed
# weights.
_HALF_FAST, _AMD = "+avx512bf16", "+sse4a"
_MANY_ROWS = 128

# A step is a row; rows from `rows` on become zeros. Steps of rows count elements.
_CONVERT = """
def body(begin, end, params):
    out, x = f32(params[0]), f32(params[1])
    count, rows = params[2], params[3]
    out_step, x_step = params[4], params[5]
    for i in range(begin, end):
        at, start = i * out_step, i * x_step
        if i < rows:
            for j in range(count):
                independent()
                out[at + j] = x[start + j]
        else:
            for j in range(count):
                independent()
                out[at + j] = float32(0)
"""

# A step is a row of the output and of `sums`.
_FINISH_ROWS = """
def body(begin, end, params):
    out, sums{views}
    columns = params[{n} + 1]
    out_step, sums_step = params[{n} + 2], params[{n} + 3]
    for i in range(begin, end):
        at, start = i * out_step, i * sums_step
        for j in range(columns):
            independent()
            v = sums[start + j]
{terms}
            out[at + j] = {value}
"""

# A step is a chunk of columns of the output, which are rows of `sums`.
_FINISH = """
def body(begin, end, params):
    out, sums{views}
    rows, columns = params[{n}], params[{n} + 1]
    out_step, sums_step = params[{n} + 2], params[{n} + 3]
    for chunk in range(begin, end):
        start = chunk * {chunk}
        stop = min(start + {chunk}, columns)
        for i in range(rows):
            at = i * out_step
            for j in range(start, stop):
                independent()
                v = sums[j * sums_step + i]
{terms}
                out[at + j] = {value}
"""
_ACTIVATIONS = {
    None: "v",
    "relu": "maximum(v, float32(0))",
    "sigmoid": "sigmoid(v)",
    "softrelu": "softplus(v)",
    "tanh": "tanh(v)",
    "gelu": "v * float32(0.5) * (float32(1) + erf(v * float32(0.7071067811865476)))",
    "gelu_tanh": (
        "v * sigmoid(v * (float32(1) + v * v * float32(0.044715)) * float32(1.5957691216057308))"
    ),
}


class Finish(NamedTuple):
    """What follows a product.

    Attributes:
        dtype: Dtype of bias, addend and output: float32 or bfloat16.
        bias: Whether a bias is added.
        addend: Whether an array is added.
        activation: A key of `_ACTIVATIONS`.
        by_rows: Whether the product is in the order of the output, instead of its transpose.
    """

    dtype: Any
    bias: bool = False
    addend: bool = False
    activation: str | None = None
    by_rows: bool = False

    def source(self) -> str:
        """Return the source of the loop."""
        names = ["out", "sums", *["bias"] * self.bias, *["addend"] * self.addend]
        views = ", ".join(f"f32(params[{i}])" for i in range(len(names)))
        terms = ["v = v + bias[j]"] * self.bias + ["v = v + addend[at + j]"] * self.addend
        text = (_FINISH_ROWS if self.by_rows else _FINISH).format(
            views="".join(f", {name}" for name in names[2:]) + f" = {views}",
            n=len(names),
            chunk=_CHUNK,
            terms="\n".join(" " * (12 if self.by_rows else 16) + term for term in terms),
            value=_ACTIVATIONS[self.activation],
        )
        dtypes = [FLOAT32 if name == "sums" else self.dtype for name in names]
        return narrowed(text, names, dtypes)


@lru_cache(1024)
def _finish_plan(finish: Finish, sizes: tuple[int, ...]) -> KernelPlan:
    kernel = compile_kernel(finish.source(), ("contract", "reassoc", "functions"))
    rows, columns = sizes[:2]
    steps, elements = (rows, columns) if finish.by_rows else (-(-columns // _CHUNK), rows * _CHUNK)
    addresses = 2 + finish.bias + finish.addend
    return KernelPlan(kernel, (*[0] * addresses, *sizes), steps, max(1, _GRAIN // elements))


def finish_rows(out: Array, sums: Array, addend: Array | None, activation: str | None) -> None:
    """Fill ``out = activation(sums + addend)``; matrices of float32 with contiguous rows.

    Args:
        out: May be the sums or the addend.
        addend: Of the layout of ``out``; None for none.
        activation: An activation of `has_activation`.
    """
    finish = Finish(FLOAT32, addend=addend is not None, activation=activation, by_rows=True)
    steps = [x.strides[0] // x.itemsize for x in (out, sums)]
    arrays = [out, sums] if addend is None else [out, sums, addend]
    _finish_plan(finish, (*out.shape, *steps)).run(*arrays)


def has_activation(name: str | None) -> bool:
    """Whether `finish_rows` applies an activation."""
    return name in _ACTIVATIONS


@lru_cache(1024)
def _convert_plan(dtypes: tuple[Any, Any], steps: int, sizes: tuple[int, ...]) -> KernelPlan:
    kernel = compile_kernel(narrowed(_CONVERT, ("out", "x"), dtypes))
    return KernelPlan(kernel, (0, 0, *sizes), steps, max(1, _GRAIN // max(1, sizes[0])))


def convert(out: Array, x: Array) -> None:
    """Copy a matrix to one of another dtype, float32 or bfloat16; further rows become zeros.

    Args:
        out: At least as many rows as ``x``; contiguous rows.
        x: Contiguous rows.
    """
    steps = [array.strides[0] // array.itemsize for array in (out, x)]
    sizes = (x.shape[1], x.shape[0], *steps)
    _convert_plan((out.dtype, x.dtype), len(out), sizes).run(out, x)


def _block_rows(units: int, features: int) -> int:
    """Return the rows of a block of the weight, for blocks of nearly equal sizes."""
    blocks = -(-units * features // _BLOCK)
    return min(units, -(-units // (blocks * _CHUNK)) * _CHUNK)


def dense(
    out: Array,
    data: Array,
    units: int,
    widen: Callable[[slice, Array], None],
    rest: dict[str, Array],
    activation: str | None = None,
) -> None:
    """Fill ``out = activation(data weight^T + bias + addend)``.

    Args:
        out: (rows, units), contiguous; float32 or bfloat16. It may be the addend.
        data: (rows, features) of the same dtype, contiguous.
        units: Number of rows of the weight.
        widen: ``widen(rows, to)`` fills a matrix of float32 with rows of the weight.
        rest: Contiguous arrays of the same dtype: bias (units,) and addend (rows, units), or some
            of them.
        activation: A key of `_ACTIVATIONS`.
    """
    features = data.shape[1]
    limit = max(_PADDING, min(_ROWS, _DATA // features) // _PADDING * _PADDING)
    most = min(limit, -(-len(data) // _PADDING) * _PADDING)
    by_rows = most >= _MANY_ROWS
    finish = Finish(out.dtype, "bias" in rest, "addend" in rest, activation, by_rows)
    step = _block_rows(units, features)
    last = (most, step + _GAP) if by_rows else (step, most + _GAP)
    shapes = (most, features), (step, features), last
    with Scratch(size_of(*shapes)) as memory:
        rows, weight, sums = matrices(memory, *shapes)
        for start in range(0, len(data), most):
            part = slice(start, start + most)
            count = len(data[part])
            padded = -(-count // _PADDING) * _PADDING
            if count == padded and data.dtype == FLOAT32:
                wide = data[part]
            else:
                wide = rows[:padded]
                convert(wide, data[part])
            for first in range(0, units, step):
                block = slice(first, min(units, first + step))
                width = block.stop - first
                widen(block, weight[:width])
                if by_rows:
                    made = sums[:padded, :width]
                    sgemm.product(made, wide, weight[:width].T, add=False)
                else:
                    made = sums[:width, :padded]
                    sgemm.product(made, weight[:width], wide.T, add=False)
                operands = [out[part, block], made]
                if finish.bias:
                    operands.append(rest["bias"][block])
                if finish.addend:
                    operands.append(rest["addend"][part, block])
                plan = _finish_plan(finish, (count, width, units, last[1]))
                plan.run(*operands)


def _require_contiguous(*arrays: Array) -> None:
    """Refuse arrays with gaps.

    Raises:
        RefusedError: An array is not contiguous.
    """
    if not all(array.flags.c_contiguous for array in arrays):
        raise RefusedError("wide_products: expected contiguous arrays, got strided ones")


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
    _require_contiguous(out, data, weight, *rest)
    units, features = weight.shape
    named = {} if no_bias else {"bias": rest[0]}
    if with_sum:
        named["addend"] = rest[-1].reshape(-1, units)
    rows = data.reshape(-1, features)

    def widen(block: slice, to: Array) -> None:
        convert(to, weight[block])

    dense(out.reshape(-1, units), rows, units, widen, named, activation)


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
    """Multiply blocks of rows and columns, and add up blocks of the axis of the sums.

    Sums go straight to an output of float32.
    """
    _require_contiguous(out, lhs, rhs)
    (rows, columns), inner = out.shape, lhs.shape[0 if transpose_a else 1]
    high, wide, deep = min(_ROWS, rows), min(_COLUMNS, columns), min(_ROWS, inner)
    left = (deep, high) if transpose_a else (high, deep)
    right = (wide, deep) if transpose_b else (deep, wide)
    shapes = left, right, (high, wide)
    with Scratch(size_of(*shapes)) as memory:
        a, b, sums = matrices(memory, *shapes)
        for column in range(0, columns, wide):
            across = slice(column, min(columns, column + wide))
            for row in range(0, rows, high):
                down = slice(row, min(rows, row + high))
                result = out[down, across]
                rounds = out.dtype != FLOAT32
                made = sums[: down.stop - row, : across.stop - column] if rounds else result
                for k in range(0, inner, deep):
                    along = slice(k, min(inner, k + deep))
                    x = _part(a, lhs, down, along, transpose_a)
                    y = _part(b, rhs, along, across, transpose_b)
                    sgemm.product(made, x, y, add=k > 0)
                if rounds:
                    convert(result, made)


def _part(to: Array, x: Array, down: slice, across: slice, transposed: bool) -> Array:
    """Convert a part of a matrix, or of its transpose, to float32."""
    if transposed:
        down, across = across, down
    made = to[: down.stop - down.start, : across.stop - across.start]
    convert(made, x[down, across])
    return made.T if transposed else made


def _is_narrow(rows: int, *specs: Spec) -> bool:
    narrow = all(spec.dtype == BFLOAT16 and spec.size for spec in specs)
    return narrow and rows >= _least_rows()


def _supports_dense(
    data: Spec,
    weight: Spec,
    *rest: Spec,
    no_bias: bool,
    activation: str | None = None,
    packed: bool = False,
    **_: Any,
) -> bool:
    if packed and _least_rows() > 0:
        return False
    if len(weight.shape) != 2 or activation not in _ACTIVATIONS:
        return False
    if not _is_narrow(data.size // max(weight.shape[1], 1), data, weight, *rest):
        return False
    if not has_vector_bias(data, weight, *([] if no_bias else rest[:1])):
        return False
    return data.size * weight.shape[0] >= _WORTH


def _supports_dot(lhs: Spec, rhs: Spec, *, transpose_a: bool, transpose_b: bool, **_: Any) -> bool:
    if len(lhs.shape) != 2 or len(rhs.shape) != 2:
        return False
    if not _is_narrow(lhs.shape[1 if transpose_a else 0], lhs, rhs):
        return False
    return lhs.size * rhs.shape[0 if transpose_b else 1] >= _WORTH


@cache
def _least_rows() -> float:
    """Number of rows from which oneDNN's products of bfloat16 are slower on this processor."""
    features = host()[1].split(",")
    if any(name in features for name in _FAST_FEATURES):
        return math.inf
    if _HALF_FAST in features:
        return math.inf if _AMD in features else _MANY_ROWS
    return 0


def multiplies() -> bool:
    """Whether there are oneDNN and compiled loops."""
    return MXNET_USE_FUSION.value and available() and onednn.enabled()


KERNELS = tuple(
    (
        op,
        FastKernel(*(BackEnd.GENERATED, name, supports), run=run, enabled=multiplies, makes=makes),
    )
    for op, name, supports, run, makes in (
        (FULLY_CONNECTED, "wide_dense", _supports_dense, _dense, ()),
        (FUSED_DENSE, "wide_dense", _supports_dense, _dense, ()),
        (DOT, "wide_dot", _supports_dot, _dot, ()),
        (WIDE_DOT, "wide_dot_to_float32", _supports_dot, _dot, (FLOAT32,)),
    )
)
