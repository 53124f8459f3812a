"""_grad_add: the sum of two gradients of one array."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.broadcasting import check_same_dtype, complete_same


def _infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
    check_same_dtype("_grad_add", lhs, rhs)
    if lhs.shape != rhs.shape:
        raise OperatorError(
            f"_grad_add: expected arrays of equal shape, got {lhs.shape} and {rhs.shape}"
        )
    return (lhs,)


def _kernel(xp: ModuleType, out: Any, lhs: Any, rhs: Any) -> None:
    xp.add(lhs, rhs, out=out)


def _gradient(g: V, lhs: V, rhs: V) -> tuple[Any, Any]:
    return g, g


GRAD_ADD = register(
    Operator(
        "_grad_add",
        _infer,
        _kernel,
        _gradient,
        doc="Elementwise lhs + rhs, which have one shape and dtype.",
        inputs=("lhs", "rhs"),
        shapes=ShapeFacts(complete=complete_same),
        execution=Execution(elementwise=True),
    )
)
