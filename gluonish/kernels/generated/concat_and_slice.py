"""Concat and slice_axis as copies of columns between matrices with equal numbers of rows.

A contiguous array is a matrix with one row for each index before the axis; a channels-last array,
along axis 1, has one row for each pixel. NumPy copies with one thread.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.kernels.generated.strided_copy import VIEWS
from gluonish.ops.indexing.slice import SLICE_AXIS
from gluonish.ops.kernel import BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.registry import Attrs
from gluonish.ops.shape.concat import CONCAT

_SMALL = 1 << 14  # elements below which NumPy is as fast
_GRAIN = 1 << 15  # minimum elements for each thread
_MAX_INPUTS = 24

# Params: target, sources, row length of the target, and of each source.
_CONCAT = """
def body(begin, end, params):
    y, total = {view}(params[0]), params[{count} + 1]
{sources}
    for row in range(begin, end):
        at = row * total
{copies}
"""

_COPY = """
        i = row * w{n}
        for c in range(w{n}):
            independent()
            y[at + c] = x{n}[i + c]
        at += w{n}
"""

_SLICE = """
def body(begin, end, params):
    y, x = {view}(params[0]), {view}(params[1])
    width, total, first = params[2], params[3], params[4]
    for row in range(begin, end):
        i = row * width
        j = row * total + first
        for c in range(width):
            independent()
            y[i + c] = x[j + c]
"""


def _concat_source(view: str, count: int) -> str:
    sources = "\n".join(
        f"    x{n}, w{n} = {view}(params[{n} + 1]), params[{count} + 2 + {n}]" for n in range(count)
    )
    copies = "".join(_COPY.replace("{n}", str(n)) for n in range(count))
    return _CONCAT.format(view=view, count=count, sources=sources, copies=copies)


def _widths(axis: int, *arrays: Any) -> tuple[int, list[int]]:
    """Return the number of rows, and the length of each array's rows.

    Raises:
        RefusedError: The arrays have different layouts, or a layout that is not supported.
    """
    if all(x.flags.c_contiguous for x in arrays):
        rows = math.prod(arrays[0].shape[:axis])
        return rows, [math.prod(x.shape[axis:]) for x in arrays]
    if axis != 1 or not all(np.moveaxis(x, 1, -1).flags.c_contiguous for x in arrays):
        shown = ", ".join(str(x.strides) for x in arrays)
        raise RefusedError(f"columns: expected arrays of one layout, got strides {shown}")
    return arrays[0].size // arrays[0].shape[1], [x.shape[1] for x in arrays]


def _plan_concat(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    (out,), count = outputs, len(inputs)
    rows, (total, *widths) = _widths(attrs["dim"] % out.ndim, out, *inputs)
    kernel = compile_kernel(_concat_source(VIEWS[out.itemsize], count))
    params = [0] * (count + 1) + [total, *widths]
    plan = KernelPlan(kernel, params, rows, max(1, _GRAIN // total))
    return Bound(plan)


def _plan_slice(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    (out,), (data,) = outputs, inputs
    axis = attrs["axis"] % data.ndim
    rows, (width, total) = _widths(axis, out, data)
    begin = attrs["begin"] + data.shape[axis] * (attrs["begin"] < 0)
    first = begin * (total // data.shape[axis])
    kernel = compile_kernel(_SLICE.format(view=VIEWS[out.itemsize]))
    plan = KernelPlan(kernel, [0, 0, width, total, first], rows, max(1, _GRAIN // width))
    return Bound(plan)


def _supports_concat(*specs: Spec, num_args: int, dim: int) -> bool:
    sizes = [spec.size for spec in specs]
    real = specs[0].dtype.itemsize in VIEWS and specs[0].dtype.kind != "c"
    return real and 1 < len(specs) <= _MAX_INPUTS and min(sizes) > 0 and sum(sizes) >= _SMALL


def _supports_slice(data: Spec, *, axis: int, begin: int, end: int | None) -> bool:
    real = data.dtype.itemsize in VIEWS and data.dtype.kind != "c"
    extent = data.shape[axis]
    last = extent if end is None else end + extent * (end < 0)
    count = last - begin - extent * (begin < 0)
    return real and count > 0 and data.size // extent * count >= _SMALL


KERNELS = tuple(
    (
        op,
        FastKernel(
            *(BackEnd.GENERATED, name, supports),
            plan=plan,
            enabled=available,
            large_only=True,
        ),
    )
    for op, name, supports, plan in (
        (CONCAT, "concat", _supports_concat, _plan_concat),
        (SLICE_AXIS, "slice_axis", _supports_slice, _plan_slice),
    )
)
