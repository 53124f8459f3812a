"""constraint_check and share_memory: predicates of arrays."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import BOOL
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, text
from gluonish.core.spec import Spec
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.zero_gradient import zero_gradient


def _check_infer(input: Spec, *, msg: str) -> tuple[Spec]:  # noqa: A002  # MXNet's name
    if input.dtype != BOOL:
        raise OperatorError(f"_npx_constraint_check: expected bool, got {input.dtype.name}")
    return (Spec((), BOOL),)


def _check_kernel(
    xp: ModuleType,
    out: Any,
    input: Any,  # noqa: A002  # MXNet's name
    *,
    msg: str,
) -> None:
    if not bool(input.all()):
        raise OperatorError(f"_npx_constraint_check: expected true everywhere, got false: {msg}")
    out.fill(True)


CONSTRAINT_CHECK = register(
    Operator(
        "_npx_constraint_check",
        _check_infer,
        _check_kernel,
        zero_gradient,
        doc=(
            "True if all elements are true; otherwise an error with the text msg when the\n"
            "result is waited for.\n\n"
            "Shapes: input any, output ()."
        ),
        inputs=("input",),
        schema=Schema(msg=text("Constraint violated.")),
    )
)


def _share_infer(a: Spec, b: Spec) -> tuple[Spec]:
    return (Spec((), BOOL),)


def _share_kernel(xp: ModuleType, out: Any, a: Any, b: Any) -> None:
    out.fill(bool(xp.may_share_memory(a, b)))


SHARE_MEMORY = register(
    Operator(
        "_npi_share_memory",
        _share_infer,
        _share_kernel,
        zero_gradient,
        doc=("Whether two arrays share memory.\n\nShapes: a and b any, output ()."),
        inputs=("a", "b"),
    )
)
