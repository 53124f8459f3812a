"""What operators on stacked matrices share: checks, LAPACK's refusals, products and triangles.

A stack of matrices is an array whose last two axes are rows and columns. LAPACK works in float32
and float64, so its operators take these two, as MXNet's do.
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
    """Check that arrays are all float32 or all float64.

    Raises:
        OperatorError: They are not.
    """
    if len({spec.dtype for spec in specs}) != 1 or specs[0].dtype not in (FLOAT32, FLOAT64):
        got = " and ".join(spec.dtype.name for spec in specs)
        raise OperatorError(
            f"{name}: expected float32 or float64 in all arrays, got {got}; cast with astype"
        )


def real_dtype(name: str, *specs: Spec) -> np.dtype[Any]:
    """Return the dtype in which arrays of numbers are solved: float64 unless all are float32.

    Raises:
        OperatorError: One holds 16-bit floats or truth values.
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
    """Give the outputs the dtype that `real_dtype` gives, where those of all inputs are known."""
    dtypes = {spec.dtype for spec in inputs}
    if None not in dtypes:
        dtype = FLOAT32 if dtypes == {FLOAT32} else FLOAT64
        outputs[:] = [PartialSpec(spec.shape, dtype) for spec in outputs]


def check_matrices(name: str, a: Spec, what: str = "A") -> None:
    """Check that an array has rows and columns.

    Raises:
        OperatorError: It has fewer than two axes.
    """
    if len(a.shape) < 2:
        raise OperatorError(f"{name}: expected {what} of at least 2 axes, got {a.shape}")


def check_square(name: str, a: Spec, what: str = "A") -> None:
    """Check that an array holds square matrices.

    Raises:
        OperatorError: It does not.
    """
    check_matrices(name, a, what)
    if a.shape[-1] != a.shape[-2]:
        raise OperatorError(f"{name}: expected {what} of square matrices, got {a.shape}")


def check_wide(name: str, a: Spec) -> None:
    """Check that an array holds real matrices with no more rows than columns.

    Raises:
        OperatorError: It does not.
    """
    check_matrices(name, a)
    check_real(name, a)
    if a.shape[-2] > a.shape[-1]:
        raise OperatorError(
            f"{name}: expected matrices with no more rows than columns, got {a.shape}; "
            "transpose them"
        )


def _errors(xp: ModuleType) -> AbstractContextManager[Any]:
    """Let infinities and NaN pass without a word, and failures of the algorithm raise."""
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
    """Call a function of ``xp.linalg``; what it refuses becomes an error of the operator.

    CuPy gives undefined numbers instead of errors unless it is told to wait and look.

    Raises:
        OperatorError: LAPACK gave up; ``expected`` says what it needs.
    """
    try:
        with _errors(xp):
            return function(*args, **kwargs)
    except np.linalg.LinAlgError as error:
        raise OperatorError(f"{name}: expected {expected}, got {str(error).lower()}") from error


def iterative(
    xp: ModuleType, name: str, function: Callable[..., Any], a: Any, **kwargs: Any
) -> Any:
    """Call a function of ``xp.linalg`` that iterates, which infinities and NaN might make endless.

    Raises:
        OperatorError: ``a`` holds some, or LAPACK gave up.
    """
    if not bool(xp.isfinite(a).all()):
        raise OperatorError(f"{name}: expected finite matrices, got infinity or NaN in one")
    return lapack(xp, name, "matrices for which the iteration ends", function, a, **kwargs)


def product(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Return the products of two stacks of matrices, either transposed first."""
    return linalg_gemm2(a, b, transpose_a, transpose_b)


def adjoint(x: Any) -> Any:
    """Return every matrix of a stack transposed."""
    return swap_axes(x, -1, -2)


def symmetric(x: Any) -> Any:
    """Return the symmetric part of every matrix of a stack."""
    return (x + adjoint(x)) * 0.5


def scale_rows(x: Any, factors: Any) -> Any:
    """Return matrices (..., m, n) with row i times factors (..., m) at i."""
    return x * expand_dims(factors, -1)


def scale_columns(x: Any, factors: Any) -> Any:
    """Return matrices (..., m, n) with column j times factors (..., n) at j."""
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
        doc="Matrices with zeros above (lower) or below the diagonal at offset.",
        schema=Schema(lower=boolean(True), offset=integer(0)),
    )
)


def triangle(x: Any, lower: bool = True, offset: int = 0) -> Any:
    """Return matrices with zeros above (``lower``) or below the diagonal at ``offset``."""
    return apply(TRIANGLE, (x,), {"lower": lower, "offset": offset})
