"""What the fused operators' plans have in common: which array is added where, and the step."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.plan import Builder, Slot
from gluonish.kernels.onednn.primitive import ELTWISE, Finish, PrimitiveDescriptor
from gluonish.ops.kernel import Array, RefusedError, address


def finish_of(
    out: Array, inputs: Sequence[Array], attrs: Mapping[str, Any]
) -> tuple[Finish, tuple[int, ...]]:
    """Return what a primitive does to its result, and which arrays it works on.

    Args:
        out: The only output.
        inputs: The operator's inputs; the addend is the last, under ``with_sum``.
        attrs: Attributes of a fused operator, or of its base.

    Returns:
        The finish, and positions among output and inputs: all of them, but for an addend that lies
        in the memory of ``out``.

    Raises:
        RefusedError: The addend in the memory of ``out`` is another input as well.
    """
    every = tuple(range(len(inputs) + 1))
    activation = attrs.get("activation")
    functions = ELTWISE[activation](attrs["alpha"], attrs["beta"]) if activation else ()
    if not attrs.get("with_sum"):
        return Finish(None, functions), every
    addend = inputs[-1]
    if any(address(x) == address(out) for x in inputs[:-1]):
        raise RefusedError("sum: expected an addend that is not an operand too, got one in place")
    if address(addend) == address(out) and addend.strides == out.strides:
        return Finish("out", functions), every[:-1]
    return Finish("beside", functions), every


def add_finished(
    builder: Builder,
    descriptor: PrimitiveDescriptor,
    reads: Mapping[Argument, Slot],
    target: Slot,
    finish: Finish,
) -> None:
    """Add a primitive that fills ``target``, and may add to what is in it."""
    wanted = descriptor.wanted(Argument.DST)
    if finish.addend != "out" or wanted.same_as(target.layout):
        builder.step(descriptor, reads, {Argument.DST: target})
        return
    inner = builder.temporary()
    inner.descriptor = wanted
    builder.reorder(target, inner)
    builder.step(descriptor, reads, {Argument.DST: inner})
    builder.reorder(inner, target)
