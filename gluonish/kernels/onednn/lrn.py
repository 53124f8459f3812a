"""Local response normalization across channels: forward and backward.

The backward wants what the forward leaves in a workspace; as in pooling, its plan runs the forward
again into scratch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind
from gluonish.kernels.onednn.binding import bind, require, spread
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.registry import Attrs

_BLOCK = 16  # channels
_LONGEST = 6  # channels of a window, for `has_exact_backward`
_LEAST = 3  # for a window of one channel, oneDNN 3.2 crashes
_Numbers = tuple[int, float, float, float]  # size of the window, alpha, beta, what is added


def lrn(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan for the forward.

    Args:
        outputs: out (N, C, *spatial), to be filled, and one that stays as it is.
        inputs: data (N, C, *spatial).

    Returns:
        The plan, for (out, nothing, data).

    Raises:
        RefusedError: The library does not take these arrays.
    """
    arrays = (outputs[0], inputs[0])
    _require("lrn", arrays, attrs)
    bound = bind("lrn", _plan_forward, arrays, _numbers(attrs))
    return bound._replace(operands=(0, len(outputs)))


def lrn_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan for the gradient of the data.

    Args:
        outputs: The gradient, to be filled.
        inputs: Gradient of the output, and data.

    Returns:
        The plan, for (gradient, gradient of the output, data).

    Raises:
        RefusedError: The library does not take these arrays.
    """
    arrays = (*outputs, *inputs)
    _require("lrn_backward", arrays, attrs)
    if not has_exact_backward(inputs[1].dtype, inputs[1].shape[1], attrs["nsize"]):
        raise RefusedError(
            f"lrn_backward: expected another window or number of channels, got {attrs['nsize']} "
            f"and {inputs[1].shape[1]} in {inputs[1].dtype}, for which oneDNN is wrong"
        )
    return bind("lrn_backward", _plan_backward, arrays, _numbers(attrs))


def has_exact_backward(dtype: np.dtype[Any], channels: int, nsize: int) -> bool:
    """Whether the gradient of oneDNN 3.2 is right.

    Where a window reaches from one block of channels into the next it is wrong: in float32 for long
    windows if the last block is not full, in bfloat16 for long windows or if it is not full.
    """
    if channels <= _BLOCK:
        return True
    full, short = channels % _BLOCK == 0, nsize <= _LONGEST
    return (full or short) if dtype == np.float32 else (full and short)


def _require(name: str, arrays: Sequence[Array], attrs: Attrs) -> None:
    require(name, *arrays)
    if attrs["nsize"] < _LEAST:
        raise RefusedError(f"{name}: expected nsize of at least {_LEAST}, got {attrs['nsize']}")


def _numbers(attrs: Attrs) -> _Numbers:
    return attrs["nsize"], attrs["alpha"], attrs["beta"], attrs["knorm"]


def _layouts(
    engine: Engine, training: bool, arrays: Sequence[Array], nsize: int
) -> list[Descriptor]:
    """Channels last, for which alone there are fast implementations; but one, of the forward."""
    single = all(array.dtype == np.float32 for array in arrays)
    plain = not training and single and nsize == 5 and arrays[0].shape[1] % _BLOCK == 0
    if plain and all(array.flags.c_contiguous for array in arrays):
        return [engine.describe(array) for array in arrays]
    return [spread(engine, array) for array in arrays]


def _forward(
    engine: Engine, training: bool, out: Array, data: Array, numbers: _Numbers
) -> PrimitiveDescriptor:
    layouts = _layouts(engine, training, (data, out), numbers[0])
    propagation = (
        PropagationKind.FORWARD_TRAINING if training else PropagationKind.FORWARD_INFERENCE
    )
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_lrn_forward_primitive_desc_create",
        *(engine.handle, propagation, AlgorithmKind.LRN_ACROSS_CHANNELS),
        *(*(layout.handle for layout in layouts), *numbers, engine.attributes),
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], numbers: _Numbers) -> Plan:
    builder = Builder(engine)
    out, data = (builder.operand(engine.describe(array)) for array in arrays)
    descriptor = _forward(engine, False, arrays[0], arrays[1], numbers)
    builder.step(descriptor, {Argument.SRC: data}, {Argument.DST: out})
    return builder.build()


def _plan_backward(engine: Engine, arrays: tuple[Array, ...], numbers: _Numbers) -> Plan:
    layouts = _layouts(engine, True, arrays, numbers[0])
    hint = _forward(engine, True, arrays[1], arrays[2], numbers)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_lrn_backward_primitive_desc_create",
        *(engine.handle, AlgorithmKind.LRN_ACROSS_CHANNELS),
        *(*(layout.handle for layout in layouts), *numbers, hint.handle, engine.attributes),
    )
    builder = Builder(engine)
    target, head, source = (builder.operand(engine.describe(array)) for array in arrays)
    reads = {Argument.DIFF_DST: head, Argument.SRC: source}
    if descriptor.wanted(Argument.WORKSPACE).nbytes:
        workspace = builder.temporary()
        writes = {Argument.DST: builder.temporary(), Argument.WORKSPACE: workspace}
        builder.step(hint, {Argument.SRC: source}, writes)
        reads[Argument.WORKSPACE] = workspace
    builder.step(descriptor, reads, {Argument.DIFF_SRC: target})
    return builder.build()
