"""Run planned kernels: on arrays of any layout, against the operator's reference kernel."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.kernels.onednn.plan import Plan
from gluonish.ops.kernel import Array
from gluonish.ops.registry import Operator
from tests.checking.values import runtime_attrs, spec_of

Layout = Callable[[Array], Array]


def run(plan: Any, outputs: Sequence[Array], inputs: Sequence[Array], attrs: Any) -> Plan:
    """Make the plan and run it on the arrays it was made for."""
    bound = plan(tuple(outputs), tuple(inputs), attrs)
    arrays = (*outputs, *inputs)
    bound.plan.run(*bound.order(arrays))
    made: Plan = bound.plan
    return made


def parsed(op: Operator, train: bool = True, **given: Any) -> dict[str, Any]:
    """Attributes as a kernel gets them."""
    return runtime_attrs(op, op.schema.parse(op.name, given), train)


def contiguous(array: Array) -> Array:
    """A copy in C order."""
    return np.array(array, order="C")


def channels_last(array: Array) -> Array:
    """A copy whose axis 1 runs fastest in memory."""
    if array.ndim < 3:
        return contiguous(array)
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def with_gaps(array: Array) -> Array:
    """A copy of which each element is followed by one that belongs to nobody."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else contiguous(array)


LAYOUTS = [contiguous, channels_last, with_gaps]


def blank(op: Operator, inputs: Sequence[Array], layout: Layout, attrs: Any) -> list[Array]:
    """Outputs to fill, which hold a NaN in each element that can."""
    known = {name: value for name, value in attrs.items() if name not in ("train", "key")}
    found = []
    for spec in op.infer(*map(spec_of, inputs), **known):
        array = np.zeros(spec.shape, spec.dtype)
        if spec.dtype.kind != "u":
            array[...] = np.nan
        found.append(array if array.ndim == 1 else layout(array))
    return found


def reference(op: Operator, inputs: Sequence[Array], attrs: Any) -> list[Array]:
    """What the reference kernel computes in float32 from these inputs."""
    wide = [x if x.dtype.kind == "u" else x.astype(np.float32) for x in inputs]
    outputs = blank(op, wide, contiguous, attrs)
    op.kernel(np, outputs[0] if op.single else tuple(outputs), *wide, **attrs)
    return outputs


def check(
    op: Operator,
    plan: Any,
    inputs: Sequence[Array],
    attrs: Any,
    close: Any,
    layout: Layout = contiguous,
) -> Plan:
    """Compare a plan's outputs with the reference kernel's; returns the plan."""
    given = [x if x.ndim == 1 else layout(x) for x in inputs]
    outputs = blank(op, given, layout, attrs)
    made = run(plan, outputs, given, attrs)
    for got, want in zip(outputs, reference(op, inputs, attrs), strict=True):
        close(got, want.astype(np.float64))
    return made


def random(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Array:
    """Seeded normal numbers."""
    values: Array = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return values
