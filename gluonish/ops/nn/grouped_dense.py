"""_grouped_dense: rows in groups, each multiplied by the weight of its group.

The experts of a mixture compute so: rows are sorted by expert, and a group without rows costs
nothing.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.device import Platform
from gluonish.core.dtype import is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution
from gluonish.ops.nn.dense import FULLY_CONNECTED
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.host import to_host
from gluonish.ops.support.precision import fill_product

_NAME = "_grouped_dense"


def _check_counts(name: str, counts: Spec, groups: int) -> None:
    if counts.shape != (groups,) or not (counts.dtype.kind in "iu" or is_floating(counts.dtype)):
        raise OperatorError(f"{name}: expected counts ({groups},) of numbers, got {counts}")


def _infer(data: Spec, weight: Spec, counts: Spec, *, transpose: bool) -> tuple[Spec]:
    if len(data.shape) != 2 or len(weight.shape) != 3:
        raise OperatorError(
            f"{_NAME}: expected data (rows, features) and weight (groups, units, features), got "
            f"shapes {data.shape} and {weight.shape}"
        )
    check_same_dtype(_NAME, data, weight)
    groups, *sides = weight.shape
    units, features = sides[::-1] if transpose else sides
    if data.shape[1] != features:
        raise OperatorError(
            f"{_NAME}: expected data (rows, {features}) for weight {weight.shape}, got {data.shape}"
        )
    _check_counts(_NAME, counts, groups)
    return (Spec((data.shape[0], units), data.dtype),)


def _groups(xp: ModuleType, counts: Any, rows: int) -> Iterator[tuple[int, slice]]:
    """Yield the groups that have rows, with their rows.

    Raises:
        OperatorError: The counts do not add up to the number of rows.
    """
    sizes = [int(count) for count in to_host(xp, counts).tolist()]
    if min(sizes, default=0) < 0 or sum(sizes) != rows:
        raise OperatorError(f"{_NAME}: expected counts whose sum is {rows}, got {sizes}")
    start = 0
    for group, size in enumerate(sizes):
        if size:
            yield group, slice(start, start + size)
        start += size


def _kernel(
    xp: ModuleType, out: Any, data: Any, weight: Any, counts: Any, *, transpose: bool
) -> None:
    platform: Platform = "cpu" if xp is np else "gpu"
    for group, rows in _groups(xp, counts, len(data)):
        if transpose:
            fill_product(xp, out[rows], data[rows], weight[group])
            continue
        inputs = (data[rows], weight[group])
        specs = [Spec(x.shape, x.dtype) for x in inputs]
        attrs = {"num_hidden": weight.shape[1], "no_bias": True, "flatten": False}
        kernel = FULLY_CONNECTED.select_kernel(platform, specs, attrs)
        kernel(xp, out[rows], *inputs, **attrs)


def _gradient(g: V, data: V, weight: V, counts: V, *, transpose: bool) -> Any:
    def of_weight() -> Any:
        pair = (data, g) if transpose else (g, data)
        return apply(GROUPED_OUTER, (*pair, counts), {})

    def of_data() -> Any:
        return apply(GROUPED_DENSE, (g, weight, counts), {"transpose": not transpose})

    return of_data, of_weight, None


GROUPED_DENSE = register(
    Operator(
        _NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Multiply the rows of each group by the transposed weight of the group.\n\n"
            "counts are the numbers of rows of the groups, one after the other; their values are\n"
            "read by the host. transpose multiplies by the weight itself.\n\n"
            "Shapes: data (rows, features), weight (groups, units, features), counts (groups,),\n"
            "output (rows, units); with transpose, weight is (groups, features, units)."
        ),
        inputs=("data", "weight", "counts"),
        schema=Schema(transpose=boolean(False)),
        execution=Execution(heavy=True, live=True),
    )
)


def _outer_infer(a: Spec, b: Spec, counts: Spec) -> tuple[Spec]:
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[0] != b.shape[0]:
        raise OperatorError(
            f"_grouped_outer: expected two matrices with the same rows, got shapes {a.shape} and "
            f"{b.shape}"
        )
    check_same_dtype("_grouped_outer", a, b)
    if len(counts.shape) != 1:
        raise OperatorError(f"_grouped_outer: expected counts (groups,), got {counts}")
    return (Spec((counts.shape[0], a.shape[1], b.shape[1]), a.dtype),)


def _outer_kernel(xp: ModuleType, out: Any, a: Any, b: Any, counts: Any) -> None:
    out[...] = 0
    for group, rows in _groups(xp, counts, len(a)):
        fill_product(xp, out[group], a[rows].T, b[rows])


def _outer_gradient(g: V, a: V, b: V, counts: V) -> Any:
    return (
        lambda: apply(GROUPED_DENSE, (b, g, counts), {"transpose": False}),
        lambda: apply(GROUPED_DENSE, (a, g, counts), {"transpose": True}),
        None,
    )


GROUPED_OUTER = register(
    Operator(
        "_grouped_outer",
        _outer_infer,
        _outer_kernel,
        _outer_gradient,
        doc=(
            "Multiply, for each group of rows, a's transpose by b; 0 for groups without rows.\n\n"
            "Shapes: a (rows, units), b (rows, features), counts (groups,), output (groups,\n"
            "units, features)."
        ),
        inputs=("a", "b", "counts"),
        execution=Execution(heavy=True, live=True),
    )
)
