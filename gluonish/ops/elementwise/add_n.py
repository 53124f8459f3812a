"""add_n: the sum of several arrays."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, V, register
from gluonish.ops.support.broadcasting import complete_same, refuse_truth_values
from gluonish.ops.support.precision import widen


def _infer(*arrays: Spec, num_args: int) -> tuple[Spec]:
    if any(spec != arrays[0] for spec in arrays):
        raise OperatorError(
            f"add_n: expected arrays of equal shape and dtype, got {', '.join(map(str, arrays))}"
        )
    refuse_truth_values("add_n", arrays[0])
    return (arrays[0],)


def _kernel(xp: ModuleType, out: Any, *arrays: Any, num_args: int) -> None:
    total = widen(arrays[0])
    for x in arrays[1:]:
        total = total + x
    out[...] = total.astype(out.dtype)


def _gradient(g: V, *arrays: V, num_args: int) -> tuple[Any, ...]:
    return (g,) * len(arrays)


ADD_N = register(
    Operator(
        "add_n",
        _infer,
        _kernel,
        _gradient,
        doc="Sum arrays of the same shape and dtype.",
        inputs=("args",),
        schema=Schema(num_args=integer(low=1)),
        aliases=("ElementWiseSum", "_sparse_ElementWiseSum", "_sparse_add_n"),
        shapes=ShapeFacts(complete=complete_same),
        variadic="num_args",
        execution=Execution(elementwise=True),
    )
)
