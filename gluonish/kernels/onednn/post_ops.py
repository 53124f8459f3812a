"""Post-ops of fused operators: an addend, in place or separate, and an activation."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.plan import Builder, Slot
from gluonish.kernels.onednn.primitive import ELTWISE, PostOps, PrimitiveDescriptor
from gluonish.ops.kernel import Array, RefusedError, address


def post_ops_of(
    out: Array, inputs: Sequence[Array], attrs: Mapping[str, Any]
) -> tuple[PostOps, tuple[int, ...]]:
    """Return the post-ops of a fused operator or its base, and the plan's operands.

    Args:
        inputs: The operator's inputs; the addend is the last, under ``with_sum``.

    Returns:
        The post-ops, and the operands' indices among output and inputs: all, except for an addend
        in the memory of ``out``.

    Raises:
        RefusedError: Another input shares the memory of ``out``.
    """
    every = tuple(range(len(inputs) + 1))
    activation = attrs.get("activation")
    functions = ELTWISE[activation](attrs["alpha"], attrs["beta"]) if activation else ()
    if not attrs.get("with_sum"):
        return PostOps(None, functions), every
    addend = inputs[-1]
    if any(address(x) == address(out) for x in inputs[:-1]):
        raise RefusedError("sum: expected an addend that is not an operand too, got one in place")
    if address(addend) == address(out) and addend.strides == out.strides:
        return PostOps("in_place", functions), every[:-1]
    return PostOps("separate", functions), every


def add_with_post_ops(
    builder: Builder,
    descriptor: PrimitiveDescriptor,
    reads: Mapping[Argument, Slot],
    target: Slot,
    post_ops: PostOps,
) -> None:
    """Add a primitive that fills ``target``, or accumulates into it."""
    layout = descriptor.layout_of(Argument.DST)
    if post_ops.addend != "in_place" or layout.same_as(target.layout):
        builder.step(descriptor, reads, {Argument.DST: target})
        return
    inner = builder.temporary_of(layout)
    builder.reorder(target, inner)
    builder.step(descriptor, reads, {Argument.DST: inner})
    builder.reorder(inner, target)
