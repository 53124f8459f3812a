"""Helpers of operators on stacked matrices: checks, LAPACK errors, products and triangles.

A stack of matrices is an array whose last two axes are rows and columns. Like LAPACK and MXNet,
operators that use LAPACK support float32 and float64 only.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT32, FLOAT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.elementwise.binary import EQUAL
from gluonish.ops.linalg.matmul import linalg_gemm2
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.reshape import expand_dims
from gluonish.ops.shape.transpose import swap_axes


def check_real(name: str, *specs: Spec) -> None:
    """Raise OperatorError unless arrays are all float32 or all float64."""
    if len({spec.dtype for spec in specs}) != 1 or specs[0].dtype not in (FLOAT32, FLOAT64):
        got = " and ".join(spec.dtype.name for spec in specs)
        raise OperatorError(
            f"{name}: expected float32 or float64 in all arrays, got {got}; cast with astype"
        )


def real_dtype(name: str, *specs: Spec) -> np.dtype[Any]:
    """Return the dtype of a computation: float64 unless all arrays are float32.

    Raises:
        OperatorError: An array holds 16-bit floats or bools.
    """
    for spec in specs:
        wide = spec.dtype in (FLOAT32, FLOAT64)
        if not wide and (is_floating(spec.dtype) or spec.dtype == BOOL):
            raise OperatorError(
                f"{name}: expected float32, float64 or integers, got {spec.dtype.name}; cast with "
                "astype"
            )
    return FLOAT32 if all(spec.dtype == FLOAT32 for spec in specs) else FLOAT64


def complete_real(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    """Set the outputs' dtype as `real_dtype` does, if the dtypes of all inputs are known."""
    dtypes = {spec.dtype for spec in inputs}
    if None not in dtypes:
        dtype = FLOAT32 if dtypes == {FLOAT32} else FLOAT64
        outputs[:] = [PartialSpec(spec.shape, dtype) for spec in outputs]


def check_matrices(name: str, a: Spec, argument: str = "A") -> None:
    """Raise OperatorError unless an array has at least two axes."""
    if len(a.shape) < 2:
        raise OperatorError(f"{name}: expected {argument} of at least 2 axes, got {a.shape}")


def check_square(name: str, a: Spec, argument: str = "A") -> None:
    """Raise OperatorError unless an array holds square matrices."""
    check_matrices(name, a, argument)
    if a.shape[-1] != a.shape[-2]:
        raise OperatorError(f"{name}: expected {argument} of square matrices, got {a.shape}")


def check_wide(name: str, a: Spec) -> None:
    """Raise OperatorError unless an array holds real matrices with rows <= columns."""
    check_matrices(name, a)
    check_real(name, a)
    if a.shape[-2] > a.shape[-1]:
        raise OperatorError(
            f"{name}: expected matrices with no more rows than columns, got {a.shape}; "
            "transpose them"
        )


def _errors(xp: ModuleType) -> AbstractContextManager[Any]:
    """Suppress warnings about infinities and NaN, and make LAPACK failures raise errors."""
    if xp is np:
        return np.errstate(all="ignore")
    import cupyx  # pyright: ignore[reportMissingImports]  # optional

    state: AbstractContextManager[Any] = cupyx.errstate(linalg="raise")
    return state


def lapack(
    xp: ModuleType,
    name: str,
    expected: str,
    function: Callable[..., Any],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Call a function of ``xp.linalg``, and convert LinAlgError to OperatorError.

    CuPy returns undefined values instead of raising unless ``errstate`` makes it synchronize.

    Raises:
        OperatorError: LAPACK failed; ``expected`` describes the required matrices.
    """
    try:
        with _errors(xp):
            return function(*args, **kwargs)
    except np.linalg.LinAlgError as error:
        raise OperatorError(f"{name}: expected {expected}, got {str(error).lower()}") from error


def iterative(
    xp: ModuleType, name: str, function: Callable[..., Any], a: Any, **kwargs: Any
) -> Any:
    """Call an iterative function of ``xp.linalg``, which may not terminate on infinity or NaN.

    Raises:
        OperatorError: ``a`` holds infinity or NaN, or LAPACK failed.
    """
    if not bool(xp.isfinite(a).all()):
        raise OperatorError(f"{name}: expected finite matrices, got infinity or NaN")
    return lapack(xp, name, "matrices for which the iteration converges", function, a, **kwargs)


def product(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Return the products of stacked matrices, optionally transposed first."""
    return linalg_gemm2(a, b, transpose_a, transpose_b)


def adjoint(x: Any) -> Any:
    """Transpose every matrix."""
    return swap_axes(x, -1, -2)


def symmetric(x: Any) -> Any:
    """Return the symmetric part of every matrix."""
    return (x + adjoint(x)) * 0.5


def scale_rows(x: Any, factors: Any) -> Any:
    """Multiply the rows of matrices (..., m, n) by factors (..., m)."""
    return x * expand_dims(factors, -1)


def scale_columns(x: Any, factors: Any) -> Any:
    """Multiply the columns of matrices (..., m, n) by factors (..., n)."""
    return x * expand_dims(factors, -2)


def reciprocal_gaps(values: Any) -> Any:
    """Return ``1 / (values[j] - values[i])`` at (..., i, j), and 0 where they are equal."""
    gaps = expand_dims(values, -2) - expand_dims(values, -1)
    equal = EQUAL(gaps, 0.0)
    return (1.0 - equal) / (gaps + equal)


def _infer(data: Spec, *, lower: bool, offset: int) -> tuple[Spec]:
    check_matrices("_triangle", data, "data")
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, *, lower: bool, offset: int) -> None:
    out[...] = xp.tril(data, offset) if lower else xp.triu(data, offset)


def _gradient(g: V, data: V, *, lower: bool, offset: int) -> tuple[Any]:
    return (triangle(g, lower, offset),)


TRIANGLE = register(
    Operator(
        "_triangle",
        _infer,
        _kernel,
        _gradient,
        doc="Set the elements above (lower) or below the diagonal at offset to zero.",
        schema=Schema(lower=boolean(True), offset=integer(0)),
    )
)


def triangle(x: Any, lower: bool = True, offset: int = 0) -> Any:
    """Set the elements above (``lower``) or below the diagonal at ``offset`` to zero."""
    return apply(TRIANGLE, (x,), {"lower": lower, "offset": offset})
