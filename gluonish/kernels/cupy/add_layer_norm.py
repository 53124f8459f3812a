"""LayerNorm of a sum whose first term may go through Dropout, and its gradient.

There is one launch forward, and one for the gradient of the data; the sums of gamma's and beta's
gradients are those of LayerNorm.
"""

from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import INT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous
from gluonish.kernels.cupy.random_numbers import key_arguments
from gluonish.kernels.cupy.rows import copy_back, held_row, launch_rows, targets
from gluonish.kernels.cupy.softmax_and_norms import parameter_macros, sum_columns, supports_norm
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.nn.dropout import kept_factor
from gluonish.ops.normalization.add_layer_norm import ADD_LAYER_NORM, BACKWARD_SUMS
from gluonish.ops.registry import Operator
from gluonish.ops.support.precision import accumulator

_NULL = np.uint64(0)


def _dropout_numbers(dtype: Any, p: float) -> tuple[Any, Any]:
    """Return p, and the factor of elements that stay, as kernel arguments."""
    return np.float32(p), accumulator(dtype).type(kept_factor(dtype, p))


def _run(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    data: Any,
    residual: Any,
    gamma: Any,
    beta: Any,
    *,
    p: float,
    eps: float,
    key: Any = None,
) -> None:
    made = targets(xp, *outputs)
    out, total, mean, std, *drawn = made
    data, residual, gamma, beta = [contiguous(xp, x) for x in (data, residual, gamma, beta)]
    kind, size = accumulator(data.dtype).type, data.shape[-1]
    dropout = (*key_arguments(key if p else (0, 0)), *_dropout_numbers(data.dtype, p))
    numbers = (kind(eps), kind(1 / size), *dropout)
    lanes, held = held_row(size, data.dtype, (data, residual, gamma, beta, out, total))
    macros = (*held, *parameter_macros(data, gamma), ("DROPS", int(p > 0)))
    launch_rows(
        *(xp, "add_layer_norm", "add_layer_norm"),
        (data, residual, gamma, beta, out, total, mean, std, *(drawn or (_NULL,))),
        (data.size // size, size),
        *(lanes, numbers, macros),
        data=data,
    )
    copy_back(xp, outputs, made)


def _backward(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    *inputs: Any,
    two: bool,
    plus: bool,
    p: float,
    eps: float,
) -> None:
    made = targets(xp, *outputs)
    out, of_gamma, of_beta, *dropped = made
    names = BACKWARD_SUMS.input_names({"two": two, "plus": plus, "p": p})
    given = dict(zip(names, [contiguous(xp, x) for x in inputs], strict=True))
    grad, data, gamma, mean, std = (given[x] for x in ("grad", "data", "gamma", "mean", "std"))
    other, added, drawn = (given.get(x, _NULL) for x in ("other", "added", "drawn"))
    dtype, size = data.dtype, data.shape[-1]
    numbers = (accumulator(dtype).type(1 / size), *_dropout_numbers(dtype, p))
    rows = (grad, other, data, added, gamma, out, *dropped)
    lanes, held = held_row(size, dtype, tuple(x for x in rows if x is not _NULL))
    parameters, both = parameter_macros(data, gamma), (("TWO", int(two)),)
    drops = ("DROPS", int(p > 0))
    macros = (*held, *parameters, *both, ("PLUS", int(plus)), drops)
    launch_rows(
        *(xp, "add_layer_norm", "add_layer_norm_data"),
        (grad, other, data, added, gamma, mean, std, out, *(dropped or (_NULL,)), drawn),
        (data.size // size, size),
        *(lanes, numbers, macros),
        data=data,
    )
    sums = (of_gamma, of_beta)
    sum_columns(xp, grad, data, (mean, std), sums, parameters, other if two else None)
    copy_back(xp, outputs, made)


def _supports(data: Spec, residual: Spec, *parameters: Spec, **_: Any) -> bool:
    return supports_norm(2, data, residual, *parameters)


def _supports_backward(*inputs: Spec, two: bool, plus: bool, p: float, **_: Any) -> bool:
    return supports_norm(2 + two + plus, *(inputs[:-1] if p else inputs))


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (
        ADD_LAYER_NORM,
        FastKernel(BackEnd.CUPY, "add_layer_norm", _supports, run=_run, makes=(INT64,)),
    ),
    (
        BACKWARD_SUMS,
        FastKernel(BackEnd.CUPY, "layer_norm_backward_sums", _supports_backward, run=_backward),
    ),
)
