"""khatri_rao: the column-wise Kronecker product of matrices."""

import math
import string
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.linalg.einsum import einsum
from gluonish.ops.linalg.matrices import check_real
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.shape.reshape import reshape

_MAX_ARRAYS = 25  # each uses an axis of the product, and NumPy has 32
_COLUMN = "Z"


def _infer(*args: Spec, num_args: int) -> tuple[Spec]:
    if num_args != len(args) or not 1 <= num_args <= _MAX_ARRAYS:
        raise OperatorError(
            f"khatri_rao: expected num_args to count 1 to {_MAX_ARRAYS} arrays, got {num_args} "
            f"for {len(args)}"
        )
    check_real("khatri_rao", *args)
    if any(len(x.shape) != 2 or x.shape[1:] != args[0].shape[1:] for x in args):
        shapes = ", ".join(str(x.shape) for x in args)
        raise OperatorError(
            f"khatri_rao: expected matrices with the same number of columns, got {shapes}"
        )
    rows = math.prod(x.shape[0] for x in args)
    return (Spec((rows, *args[0].shape[1:]), args[0].dtype),)


def _kernel(xp: ModuleType, out: Any, *args: Any, num_args: int) -> None:
    result = args[0]
    for x in args[1:]:
        rows, columns = result.shape[0] * x.shape[0], x.shape[1]
        result = (result[:, None, :] * x[None, :, :]).reshape(rows, columns)
    out[...] = result


def _gradient(g: V, *args: V, num_args: int) -> tuple[Any, ...]:
    rows = string.ascii_lowercase[:num_args]
    grad = reshape(g, tuple(x.shape[0] for x in args) + args[0].shape[1:])

    def of(position: int) -> Any:
        others = [i for i in range(num_args) if i != position]
        terms = [rows + _COLUMN, *(rows[i] + _COLUMN for i in others)]
        return einsum(
            f"{','.join(terms)}->{rows[position]}{_COLUMN}", grad, *(args[i] for i in others)
        )

    return tuple(lambda i=i: of(i) for i in range(num_args))


KHATRI_RAO = register(
    Operator(
        "khatri_rao",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Compute the Khatri-Rao product: the Kronecker products of the columns of matrices.\n\n"
            "Unlike in MXNet, it is differentiable.\n\n"
            "Shapes: arrays (m, k), (n, k), ..., output (m * n * ..., k)."
        ),
        inputs=("args",),
        schema=Schema(num_args=integer(low=1)),
        variadic="num_args",
    )
)
