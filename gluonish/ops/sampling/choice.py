"""_npi_choice: random indices of a population, with or without replacement.

_shuffle: shuffle the slices along axis 0.
"""

import math
from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT64, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import REQUIRED, Schema, boolean, integer, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.sampling.random import check_extents
from gluonish.ops.support import variates
from gluonish.ops.support.philox import random_bits, uniform
from gluonish.ops.support.shape_rules import same_shape

Key = tuple[int, int]

_NAME = "_npi_choice"
_MAX_POPULATION = 1 << 28  # without replacement, which sorts the population


def _active(attrs: Attrs) -> tuple[str, ...]:
    count = (attrs["a"] is None) + attrs["weighted"]
    return tuple(f"input{i + 1}" for i in range(count))


def _population(arrays: tuple[Any, ...], a: int | None) -> int:
    return math.prod(arrays[0].shape) if a is None else a


def _infer(
    *arrays: Spec, a: int | None, size: Shape | None, ctx: str, replace: bool, weighted: bool
) -> tuple[Spec]:
    names = _active({"a": a, "weighted": weighted})
    if len(arrays) != len(names):
        raise OperatorError(f"{_NAME}: expected {len(names)} arrays, got {len(arrays)}")
    population = _population(arrays, a)
    shape = () if size is None else check_extents(_NAME, size)
    count = math.prod(shape)
    if population < 1 and (count or population < 0):
        raise OperatorError(f"{_NAME}: expected a population of at least 1, got {population}")
    if not replace and count > population:
        raise OperatorError(
            f"{_NAME}: expected a size of at most {population}, the population, without "
            f"replacement, got {size}"
        )
    if not replace and population > _MAX_POPULATION:
        raise OperatorError(
            f"{_NAME}: expected a population of at most {_MAX_POPULATION} without replacement, "
            f"got {population}"
        )
    if weighted and (arrays[-1].shape != (population,) or not is_floating(arrays[-1].dtype)):
        raise OperatorError(f"{_NAME}: expected floating weights ({population},), got {arrays[-1]}")
    return (Spec(shape, INT64),)


def _kernel(
    xp: ModuleType,
    out: Any,
    *arrays: Any,
    key: Key,
    a: int | None,
    size: Shape | None,
    ctx: str,
    replace: bool,
    weighted: bool,
) -> None:
    population = _population(arrays, a)
    weights = arrays[-1].astype(xp.float64) if weighted else None
    if weights is not None and not bool(xp.all(weights >= 0) & (weights.sum() > 0)):
        raise OperatorError(
            f"{_NAME}: expected weights of at least 0, not all 0, got a negative, NaN or zeros"
        )
    if replace:
        draws = uniform(xp, key, (out.size,), FLOAT64)
        if weights is None:
            found = (draws * population).astype(xp.int64)
        else:
            sums = xp.cumsum(weights)
            found = xp.searchsorted(sums, draws * sums[-1], side="right")
    else:
        found = _different(xp, key, population, weights, out.size)
    out[...] = xp.minimum(found, population - 1).reshape(out.shape)


def _different(xp: ModuleType, key: Key, population: int, weights: Any, count: int) -> Any:
    """Return distinct indices: the ``count`` earliest by random exponential arrival times.

    References:
        P. Efraimidis, P. Spirakis, Weighted Random Sampling with a Reservoir, 2006.
    """
    arrivals = xp.empty(population)
    variates.fill(xp, arrivals, variates.exponential, key, ())
    if weights is not None:
        if int((weights > 0).sum()) < count:
            raise OperatorError(
                f"{_NAME}: expected at least {count} weights above 0 without replacement, "
                f"got {int((weights > 0).sum())}"
            )
        arrivals = xp.where(weights > 0, arrivals / xp.where(weights > 0, weights, 1), xp.inf)
    return xp.argsort(arrivals)[:count]


def _complete(_inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    outputs[0] = PartialSpec(attrs["size"] or (), INT64)


CHOICE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        None,
        doc=(
            "Draw indices below a, or below the number of elements of the first input.\n\n"
            "With weighted the last input holds a weight for each index. Without size a single\n"
            "index is drawn.\n\n"
            "Shapes: input1 (population,), weights (population,), output size, () without it."
        ),
        inputs=("input1", "input2"),
        active_inputs=_active,
        schema=Schema(
            a=optional(integer(), REQUIRED),
            size=optional(shape_attr(), REQUIRED),
            ctx=text("cpu"),
            replace=boolean(True),
            weighted=boolean(False),
        ),
        execution=Execution(random=True, heavy=True),
        shapes=ShapeFacts(complete=_complete),
    )
)


def _infer_shuffle(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("shuffle: expected data of at least 1 axis, got ()")
    return (data,)


def _kernel_shuffle(xp: ModuleType, out: Any, data: Any, *, key: Key) -> None:
    order = xp.argsort(random_bits(xp, key, data.shape[0]), kind="stable")
    out[...] = data[order]


SHUFFLE = register(
    Operator(
        "_shuffle",
        _infer_shuffle,
        _kernel_shuffle,
        None,
        doc="Shuffle the slices along axis 0.\n\nShapes: data (N, ...), output the same.",
        aliases=("shuffle", "_npi_shuffle"),
        execution=Execution(random=True),
        shapes=ShapeFacts(rule=same_shape()),
    )
)
