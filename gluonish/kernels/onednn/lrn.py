"""Local response normalization across channels: forward and backward.

The backward pass needs the workspace of the forward pass; as in pooling, its plan runs the forward
pass again into scratch memory.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind
from gluonish.kernels.onednn.binding import bind, channels_last_layout, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError
from gluonish.ops.registry import Attrs

_BLOCK = 16  # channels
_SHORT = 6  # maximum channels of a short window in `has_exact_backward`
_MIN_WINDOW = 3  # oneDNN 3.2 crashes for a window of one channel
_Numbers = tuple[int, float, float, float]  # size of the window, alpha, beta, k


def lrn(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass; the second output is not written.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    arrays = (outputs[0], inputs[0])
    _require("lrn", arrays, attrs)
    bound = bind("lrn", _plan_forward, arrays, _numbers(attrs))
    return bound._replace(operands=(0, len(outputs)))


def lrn_backward(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the gradient of the data, from the gradient of the output and the data.

    Raises:
        RefusedError: The library does not support these arrays.
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
    """Whether oneDNN 3.2 computes the right gradient.

    It is wrong for windows that cross blocks of channels: in float32 for long windows with a
    partial last block, in bfloat16 for long windows or a partial last block.
    """
    if channels <= _BLOCK:
        return True
    full, short = channels % _BLOCK == 0, nsize <= _SHORT
    return (full or short) if dtype == np.float32 else (full and short)


def _require(name: str, arrays: Sequence[Array], attrs: Attrs) -> None:
    require(name, *arrays)
    if attrs["nsize"] < _MIN_WINDOW:
        raise RefusedError(
            f"{name}: expected nsize of at least {_MIN_WINDOW}, got {attrs['nsize']}"
        )


def _numbers(attrs: Attrs) -> _Numbers:
    return attrs["nsize"], attrs["alpha"], attrs["beta"], attrs["knorm"]


def _layouts(
    engine: Engine, training: bool, arrays: Sequence[Array], nsize: int
) -> list[Descriptor]:
    """Return layouts: channels last, which is fast, except for one contiguous forward pass."""
    single = all(array.dtype == np.float32 for array in arrays)
    planar = not training and single and nsize == 5 and arrays[0].shape[1] % _BLOCK == 0
    if planar and all(array.flags.c_contiguous for array in arrays):
        return [engine.describe(array) for array in arrays]
    return [channels_last_layout(engine, array) for array in arrays]


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
    if descriptor.layout_of(Argument.WORKSPACE).nbytes:
        workspace = builder.temporary()
        writes = {Argument.DST: builder.temporary(), Argument.WORKSPACE: workspace}
        builder.step(hint, {Argument.SRC: source}, writes)
        reads[Argument.WORKSPACE] = workspace
    builder.step(descriptor, reads, {Argument.DIFF_SRC: target})
    return builder.build()
