"""Products of matrices and linear algebra."""

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT64, INT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    axis_of,
    gather,
    reduced,
    reshaped,
    select,
    squeezed,
    to_shape,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Tensor


def swapped(x: Tensor, rank: int | None = None) -> Tensor:
    """Transpose the last two axes."""
    count = x.rank if rank is None else rank
    return transposed(x, [*range(count - 2), count - 1, count - 2])


def _dot(call: Call) -> Tensor:
    a, b = call.inputs
    if call["transpose_a"] and a.rank > 1:
        a = transposed(a, [*range(1, a.rank), 0])
    if call["transpose_b"] and b.rank > 1:
        b = transposed(b, [b.rank - 1, *range(b.rank - 1)])
    return _contracted(call, a, b, [a.rank - 1], [0])


def _contracted(
    call: Call, a: Tensor, b: Tensor, a_axes: Sequence[int], b_axes: Sequence[int]
) -> Tensor:
    """Contract pairs of axes, as tensordot."""
    a_axes = [axis_of(axis, a.rank) for axis in a_axes]
    b_axes = [axis_of(axis, b.rank) for axis in b_axes]
    a_rest = [axis for axis in range(a.rank) if axis not in a_axes]
    b_rest = [axis for axis in range(b.rank) if axis not in b_axes]
    if len(a_rest) == len(b_rest) == len(a_axes) == 1:
        return call("MatMul", transposed(a, [*a_rest, *a_axes]), transposed(b, [*b_axes, *b_rest]))
    left, right = transposed(a, [*a_rest, *a_axes]), transposed(b, [*b_axes, *b_rest])
    size = int(np.prod([a.size(axis) for axis in a_axes], dtype=np.int64))
    made = call("MatMul", reshaped(left, [-1, size]), _columns(call, right, size))
    shape = (*(a.known_shape[i] for i in a_rest), *(b.known_shape[i] for i in b_rest))
    if not shape:
        return to_shape(made, (1, 1), call.out.shape)
    return to_shape(to_shape(made, (), shape), shape, call.out.shape)


def _columns(call: Call, x: Tensor, rows: int) -> Tensor:
    return reshaped(x, [rows, -1])


