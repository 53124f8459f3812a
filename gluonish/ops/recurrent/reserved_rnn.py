"""_reserved_rnn: RNN whose reserve is in the private format of a device's kernel.

The reserve of RNN has one layout for all kernels. A library's own format has another size, which
only the device knows. So calls on such a device, and graphs for it, run this operator instead of
RNN, with the size as an attribute. Without a gradient the reserve is empty.

Only the kernel that filled a reserve reads it, except for its beginning, the mask of dropout in
RNN's layout (`gluonish.ops.recurrent.layout.segments`). The reference gradient computes the rest
again. So a kernel may fall back to the reference in both directions, but the gradient's kernel must
refuse a call whose forward pass it refused.
"""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, Gradient
from gluonish.ops.recurrent.layout import Dims, dims_of, reserve_size, segments
from gluonish.ops.recurrent.reference import backward, forward
from gluonish.ops.recurrent.rnn import (
    ATTRIBUTES,
    HEADS,
    RNN,
    active_inputs,
    arguments,
    backward_composed,
    backward_infer,
    compose,
    state_count,
)
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.composite import composite_gradient
from gluonish.ops.support.work import endless

# Returns the size of the private reserve for a device, the specs of RNN's inputs and its
# attributes; None if the device's kernel does not support them.
ReserveRule = Callable[[Any, Sequence[Spec], Attrs], int | None]
_rules: list[ReserveRule] = []  # at most one, set by `set_reserve_rule`


def set_reserve_rule(rule: ReserveRule) -> None:
    """Register the function that decides which calls of RNN a device runs as _reserved_rnn."""
    _rules[:] = [rule]


def private_reserve(device: Any, specs: Sequence[Spec], attrs: Attrs) -> int | None:
    """Return the size of the private reserve of an RNN call; None to run RNN itself.

    Args:
        device: The device of the arrays.
        specs: The specs of RNN's inputs.
        attrs: RNN's attributes.

    Returns:
        The number of elements of the reserve's dtype, which is that of RNN's.
    """
    return None if device.is_host or not _rules else _rules[0](device, specs, attrs)


def mask_size(dims: Dims) -> int:
    """Return the number of elements of the mask of dropout, at the beginning of a reserve."""
    found = segments(dims).get(("mask", 0))
    return 0 if found is None else math.prod(found[1])


def _infer(*specs: Spec, reserve: int, **attrs: Any) -> tuple[Spec, ...]:
    found = RNN.infer(*specs, **attrs)
    return (*found[:-1], Spec((reserve,), found[-1].dtype))


def _kernel(
    xp: ModuleType, outputs: tuple[Any, ...], *arrays: Any, reserve: int, **attrs: Any
) -> None:
    dims = dims_of(arrays[0].shape, attrs)
    shared = xp.empty(reserve_size(dims), outputs[-1].dtype)
    RNN.kernel(xp, (*outputs[:-1], shared), *arrays, **attrs)
    size = mask_size(dims)
    if reserve and size:
        outputs[-1][:size] = shared[:size]


def _gradient(
    g: tuple[V | None, ...],
    *values: V,
    train: bool = True,
    key: Any = None,
    reserve: int,
    **attrs: Any,
) -> tuple[Any, ...]:
    names = active_inputs(attrs)
    inputs = values[: len(names)]
    heads = tuple(i for i, head in enumerate(g[:-1]) if head is not None)
    if not heads:
        return (None,) * len(names)
    if reserve:
        drops = bool(train and mask_size(dims_of(inputs[0].shape, attrs)))
        arrays = (*(g[i] for i in heads), *inputs, values[len(names)], values[-1])
        found = apply(RESERVED_RNN_BACKWARD, arrays, {**attrs, "heads": heads, "drops": drops})
    else:
        found = _composed_gradient(g, inputs, attrs)
    return (*found, None) if attrs["use_sequence_length"] else tuple(found)


def _composed_gradient(
    g: tuple[V | None, ...], inputs: Sequence[V], attrs: Attrs
) -> tuple[Any, ...]:
    """Return the gradients of a call that saved nothing, and therefore dropped nothing."""
    dims, names = dims_of(inputs[0].shape, attrs), active_inputs(attrs)

    def composed(*arrays: Any) -> tuple[Any, ...]:
        return compose(dims, **dict(zip(names, arrays, strict=True)))

    count = state_count(attrs)
    return tuple(composite_gradient(composed)(list(g[: 1 + count]), *inputs)[: 2 + count])


RESERVED_RNN = register(
    Operator(
        "_reserved_rnn",
        _infer,
        _kernel,
        Gradient(_gradient, uses_output=True),
        doc=(
            "RNN with a reserve in the private format of a device's kernel.\n\n"
            "reserve: size of the hidden output in elements; 0 if no gradient is computed."
        ),
        inputs=RNN.inputs,
        active_inputs=active_inputs,
        schema=Schema(**ATTRIBUTES, reserve=integer(0, low=0)),
        outputs=RNN.outputs,
        visible=RNN.visible,
        output_names=RNN.output_names,
        execution=Execution(train_dependent=True, random=True, heavy=endless),
    )
)


def _backward_kernel(
    xp: ModuleType,
    outputs: tuple[Any, ...],
    *arrays: Any,
    heads: Shape,
    drops: bool,
    **attrs: Any,
) -> None:
    inputs = arguments(arrays[len(heads) : -2], attrs)
    output, saved = arrays[-2:]
    given = [arrays[heads.index(i)] if i in heads else None for i in range(3)]
    dims = dims_of(inputs.data.shape, attrs)
    shared = xp.empty(reserve_size(dims), saved.dtype)
    states = [xp.empty_like(x) for x in (inputs.state, inputs.state_cell) if x is not None]
    mask = saved[: mask_size(dims)]
    forward(xp, dims, (xp.empty_like(output), *states, shared), inputs, mask.reshape)
    backward(xp, dims, outputs, given, inputs, shared)


def _backward(*values: Any, drops: bool, **attrs: Any) -> tuple[Any, ...]:
    """Compute `_backward_kernel`'s result with operators."""
    return backward_composed(*values[:-2], values[-1], **attrs)


_backward_rule = composite_gradient(_backward)


def _backward_gradient(g: tuple[V | None, ...], *values: V, **attrs: Any) -> tuple[Any, ...]:
    # Output and reserve are functions of the other inputs.
    return (*_backward_rule(g, *values, **attrs)[:-2], None, None)


RESERVED_RNN_BACKWARD = register(
    Operator(
        "_reserved_rnn_backward",
        backward_infer,
        _backward_kernel,
        _backward_gradient,
        doc=(
            "Gradients of _reserved_rnn's data, parameters and states; see _rnn_backward.\n\n"
            "drops: whether the forward pass dropped elements between layers; output and reserve\n"
            "are outputs of _reserved_rnn."
        ),
        inputs=(*HEADS, *RNN.inputs, "output", "reserve"),
        active_inputs=lambda attrs: (
            *(HEADS[i] for i in attrs["heads"]),
            *active_inputs(attrs),
            "output",
            "reserve",
        ),
        schema=Schema(**ATTRIBUTES, heads=shape_attr(()), drops=boolean(False)),
        outputs=lambda attrs: 2 + state_count(attrs),
        output_names=("data", "parameters", "state", "state_cell"),
        execution=Execution(heavy=endless),
    )
)
