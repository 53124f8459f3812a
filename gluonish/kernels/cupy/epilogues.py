"""Sums and activations after a layer, for layers whose library did not include them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.memory_layout import in_memory, is_dense
from gluonish.ops.fused.activation import ACTIVATIONS, Finish, finish
from gluonish.ops.fused.pointwise import FUSED_POINTWISE, Instruction, Program
from gluonish.ops.registry import find_operator

Split = tuple[tuple[Any, Any, Any], Any, dict[str, Any], Finish]


def split_epilogue(inputs: Sequence[Any], attrs: dict[str, Any]) -> Split:
    """Return data, weight and bias or None; the addend or None; the layer's attributes; the rest.

    Args:
        inputs: Inputs of an operator of `gluonish.ops.fused.operator`.
        attrs: Its attributes.
    """
    epilogue = Finish(*(attrs[name] for name in Finish._fields))
    plain = {name: value for name, value in attrs.items() if name not in Finish._fields}
    *layer, addend = inputs if epilogue.with_sum else (*inputs, None)
    data, weight, *bias = layer
    return (data, weight, bias[0] if bias else None), addend, plain, epilogue


def run_epilogue(xp: Any, out: Any, addend: Any, epilogue: Finish) -> None:
    """Add ``addend`` to ``out`` if it is not None, and apply the activation, in one launch."""
    last = out.ndim > 2 and is_dense(out, last=True)
    target = in_memory(out, last)
    added = None if addend is None else in_memory(addend, last)
    inputs = (target,) if added is None else (target, added)
    program = _program(epilogue)
    if program is not None:
        attrs = {"num_args": len(inputs), "program": program}
        specs = [Spec(x.shape, x.dtype) for x in inputs]
        fast = FUSED_POINTWISE.select_fast("gpu", specs, attrs)
        if fast is not None:
            fast.kernel(xp, target, *inputs, **attrs)
            return
    finish(xp, target, target, added, epilogue)


@lru_cache(maxsize=256)
def _program(epilogue: Finish) -> Program | None:
    """Return an epilogue as a program; None for swish, which is no operator."""
    if epilogue.activation == "swish":
        return None
    steps = [Instruction(find_operator("elemwise_add"), (0, 1), {})] if epilogue.with_sum else []
    if epilogue.activation is not None:
        op, attrs = ACTIVATIONS[epilogue.activation](epilogue.alpha, epilogue.beta)
        steps.append(Instruction(op, (2 * len(steps),), attrs))
    count = 1 + epilogue.with_sum
    return Program(count, steps, [count + len(steps) - 1])
