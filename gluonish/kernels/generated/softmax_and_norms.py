"""Generated kernels over rows: softmax, L2Normalization, LayerNorm and their gradients.

LayerNorm supports 16-bit floats, too. The kernels read a row several times, from the first-level
cache.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from struct import pack, unpack
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import available, compile_kernel
from gluonish.kernels.compiler.typed_values import SCRATCH_SUMS
from gluonish.kernels.generated.loops import is_narrow, narrowed
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_BACKWARD
from gluonish.ops.normalization.layer_norm import LAYER_NORM, LAYER_NORM_BACKWARD
from gluonish.ops.normalization.lrn import L2_NORMALIZATION, L2_NORMALIZATION_BACKWARD
from gluonish.ops.registry import Attrs, Operator

_SHORT = 24  # elements per row below which the loops over a row do not pay
_SINGLE_THREAD = 1 << 13  # elements up to which one thread is used

# The maximum of a row. It need not propagate NaN, since the sum of the exponentials does.
_TOP = """
        top = x[at]
        for j in range(16):
            independent()
            lanes[j] = bits_of_float(top)
        for block in range(0, full, 16):
            for j in range(16):
                independent()
                lane = float_of_bits(lanes[j])
                value = x[at + block + j]
                lanes[j] = bits_of_float(select(value > lane, value, lane))
        for j in range(16):
            lane = float_of_bits(lanes[j])
            top = select(lane > top, lane, top)
        for j in range(full, count):
            top = select(x[at + j] > top, x[at + j], top)
"""
_SOFTMAX = f"""
def body(begin, end, params):
    out, x, count = f32(params[0]), f32(params[1]), params[2]
    full = count - count % 16
    lanes = scratch()
    for i in range(begin, end):
        at = i * count
{_TOP}
        total = float32(0)
        for j in range(count):
            independent()
            power = exp(x[at + j] - top)
            out[at + j] = power
            total += power
        scale = float32(1) / total
        for j in range(count):
            independent()
            out[at + j] = out[at + j] * scale
"""
_LOG_SOFTMAX = f"""
def body(begin, end, params):
    out, x, count = f32(params[0]), f32(params[1]), params[2]
    full = count - count % 16
    lanes = scratch()
    for i in range(begin, end):
        at = i * count
{_TOP}
        total = float32(0)
        for j in range(count):
            total += exp(x[at + j] - top)
        total = log(total)
        for j in range(count):
            independent()
            out[at + j] = (x[at + j] - top) - total
"""
_SOFTMAX_BACKWARD = """
def body(begin, end, params):
    out, grad, y = f32(params[0]), f32(params[1]), f32(params[2])
    count, factor = params[3], float32(as_float(params[4]))
    for i in range(begin, end):
        at = i * count
        total = float32(0)
        for j in range(count):
            total += grad[at + j] * y[at + j]
        for j in range(count):
            independent()
            out[at + j] = (grad[at + j] - total) * y[at + j] * factor
"""
_LOG_SOFTMAX_BACKWARD = """
def body(begin, end, params):
    out, grad, y = f32(params[0]), f32(params[1]), f32(params[2])
    count, factor = params[3], float32(as_float(params[4]))
    for i in range(begin, end):
        at = i * count
        total = float32(0)
        for j in range(count):
            total += grad[at + j]
        for j in range(count):
            independent()
            out[at + j] = (grad[at + j] - exp(y[at + j]) * total) * factor
"""
_L2 = """
def body(begin, end, params):
    out, norms, x = f32(params[0]), f32(params[1]), f32(params[2])
    count, eps = params[3], float32(as_float(params[4]))
    for i in range(begin, end):
        at = i * count
        total = float32(0)
        for j in range(count):
            total += x[at + j] * x[at + j]
        norm = sqrt(total + eps)
        norms[i] = norm
        for j in range(count):
            independent()
            out[at + j] = x[at + j] / norm
"""
_L2_BACKWARD = """
def body(begin, end, params):
    out, grad, x = f32(params[0]), f32(params[1]), f32(params[2])
    norms, count = f32(params[3]), params[4]
    for i in range(begin, end):
        at = i * count
        norm = norms[i]
        total = float32(0)
        for j in range(count):
            total += grad[at + j] * (x[at + j] / norm)
        for j in range(count):
            independent()
            out[at + j] = (grad[at + j] - (x[at + j] / norm) * total) / norm
"""
_LAYER = """
def body(begin, end, params):
    out, means, stds = f32(params[0]), f32(params[1]), f32(params[2])
    x, gamma, beta = f32(params[3]), f32(params[4]), f32(params[5])
    count, eps = params[6], float32(as_float(params[7]))
    divisor = float32(count)
    for i in range(begin, end):
        at = i * count
        total = float32(0)
        for j in range(count):
            total += x[at + j]
        mean = total / divisor
        total = float32(0)
        for j in range(count):
            total += (x[at + j] - mean) * (x[at + j] - mean)
        std = sqrt(total / divisor + eps)
        means[i] = mean
        stds[i] = std
        for j in range(count):
            independent()
            out[at + j] = (x[at + j] - mean) / std * gamma[j] + beta[j]
