"""all_finite and multi_all_finite: test gradients for infinity and NaN.

allclose: test whether two arrays are equal within tolerances.
"""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, UINT8, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, number
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import as_real, widen

_NOTE = "With init_output=False, out is required, and a 0 in it remains 0."


def _check(name: str, arrays: tuple[Spec, ...]) -> tuple[Spec]:
    for x in arrays:
        if not is_floating(x.dtype):
            raise OperatorError(f"{name}: expected floating arrays, got {x}")
    return (Spec((1,), FLOAT32),)


def _fill(xp: ModuleType, out: Any, arrays: tuple[Any, ...], init_output: bool) -> None:
    finite = xp.ones((1,), dtype=bool)
    for x in arrays:
        finite &= xp.isfinite(widen(x)).all()
    if not init_output:
        finite &= out != 0
    out[...] = finite


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec((1,), FLOAT32)


def _one_infer(data: Spec, *, init_output: bool) -> tuple[Spec]:
    return _check("all_finite", (data,))


def _one_kernel(xp: ModuleType, out: Any, data: Any, *, init_output: bool) -> None:
    _fill(xp, out, (data,), init_output)


ALL_FINITE = register(
    Operator(
        "all_finite",
        _one_infer,
        _one_kernel,
        None,
        doc=(
            "Return 1 if no element is infinite or NaN, else 0, as float32.\n\n"
            f"{_NOTE}\n\nShapes: data any, output (1,)."
        ),
        schema=Schema(init_output=boolean(True)),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(at_once=True),  # it also reads out
    )
)


def _many_infer(*arrays: Spec, num_arrays: int, init_output: bool) -> tuple[Spec]:
    if len(arrays) != num_arrays:
        raise OperatorError(f"multi_all_finite: expected {num_arrays} arrays, got {len(arrays)}")
    return _check("multi_all_finite", arrays)


def _many_kernel(
    xp: ModuleType, out: Any, *arrays: Any, num_arrays: int, init_output: bool
) -> None:
    _fill(xp, out, arrays, init_output)


MULTI_ALL_FINITE = register(
    Operator(
        "multi_all_finite",
        _many_infer,
        _many_kernel,
        None,
        doc=(
            "Return 1 if no element of any array is infinite or NaN, else 0, as float32.\n\n"
            f"{_NOTE}\n\nShapes: arrays any, output (1,)."
        ),
        schema=Schema(num_arrays=integer(1, low=1), init_output=boolean(True)),
        variadic="num_arrays",
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(at_once=True),  # it also reads out
    )
)


def _infer(a: Spec, b: Spec, **_: object) -> tuple[Spec]:
    check_same_dtype("_contrib_allclose", a, b)
    if a.shape != b.shape:
        raise OperatorError(
            f"_contrib_allclose: expected arrays of equal shape, got {a.shape} and {b.shape}"
        )
    return (Spec((), UINT8),)


def _kernel(
    xp: ModuleType, out: Any, a: Any, b: Any, *, rtol: float, atol: float, equal_nan: bool
) -> None:
    a, b = as_real(xp, a), as_real(xp, b)
    finite = xp.isfinite(b)
    size = xp.where(finite, xp.abs(b), 0)
    near = (a == b) | (finite & (xp.abs(a - b) <= atol + rtol * size))
    if equal_nan:
        near |= xp.isnan(a) & xp.isnan(b)
    out[...] = near.all()


def _complete_allclose(
    inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs
) -> None:
    outputs[0] = PartialSpec((), UINT8)


ALLCLOSE = register(
    Operator(
        "_contrib_allclose",
        _infer,
        _kernel,
        None,
        doc=(
            "Return 1 if all |a - b| <= atol + rtol * |b|, else 0, as uint8.\n\n"
            "Infinities of the same sign are equal, and NaN equals NaN with equal_nan.\n\n"
            "Shapes: a and b the same, output ()."
        ),
        inputs=("a", "b"),
        schema=Schema(rtol=number(1e-5), atol=number(1e-8), equal_nan=boolean(True)),
        shapes=ShapeFacts(complete=_complete_allclose),
    )
)
