"""Concat and slice_axis as copies of columns: rows of one array, part of the rows of another.

Along an axis, an array in the order of its shape is a matrix of rows that begin anew with each
index in front of the axis; channels last, along axis 1, its rows are the pixels. All arrays of a
call are such matrices with equally many rows. NumPy copies them with one thread.
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

_SMALL = 1 << 14  # elements below which NumPy's call costs no more
_GRAIN = 1 << 15  # elements that are worth a thread
_MOST = 24  # arrays

# Words: the target, the sources; then what follows.
_JOIN = """
def body(begin, end, words):
    y, total = {view}(words[0]), words[{count} + 1]
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

_CUT = """
def body(begin, end, words):
    y, x = {view}(words[0]), {view}(words[1])
    width, total, first = words[2], words[3], words[4]
    for row in range(begin, end):
        i = row * width
        j = row * total + first
        for c in range(width):
            independent()
            y[i + c] = x[j + c]
"""


def _join_source(view: str, count: int) -> str:
    sources = "\n".join(
        f"    x{n}, w{n} = {view}(words[{n} + 1]), words[{count} + 2 + {n}]" for n in range(count)
    )
    copies = "".join(_COPY.replace("{n}", str(n)) for n in range(count))
    return _JOIN.format(view=view, count=count, sources=sources, copies=copies)


def _widths(axis: int, *arrays: Any) -> tuple[int, list[int]]:
    """Return how many rows the arrays have, and how long the rows of each are.

    Raises:
        RefusedError: They lie in different ways, or in none that is known.
    """
    if all(x.flags.c_contiguous for x in arrays):
        rows = math.prod(arrays[0].shape[:axis])
        return rows, [math.prod(x.shape[axis:]) for x in arrays]
    if axis != 1 or not all(np.moveaxis(x, 1, -1).flags.c_contiguous for x in arrays):
        shown = ", ".join(str(x.strides) for x in arrays)
        raise RefusedError(f"columns: expected arrays that lie alike, got strides {shown}")
    return arrays[0].size // arrays[0].shape[1], [x.shape[1] for x in arrays]


def _plan_concat(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    (out,), count = outputs, len(inputs)
    rows, (total, *widths) = _widths(attrs["dim"] % out.ndim, out, *inputs)
    kernel = compile_kernel(_join_source(VIEWS[out.itemsize], count))
    words = [0] * (count + 1) + [total, *widths]
    plan = KernelPlan(kernel, words, rows, max(1, _GRAIN // total))
    return Bound(plan)


def _plan_slice(outputs: Sequence[Any], inputs: Sequence[Any], attrs: Attrs) -> Bound:
    (out,), (data,) = outputs, inputs
    axis = attrs["axis"] % data.ndim
    rows, (width, total) = _widths(axis, out, data)
    begin = attrs["begin"] + data.shape[axis] * (attrs["begin"] < 0)
    first = begin * (total // data.shape[axis])
    kernel = compile_kernel(_CUT.format(view=VIEWS[out.itemsize]))
    plan = KernelPlan(kernel, [0, 0, width, total, first], rows, max(1, _GRAIN // width))
    return Bound(plan)


def _takes_concat(*specs: Spec, num_args: int, dim: int) -> bool:
    sizes = [spec.size for spec in specs]
    plain = specs[0].dtype.itemsize in VIEWS and specs[0].dtype.kind != "c"
    return plain and 1 < len(specs) <= _MOST and min(sizes) > 0 and sum(sizes) >= _SMALL


def _takes_slice(data: Spec, *, axis: int, begin: int, end: int | None) -> bool:
    plain = data.dtype.itemsize in VIEWS and data.dtype.kind != "c"
    extent = data.shape[axis]
    last = extent if end is None else end + extent * (end < 0)
    count = last - begin - extent * (begin < 0)
    return plain and count > 0 and data.size // extent * count >= _SMALL


KERNELS = tuple(
    (
        op,
        FastKernel(BackEnd.GENERATED, name, takes, plan=plan, enabled=available, large_only=True),
    )
    for op, name, takes, plan in (
        (CONCAT, "concat", _takes_concat, _plan_concat),
        (SLICE_AXIS, "slice_axis", _takes_slice, _plan_slice),
    )
)
