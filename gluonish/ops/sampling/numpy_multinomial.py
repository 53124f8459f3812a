"""_npi_multinomial: counts of each class in independent trials."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, numbers, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.sampling.numpy_limits import check_numbers
from gluonish.ops.support import variates

Key = tuple[int, int]

_NAME = "_npi_multinomial"
_TOLERANCE = 1e-5  # by which the sum of float32 probabilities may exceed 1


def _active(attrs: Attrs) -> tuple[str, ...]:
    return ("a",) if attrs["pvals"] is None else ()


def _check_probabilities(smallest: float, total: float) -> None:
    """Raise OperatorError for negative probabilities or a sum above 1."""
    if not (smallest >= 0 and total <= 1 + _TOLERANCE):
        raise OperatorError(
            f"{_NAME}: expected probabilities of at least 0 that add up to at most 1, "
            f"got a minimum of {smallest} and a sum of {total}"
        )


def _infer(
    *arrays: Spec, n: int, pvals: tuple[float, ...] | None, size: Shape | None
) -> tuple[Spec]:
    if len(arrays) != (pvals is None):
        raise OperatorError(f"{_NAME}: expected pvals or an array, got {len(arrays)} arrays")
    for spec in arrays:
        if len(spec.shape) != 1:
            raise OperatorError(f"{_NAME}: expected probabilities of 1 axis, got {spec}")
    check_numbers(_NAME, arrays)
    classes = arrays[0].shape if pvals is None else (len(pvals),)
    return (checked_spec(_NAME, (size or ()) + classes, INT64),)


def _kernel(
    xp: ModuleType,
    out: Any,
    *arrays: Any,
    key: Key,
    n: int,
    pvals: tuple[float, ...] | None,
    size: Shape | None,
) -> None:
    if n < 0:
        raise OperatorError(f"{_NAME}: expected n of at least 0, got {n}")
    shares = arrays[0].astype(xp.float64).tolist() if pvals is None else list(pvals)
    if not shares:
        return
    _check_probabilities(min(shares), sum(shares))
    columns = out.reshape(-1, len(shares))
    index = xp.arange(columns.shape[0])
    left, rest = xp.full(index.size, float(n)), 1.0
    for i, share in enumerate(shares[:-1]):
        chance = min(share / rest, 1.0) if rest > 0 else 0.0
        stream = variates.substream(key, i)
        found = variates.binomial(xp, stream, index, left, xp.full(index.size, chance))
        columns[:, i] = found.astype(out.dtype)
        left = left - found
        rest -= share
    columns[:, -1] = left.astype(out.dtype)


def _complete(_inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, INT64)


NUMPY_MULTINOMIAL = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Draw how often each class occurs in n trials: an array of counts for each element\n"
            "of size.\n\n"
            "The probabilities are pvals, or the input if pvals is None; they add up to 1.\n\n"
            "Shapes: a (K,), output (*size, K)."
        ),
        inputs=("a",),
        active_inputs=_active,
        schema=Schema(n=integer(), pvals=optional(numbers()), size=optional(shape_attr())),
        execution=Execution(random=True, heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)
