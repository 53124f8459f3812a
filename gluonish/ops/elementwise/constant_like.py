"""zeros_like and ones_like."""

from types import ModuleType
from typing import Any

from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.support.broadcasting import complete_same, infer_same


def _row(value: int, name: str, *aliases: str) -> Operator:
    def kernel(xp: ModuleType, out: Any, data: Any) -> None:
        out.fill(out.dtype.type(value))

    return register(
        Operator(
            name,
            infer_same,
            kernel,
            zero_gradient,
            doc=f"Return an array of {value}s with the shape and dtype of data.",
            aliases=aliases,
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True, copies_only=True),
        )
    )


ZEROS_LIKE = _row(0, "zeros_like", "_sparse_zeros_like")
ONES_LIKE = _row(1, "ones_like")


def zeros_like(x: Any) -> Any:
    """Return zeros with the shape and dtype of ``x``."""
    return apply(ZEROS_LIKE, (x,), {})


def ones_like(x: Any) -> Any:
    """Return ones with the shape and dtype of ``x``."""
    return apply(ONES_LIKE, (x,), {})
