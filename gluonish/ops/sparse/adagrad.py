"""_sparse_adagrad_update: AdaGrad, which updates only the rows stored in a row-sparse gradient."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, number
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.updates.rules import ADAGRAD, apply_rule
from gluonish.ops.updates.update import check_arrays

_NAME = "_sparse_adagrad_update"


def _infer(weight: Spec, grad: Spec, history: Spec, **attrs: Any) -> tuple[Spec]:
    if attrs["wd"] != 0:
        raise OperatorError(f"{_NAME}: expected wd 0, got {attrs['wd']}; apply weight decay before")
    if not is_floating(weight.dtype):
        raise OperatorError(f"{_NAME}: expected a floating-point weight, got {weight.dtype.name}")
    return (check_arrays(_NAME, (weight, grad, history), mixed=False),)


def _kernel(
    xp: ModuleType,
    out: Any,
    weight: Any,
    grad: Any,
    history: Any,
    *,
    lr: float,
    wd: float,
    **scalars: Any,
) -> None:
    apply_rule(xp, ADAGRAD, out, (weight, grad, history), False, (lr, wd), scalars)


ADAGRAD_UPDATE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Take one step of AdaGrad: return the new weight, and update history in place.\n\n"
            "Rows that a row-sparse grad does not store do not change. wd exists for\n"
            "compatibility with MXNet, and must be 0.\n\n"
            "Shapes: all that of the weight."
        ),
        inputs=("weight", "grad", "history"),
        schema=Schema(
            lr=number(),
            epsilon=number(1e-7),
            wd=number(0.0),
            rescale_grad=number(1.0),
            clip_gradient=number(-1.0),
        ),
        execution=Execution(mutates=(2,), elementwise=True),
        shapes=ShapeFacts(complete=dtype_rule(0, 1)),
    )
)