"""
# One step: rows are added to the gradients of gamma and beta in order, in float64.
_LAYER_BACKWARD = """
def body(begin, end, params):
    out, d_gamma, d_beta = f32(params[0]), f32(params[1]), f32(params[2])
    grad, x, gamma, means, stds = (
        f32(params[3]), f32(params[4]), f32(params[5]), f32(params[6]), f32(params[7]))
    count, rows = params[8], params[9]
    divisor = float32(count)
    sums = scratch_sums()
    for j in range(2 * count):
        independent()
        sums[j] = 0.0
    for i in range(rows):
        at = i * count
        mean = means[i]
        std = stds[i]
        total = float32(0)
        product = float32(0)
        for j in range(count):
            g = grad[at + j] * gamma[j]
            total += g
            product += g * ((x[at + j] - mean) / std)
        total = total / divisor
        product = product / divisor
        for j in range(count):
            independent()
            g = grad[at + j]
            y = (x[at + j] - mean) / std
            sums[j] = sums[j] + float64(g * y)
            sums[count + j] = sums[count + j] + float64(g)
            out[at + j] = (g * gamma[j] - y * product - total) / std
    for j in range(count):
        independent()
        d_gamma[j] = float32(sums[j])
        d_beta[j] = float32(sums[count + j])
"""


class _Row(NamedTuple):
    """One operator and its kernel.

    Attributes:
        source: Function that returns the source for an operator's attributes.
        rows: Function that returns the number of rows for a shape and attributes; 0 if these are
            not supported.
        data: Index of the data among the inputs.
        number: Name of the attribute passed as a param; empty for none.
        most: Number of elements up to which this kernel is the fastest; 0 for no limit.
        single_step: Whether all rows are computed in one step.
        names: Names of the arrays, in order, if the kernel supports 16-bit floats; else empty.
    """

    op: Operator
    source: Callable[[Attrs], str]
    rows: Callable[[Shape, Attrs], int]
    data: int = 0
    number: str = ""
    most: int = 0
    single_step: bool = False
    names: tuple[str, ...] = ()


def _size(shape: Shape) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _along_last(shape: Shape, attrs: Attrs) -> int:
    if not shape or attrs["axis"] % len(shape) != len(shape) - 1:
        return 0
    return _size(shape[:-1])


def _with_sums_in_scratch(shape: Shape, attrs: Attrs) -> int:
    rows = _along_last(shape, attrs)
    return rows if rows and 2 * shape[-1] <= SCRATCH_SUMS else 0


def _standard_softmax(shape: Shape, attrs: Attrs) -> int:
    standard = attrs["temperature"] in (None, 1) and not attrs["use_length"]
    return _along_last(shape, attrs) if standard else 0


def _instances(shape: Shape, attrs: Attrs) -> int:
    if attrs["mode"] == "channel":
        return shape[0] if len(shape) == 2 else 0
    return _size(shape[: 1 if attrs["mode"] == "instance" else 2])


def _fixed(source: str) -> Callable[[Attrs], str]:
    return lambda attrs: source


_ROWS = (
    _Row(SOFTMAX, _fixed(_SOFTMAX), _standard_softmax),
    _Row(LOG_SOFTMAX, _fixed(_LOG_SOFTMAX), _standard_softmax),
    _Row(
        SOFTMAX_BACKWARD,
        lambda attrs: _LOG_SOFTMAX_BACKWARD if attrs["log"] else _SOFTMAX_BACKWARD,
        _along_last,
        number="factor",
    ),
    _Row(L2_NORMALIZATION, _fixed(_L2), _instances, number="eps"),
    _Row(L2_NORMALIZATION_BACKWARD, _fixed(_L2_BACKWARD), _instances, data=1),
    _Row(
        LAYER_NORM,
        _fixed(_LAYER),
        _along_last,
        number="eps",
        names=("out", "means", "stds", "x", "gamma", "beta"),
    ),
    _Row(
        LAYER_NORM_BACKWARD,
        _fixed(_LAYER_BACKWARD),
        _with_sums_in_scratch,
        data=1,
        most=_SINGLE_THREAD,
        single_step=True,
    ),
)


@lru_cache(4096)
def _plan_of(
    source: str, arrays: int, count: int, rows: int, number: tuple[float, ...], single_step: bool
) -> KernelPlan:
    params = [*(0,) * arrays, count, *(unpack("q", pack("d", x))[0] for x in number)]
    if single_step:
        params.append(rows)
    kernel = compile_kernel(source)
    return KernelPlan(kernel, params, 1 if single_step else rows, max(1, _SINGLE_THREAD // count))


def _supports_dtypes(row: _Row, specs: Sequence[Spec]) -> bool:
    if row.names and is_narrow(specs[row.data].dtype):
        return all(spec.dtype == FLOAT32 or is_narrow(spec.dtype) for spec in specs)
    return all(spec.dtype == FLOAT32 for spec in specs)


def _kernel(row: _Row) -> FastKernel:
    op = row.op

    def supports(*specs: Spec, **attrs: Any) -> bool:
        data = specs[row.data]
        size = data.size
        if not MXNET_USE_FUSION.value or not size or not _supports_dtypes(row, specs):
            return False
        rows = row.rows(data.shape, attrs)
        return bool(rows) and size // rows >= _SHORT and (not row.most or size <= row.most)

    def plan(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
        arrays = (*outputs, *inputs)
        if not all(x.flags.c_contiguous for x in arrays):
            raise RefusedError(f"{op.name}: expected contiguous arrays, got strided ones")
        shape = inputs[row.data].shape
        rows = row.rows(shape, attrs)
        number = (attrs[row.number],) if row.number else ()
        source, count = row.source(attrs), _size(shape) // rows
        if row.names:
            source = narrowed(source, row.names, [x.dtype for x in arrays])
        found = _plan_of(source, len(arrays), count, rows, number, row.single_step)
        return Bound(found)

    name = f"{op.name.removeprefix('_')}_rows"
    return FastKernel(
        *(BackEnd.GENERATED, name, supports),
        plan=plan,
        enabled=available,
        serial_limit=_SINGLE_THREAD,
    )


KERNELS = tuple((row.op, _kernel(row)) for row in _ROWS)