def _matmul(call: Call, a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    return call("MatMul", swapped(a) if transpose_a else a, swapped(b) if transpose_b else b)


def _batch_dot(call: Call) -> Tensor:
    a, b = call.inputs
    return _matmul(call, a, b, call["transpose_a"], call["transpose_b"])


def _rows_at(x: Tensor, axis: int) -> Tensor:
    """Move the axis of rows to the second to last position."""
    axis = axis_of(axis, x.rank)
    order = [i for i in range(x.rank - 1) if i != axis]
    return transposed(x, [*order, axis, x.rank - 1])


def _rows_back(x: Tensor, axis: int, rank: int) -> Tensor:
    axis = axis_of(axis, rank)
    order = list(range(rank - 2))
    order.insert(axis, rank - 2)
    return transposed(x, [*order, rank - 1])


def _gemm(call: Call) -> Tensor:
    axis, rank = call["axis"], call.x.rank
    a, b, *rest = (_rows_at(x, axis) for x in call.inputs)
    made = _matmul(call, a, b, call["transpose_a"], call["transpose_b"]) * float(call["alpha"])
    if rest:
        made = made + rest[0] * float(call["beta"])
    return _rows_back(made, axis, rank)


def _syrk(call: Call) -> Tensor:
    x, other = call.x, swapped(call.x)
    made = call("MatMul", other, x) if call["transpose"] else call("MatMul", x, other)
    return made * float(call["alpha"])


def _triangle(call: Call, x: Tensor, lower: bool) -> Tensor:
    if call.emitter.opset >= 14:
        return call("Trilu", x, upper=int(not lower))
    mask = np.tri(x.size(x.rank - 2), x.size(x.rank - 1), dtype=bool)
    return select(call.constant(mask if lower else mask.T), x, 0)


def _trmm(call: Call) -> Tensor:
    a, b = call.inputs
    factor = _triangle(call, a, call["lower"])
    factor = swapped(factor, a.rank) if call["transpose"] else factor
    made = call("MatMul", *((b, factor) if call["rightside"] else (factor, b)))
    return made * float(call["alpha"])


def _sum_log_diagonal(call: Call) -> Tensor:
    x = call.x
    diagonal = x * call.constant(np.eye(x.size(x.rank - 1)), x.dtype)
    values = reduced("ReduceSum", diagonal, [x.rank - 1])
    total = reduced("ReduceSum", call("Log", values), [x.rank - 2])
    return reshaped(total, [1]) if x.rank == 2 else total


def _np_matmul(call: Call) -> Tensor:
    return call("MatMul", *(x.to(call.out.dtype) for x in call.inputs))


def _np_dot(call: Call) -> Tensor:
    a, b = call.inputs
    if not (a.rank and b.rank):
        return a * b
    return _contracted(call, a, b, [a.rank - 1], [max(b.rank - 2, 0)])


def _tensordot(call: Call) -> Tensor:
    a, b = call.inputs
    if "axes" in call.attrs:
        count = call["axes"]
        a_axes, b_axes = range(a.rank - count, a.rank), range(count)
        return _contracted(call, a, b, a_axes, b_axes)
    return _contracted(call, a, b, call["a_axes_summed"], call["b_axes_summed"])


def _einsum(call: Call) -> Tensor:
    """Append an Einsum, after taking diagonals for labels that a term repeats."""
    terms, arrow, result = call["subscripts"].replace(" ", "").partition("->")
    labels = terms.split(",")
    if not arrow:
        letters = terms.replace(",", "").replace(".", "")
        once = sorted(x for x in set(letters) if letters.count(x) == 1)
        result = ("..." if "..." in terms else "") + "".join(once)
    arrays = [x.to(call.out.dtype) for x in call.inputs]
    for i, term in enumerate(labels):
        labels[i], arrays[i] = _without_repeats(call, term, arrays[i], call.inputs[i])
    return call("Einsum", *arrays, equation=f"{','.join(labels)}->{result}")


def _without_repeats(call: Call, term: str, x: Tensor, like: Tensor) -> tuple[str, Tensor]:
    letters = term.replace("...", "")
    repeated = sorted({letter for letter in letters if letters.count(letter) > 1})
    if not repeated:
        return term, x
    free = [letter for letter in string.ascii_letters if letter not in call["subscripts"]]
    for letter in repeated:
        ends = len(letters) - 1 - letters[::-1].index(letter)
        size = like.size(ends - len(letters)) if "..." in term else like.size(ends)
        while term.count(letter) > 1:
            other = free.pop()
            head, _, tail = term.rpartition(letter)
            changed = f"{head}{other}{tail}"
            eye = call.constant(np.eye(size), x.dtype)
            reached = changed.replace(other, "", 1)
            x = call("Einsum", x, eye, equation=f"{changed},{letter}{other}->{reached}")
            term = reached
    return term, x


def _det(call: Call) -> Tensor:
    return _shaped_det(call, call("Det", call.x))


def _shaped_det(call: Call, y: Tensor) -> Tensor:
    return reshaped(y, [1]) if call.x.rank == 2 and call.out.rank == 1 else y


def _first_det(call: Call) -> list[Tensor | None]:
    return [_det(call), *[None] * (len(call.outputs) - 1)]


def _slogdet(call: Call) -> list[Tensor | None]:
    det = call("Det", call.x)
    outputs = [call("Sign", det), call("Log", call("Abs", det))]
    return [*(_shaped_det(call, y) for y in outputs), *[None] * (len(call.outputs) - 2)]


def _khatri_rao(call: Call) -> Tensor:
    made = call.x
    rows = call.x.size(0)
    columns = call.x.size(1)
    for x in call.inputs[1:]:
        rows *= x.size(0)
        product = unsqueezed(made, 1) * unsqueezed(x, 0)
        made = reshaped(product, [rows, columns])
    return made


def _div_sqrt_dim(call: Call) -> Tensor:
    x = call.x if is_floating(call.x.dtype) else call.x.to(FLOAT64)
    return x / float(np.sqrt(call.x.size(call.x.rank - 1)))


def _grouped_dense(call: Call) -> Tensor:
    """Multiply each row by the weight of its group, which is gathered for it."""
    x, weight, counts = call.inputs
    ends = call("CumSum", counts.to(INT64), call.constant(np.int64(0)))
    rows = call.constant(np.arange(x.size(0)).reshape(-1, 1))
    group = reduced("ReduceSum", (rows >= unsqueezed(ends, 0)).to(INT64), [1])
    chosen = gather(weight, group, 0)
    chosen = chosen if call["transpose"] else swapped(chosen, 3)
    return squeezed(call("MatMul", unsqueezed(x, 1), chosen), 1)


TABLE: dict[str, Any] = {
    "_grouped_dense": _grouped_dense,
    "dot": _dot,
    "batch_dot": _batch_dot,
    **dict.fromkeys(("_linalg_gemm", "_linalg_gemm2"), _gemm),
    "_linalg_syrk": _syrk,
    "_linalg_trmm": _trmm,
    "_linalg_sumlogdiag": _sum_log_diagonal,
    **dict.fromkeys(("_linalg_det", "_npi_det"), _first_det),
    **dict.fromkeys(("_linalg_slogdet", "_npi_slogdet"), _slogdet),
    "_npi_matmul": _np_matmul,
    "_np_dot": _np_dot,
    **dict.fromkeys(("_npi_tensordot", "_npi_tensordot_int_axes"), _tensordot),
    "_npi_einsum": _einsum,
    "khatri_rao": _khatri_rao,
    "_contrib_div_sqrt_dim": _div_sqrt_dim,
}
