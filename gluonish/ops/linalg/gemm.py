"""Scaled matrix products: linalg.gemm and syrk; gemm2 is in `matmul`."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import PartialSpec, Spec, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.linalg.matmul import LINALG_GEMM2
from gluonish.ops.linalg.matrices import adjoint, check_matrices, check_real, product
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.dtype_rules import complete_same_dtype


def _gemm_infer(a: Spec, b: Spec, c: Spec, *, beta: float, **attrs: Any) -> tuple[Spec]:
    check_real("_linalg_gemm", a, b, c)
    try:
        (spec,) = LINALG_GEMM2.infer(a, b, **attrs)
    except OperatorError as error:
        raise OperatorError(f"_linalg_gemm: {str(error).partition(': ')[2]}") from error
    if c.shape != spec.shape:
        raise OperatorError(f"_linalg_gemm: expected C of shape {spec.shape}, got {c.shape}")
    return (spec,)


def _gemm_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    """Complete C and the output, which have the same spec, from A and B."""
    complete_same_dtype(inputs, outputs, attrs)
    a, b, c = inputs
    shape = merge_shapes(c.shape, outputs[0].shape, "_linalg_gemm output")
    if a.known() and b.known():
        gemm2_attrs = {name: value for name, value in attrs.items() if name != "beta"}
        (spec,) = LINALG_GEMM2.infer(a, b, **gemm2_attrs)
        shape = merge_shapes(spec.shape, shape, "_linalg_gemm C")
    inputs[2] = PartialSpec(shape, c.dtype)
    outputs[0] = PartialSpec(shape, outputs[0].dtype)


def _gemm_kernel(
    xp: ModuleType, out: Any, a: Any, b: Any, c: Any, *, beta: float, **attrs: Any
) -> None:
    LINALG_GEMM2.kernel(xp, out, a, b, **attrs)
    xp.add(out, c if beta == 1.0 else c * out.dtype.type(beta), out=out)


def _gemm_gradient(g: V, a: V, b: V, c: V, *, beta: float, **attrs: Any) -> tuple[Any, Any, Any]:
    assert LINALG_GEMM2.gradient is not None
    left, right = LINALG_GEMM2.gradient(g, a, b, **attrs)
    return left, right, lambda: g * beta


LINALG_GEMM = register(
    Operator(
        "_linalg_gemm",
        _gemm_infer,
        _gemm_kernel,
        _gemm_gradient,
        doc=(
            "Compute alpha A B + beta C.\n\n"
            "Rows of the matrices are along axis, and columns along the last axis.\n\n"
            "Shapes: A (..., m, k), B (..., k, n), C and output (..., m, n) without\n"
            "transposing, and with axis -2; no axes broadcast."
        ),
        inputs=("A", "B", "C"),
        schema=Schema(
            transpose_a=boolean(False),
            transpose_b=boolean(False),
            alpha=number(1.0),
            beta=number(1.0),
            axis=integer(-2),
        ),
        aliases=("linalg_gemm",),
        shapes=ShapeFacts(complete=_gemm_complete),
        execution=Execution(heavy=True),
    )
)


def _syrk_infer(a: Spec, *, transpose: bool, alpha: float) -> tuple[Spec]:
    check_matrices("_linalg_syrk", a)
    check_real("_linalg_syrk", a)
    rows = a.shape[-1 if transpose else -2]
    return (Spec((*a.shape[:-2], rows, rows), a.dtype),)


def _syrk_kernel(xp: ModuleType, out: Any, a: Any, *, transpose: bool, alpha: float) -> None:
    transposed = a.swapaxes(-1, -2)
    xp.matmul(*((transposed, a) if transpose else (a, transposed)), out=out)
    if alpha != 1.0:
        xp.multiply(out, out.dtype.type(alpha), out=out)


def _syrk_gradient(g: V, a: V, *, transpose: bool, alpha: float) -> tuple[Any]:
    both = (g + adjoint(g)) * alpha
    return (product(a, both) if transpose else product(both, a),)


LINALG_SYRK = register(
    Operator(
        "_linalg_syrk",
        _syrk_infer,
        _syrk_kernel,
        _syrk_gradient,
        doc=(
            "Compute alpha A A^T, or alpha A^T A with transpose.\n\n"
            "Shapes: A (..., m, k), output (..., m, m), or with transpose (..., k, k)."
        ),
        inputs=("A",),
        schema=Schema(transpose=boolean(False), alpha=number(1.0)),
        aliases=("linalg_syrk",),
        execution=Execution(heavy=True),
    )
)


def linalg_syrk(a: Any, transpose: bool = False, alpha: float = 1.0) -> Any:
    """Return ``alpha a a^T``, or ``alpha a^T a`` with ``transpose``."""
    return apply(LINALG_SYRK, (a,), {"transpose": transpose, "alpha": alpha})
