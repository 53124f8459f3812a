"""Deconvolution in 1 to 3 dimensions; its gradients are convolutions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind, dims
from gluonish.kernels.onednn.binding import bind, channels_last_layout, require, require_fast
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Descriptor, element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound
from gluonish.ops.nn.deconvolution import transposed_window
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import Geometry, channels_first


class _Window(NamedTuple):
    """The attributes of Deconvolution: window, extra length of each output axis, groups."""

    geometry: Geometry
    adj: tuple[int, ...]
    num_group: int


def deconvolution(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    """Plan the forward pass.

    Args:
        outputs: out (N, O, *spatial).
        inputs: data (N, C, *spatial), weight (C, O / num_group, *kernel), and bias (O,) if the
            operator has one. In layouts that end in C, the channels of data, weight and output
            come last.

    Raises:
        RefusedError: The library does not support these arrays.
    """
    window = _Window(*transposed_window(inputs[0].shape, attrs), attrs["num_group"])
    wide = (*outputs, *inputs[:2])
    arrays = (*(channels_first(np, array, attrs["layout"]) for array in wide), *inputs[2:])
    require("deconvolution", *arrays)
    return bind("deconvolution", _plan, arrays, window)


def _weight(engine: Engine, weight: Array, groups: int, *, undecided: bool) -> Descriptor:
    """Return the weight's layout with the library's axes: groups, outputs, inputs, kernel."""
    (channels, filters, *kernel), (outer, inner, *rest) = weight.shape, element_strides(weight)
    shape: tuple[int, ...] = (filters, channels // groups, *kernel)
    strides: tuple[int, ...] = (inner, outer, *rest)
    if groups > 1:
        shape, strides = (groups, *shape), (channels // groups * outer, *strides)
    data_type = engine.data_type(weight)
    if undecided:
        return Descriptor.undecided(engine.api, shape, data_type)
    return Descriptor.strided(engine.api, shape, strides, data_type)


def _plan(engine: Engine, arrays: tuple[Array, ...], window: _Window) -> Plan:
    out, data, weight, *rest = arrays
    _, stride, dilate, pad = window.geometry
    after = tuple(p - more for p, more in zip(pad, window.adj, strict=True))
    # The library would choose a slower layout, with more reorders, than channels last.
    layouts = (
        channels_last_layout(engine, data),
        _weight(engine, weight, window.num_group, undecided=True),
        engine.describe(rest[0]) if rest else None,
        channels_last_layout(engine, out),
    )
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_deconvolution_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, AlgorithmKind.DECONVOLUTION_DIRECT),
        *(layout and layout.handle for layout in layouts),
        *map(dims, (stride, tuple(n - 1 for n in dilate), pad, after)),
        engine.attributes,
    )
    require_fast(descriptor)
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    reads = {
        Argument.SRC: builder.operand(engine.describe(data)),
        Argument.WEIGHTS: builder.operand(
            _weight(engine, weight, window.num_group, undecided=False)
        ),
    }
    if rest:
        reads[Argument.BIAS] = builder.operand(engine.describe(rest[0]))
    builder.step(descriptor, reads, {Argument.DST: target})
    return builder.build()
