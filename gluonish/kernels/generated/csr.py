"""Generated kernels for products of CSR and dense matrices, in float32 and float64."""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.ops.kernel import Array, BackEnd, FastKernel, address
from gluonish.ops.sparse.compressed import CSR_DOT

_SMALL = 1 << 9  # multiplications below which compiling does not pay
_GRAIN = 1 << 13  # minimum multiplications for each thread
_COLUMNS = 16  # minimum result columns of a transposed product for each thread
_VIEWS = {FLOAT32: ("f32", "float32"), FLOAT64: ("f64", "float64")}

# Params: result, values, dense matrix, column indices, row pointers; columns of the result.
_PRODUCT = """
def body(begin, end, params):
    out, values, rhs = {view}(params[0]), {view}(params[1]), {view}(params[2])
    columns, pointers, width = i64(params[3]), i64(params[4]), params[5]
    for i in range(begin, end):
        at = i * width
        for j in range(width):
            independent()
            out[at + j] = {number}(0)
        for k in range(pointers[i], pointers[i + 1]):
            value = values[k]
            of = columns[k] * width
            for j in range(width):
                independent()
                out[at + j] = out[at + j] + value * rhs[of + j]
"""

# Params: the same, then rows of the matrix, rows of the result. Threads split the columns, so that
# no two threads add to the same element.
_TRANSPOSED = """
def body(begin, end, params):
    out, values, rhs = {view}(params[0]), {view}(params[1]), {view}(params[2])
    columns, pointers, width = i64(params[3]), i64(params[4]), params[5]
    rows, size = params[6], params[7]
    for i in range(size):
        at = i * width
        for j in range(begin, end):
            independent()
            out[at + j] = {number}(0)
    for i in range(rows):
        of = i * width
        for k in range(pointers[i], pointers[i + 1]):
            value = values[k]
            at = columns[k] * width
            for j in range(begin, end):
                independent()
                out[at + j] = out[at + j] + value * rhs[of + j]
"""


def _supports(values: Spec, columns: Spec, pointers: Spec, rhs: Spec, **_: Any) -> bool:
    width = rhs.size // max(1, rhs.shape[0])
    return rhs.dtype in _VIEWS and values.size * width >= _SMALL


def _product(
    xp: ModuleType,
    out: Array,
    values: Array,
    columns: Array,
    pointers: Array,
    rhs: Array,
    *,
    transpose: bool,
    rows: int,
) -> None:
    arrays = [out, *map(np.ascontiguousarray, (values, rhs, columns, pointers))]
    width = rhs.size // rhs.shape[0]
    view, number = _VIEWS[rhs.dtype]
    source = (_TRANSPOSED if transpose else _PRODUCT).format(view=view, number=number)
    kernel = compile_kernel(source)
    sizes = (width, len(pointers) - 1, rows)
    params = np.array([*map(address, arrays), *sizes], np.int64)
    if transpose:
        kernel(width, params, _COLUMNS)
    else:
        kernel(rows, params, max(1, _GRAIN * rows // max(1, values.size * width)))


KERNELS = (
    (
        CSR_DOT,
        FastKernel(BackEnd.GENERATED, "sparse_csr_dot", _supports, run=_product, enabled=available),
    ),
)
