"""Convolution in 1 to 3 dimensions: forward, and the gradients of data, weight and bias.

Arrays are N, C, then the spatial axes; the weight is (O, C / num_group, *kernel). All three are
handed to the library with an undecided layout, so that it takes the fastest, and reordered at the
rims.
"""

from typing import Any, NamedTuple

from gluonish.kernels.onednn.api import AlgorithmKind, Argument, PropagationKind, dims
from gluonish.kernels.onednn.backend import current, supported
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import Array, Descriptor, element_strides, signature
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import PrimitiveDescriptor

__all__ = [
    "convolution",
    "convolution_backward_data",
    "convolution_backward_weight",
    "supports_convolution",
]

Ints = tuple[int, ...]


class _Window(NamedTuple):
    """The attributes, completed and as the library counts them: ``dilate`` starts at 0."""

    stride: Ints
    dilate: Ints
    pad: Ints
    num_group: int

    def arguments(self) -> tuple[Any, ...]:
        """Strides, dilations, padding before and after."""
        pad = dims(self.pad)
        return (dims(self.stride), dims(self.dilate), pad, pad)


def supports_convolution(
    out: Array,
    data: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    kernel: Ints,
    stride: Ints = (),
    dilate: Ints = (),
    pad: Ints = (),
    num_group: int = 1,
) -> bool:
    """Whether the convolution kernels take these arrays.

    The same test serves all three: pass the arrays in the roles of ``data``, ``weight`` and ``out``
    (a gradient in the place of what it is the gradient of).

    Args:
        out: (N, O, *spatial), or its gradient.
        data: (N, C, *spatial), or its gradient.
        weight: (O, C / num_group, *kernel), or its gradient.
        bias: (O,) or None.
        kernel: Window, one number an axis; 1 to 3 axes.
        stride: Steps of the window; () for 1.
        dilate: Distance of the window's elements, 1 for dense; () for 1.
        pad: Zeros before and after each axis; () for 0.
        num_group: Groups that the channels are split in.

    Returns:
        True for 1 to 3 spatial axes, one supported dtype, and layouts that can be described.
    """
    if not 3 <= data.ndim <= 5 or len(kernel) != data.ndim - 2 or min(pad, default=0) < 0:
        return False
    arrays = (out, data, weight) if bias is None else (out, data, weight, bias)
    return supported(*arrays)


def convolution(
    out: Array,
    data: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    kernel: Ints,
    stride: Ints = (),
    dilate: Ints = (),
    pad: Ints = (),
    num_group: int = 1,
) -> None:
    """Fill ``out`` with the convolution of ``data``; arguments as in `supports_convolution`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    arrays = (out, data, weight) if bias is None else (out, data, weight, bias)
    attributes = (kernel, stride, dilate, pad, num_group)
    key = ("convolution", *map(signature, arrays), attributes)
    plans.get(key, _plan_forward, arrays, attributes).run(*arrays)


def convolution_backward_data(
    out: Array,
    grad: Array,
    weight: Array,
    *,
    kernel: Ints,
    stride: Ints = (),
    dilate: Ints = (),
    pad: Ints = (),
    num_group: int = 1,
) -> None:
    """Fill ``out``, of the shape of the data, with the gradient for the data.

    Args:
        out: (N, C, *spatial), to be filled.
        grad: Gradient of the convolution's output.
        weight: The convolution's weight.
        kernel: As for `convolution`.
        stride: As for `convolution`.
        dilate: As for `convolution`.
        pad: As for `convolution`.
        num_group: As for `convolution`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    attributes = (kernel, stride, dilate, pad, num_group)
    key = (
        "convolution_backward_data",
        *(signature(out), signature(grad), signature(weight), attributes),
    )
    plan = plans.get(key, _plan_backward_data, out, grad, weight, attributes)
    plan.run(out, grad, weight)


def convolution_backward_weight(
    out: Array,
    grad: Array,
    data: Array,
    bias_out: Array | None = None,
    *,
    kernel: Ints,
    stride: Ints = (),
    dilate: Ints = (),
    pad: Ints = (),
    num_group: int = 1,
) -> None:
    """Fill ``out``, of the shape of the weight, with the gradient for the weight.

    Args:
        out: (O, C / num_group, *kernel), to be filled.
        grad: Gradient of the convolution's output.
        data: The convolution's data.
        bias_out: (O,), filled with the gradient for the bias in the same pass; None to leave it
            out.
        kernel: As for `convolution`.
        stride: As for `convolution`.
        dilate: As for `convolution`.
        pad: As for `convolution`.
        num_group: As for `convolution`.

    Raises:
        OneDNNError: The library refuses; the reason is in the message.
    """
    plans = current().plans
    arrays = (out, grad, data) if bias_out is None else (out, grad, data, bias_out)
    attributes = (kernel, stride, dilate, pad, num_group)
    key = ("convolution_backward_weight", *map(signature, arrays), attributes)
    plans.get(key, _plan_backward_weight, arrays, attributes).run(*arrays)


def _window(attributes: tuple[Any, ...]) -> _Window:
    kernel, stride, dilate, pad, num_group = attributes
    ones = (1,) * len(kernel)
    dense = tuple(distance - 1 for distance in dilate or ones)
    return _Window(stride or ones, dense, pad or (0,) * len(kernel), num_group)


def _weight(engine: Engine, weight: Array, num_group: int, *, undecided: bool) -> Descriptor:
    """The weight's layout; with groups, the library wants them as an axis of their own in front."""
    shape, strides = weight.shape, element_strides(weight)
    if num_group > 1:
        per_group = shape[0] // num_group
        strides = (per_group * strides[0], *strides)
        shape = (num_group, per_group, *shape[1:])
    data_type = engine.data_type(weight)
    if undecided:
        return Descriptor.undecided(engine.api, shape, data_type)
    return Descriptor.strided(engine.api, shape, strides, data_type)


def _forward(
    engine: Engine, out: Array, data: Array, weight: Array, bias: Array | None, window: _Window
) -> PrimitiveDescriptor:
    layouts = (
        engine.undecided(data),
        _weight(engine, weight, window.num_group, undecided=True),
        None if bias is None else engine.describe(bias),
        engine.undecided(out),
    )
    return PrimitiveDescriptor(
        engine.api,
        "dnnl_convolution_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_TRAINING, AlgorithmKind.CONVOLUTION_DIRECT),
        *(layout and layout.handle for layout in layouts),
        *window.arguments(),
        engine.attributes,
    )


def _plan_forward(engine: Engine, arrays: tuple[Array, ...], attributes: tuple[Any, ...]) -> Plan:
    out, data, weight, *rest = arrays
    bias = rest[0] if rest else None
    window = _window(attributes)
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    reads = {
        Argument.SRC: builder.operand(engine.describe(data)),
        Argument.WEIGHTS: builder.operand(
            _weight(engine, weight, window.num_group, undecided=False)
        ),
    }
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(engine.describe(bias))
    builder.step(_forward(engine, out, data, weight, bias, window), reads, {Argument.DST: target})
    return builder.build()


def _plan_backward_data(
    engine: Engine, out: Array, grad: Array, weight: Array, attributes: tuple[Any, ...]
) -> Plan:
    window = _window(attributes)
    hint = _forward(engine, grad, out, weight, None, window)
    layouts = (
        engine.undecided(out),
        _weight(engine, weight, window.num_group, undecided=True),
        engine.undecided(grad),
    )
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_convolution_backward_data_primitive_desc_create",
        *(engine.handle, AlgorithmKind.CONVOLUTION_DIRECT),
        *(layout.handle for layout in layouts),
        *window.arguments(),
        *(hint.handle, engine.attributes),
    )
    builder = Builder(engine)
    target = builder.operand(engine.describe(out))
    reads = {
        Argument.DIFF_DST: builder.operand(engine.describe(grad)),
        Argument.WEIGHTS: builder.operand(
            _weight(engine, weight, window.num_group, undecided=False)
        ),
    }
    builder.step(descriptor, reads, {Argument.DIFF_SRC: target})
    return builder.build()


def _plan_backward_weight(
    engine: Engine, arrays: tuple[Array, ...], attributes: tuple[Any, ...]
) -> Plan:
    out, grad, data, *rest = arrays
    bias_out = rest[0] if rest else None
    window = _window(attributes)
    hint = _forward(engine, grad, data, out, bias_out, window)
    layouts = (
        engine.undecided(data),
        _weight(engine, out, window.num_group, undecided=True),
        None if bias_out is None else engine.describe(bias_out),
        engine.undecided(grad),
    )
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_convolution_backward_weights_primitive_desc_create",
        *(engine.handle, AlgorithmKind.CONVOLUTION_DIRECT),
        *(layout and layout.handle for layout in layouts),
        *window.arguments(),
        *(hint.handle, engine.attributes),
    )
    builder = Builder(engine)
    writes = {
        Argument.DIFF_WEIGHTS: builder.operand(
            _weight(engine, out, window.num_group, undecided=False)
        )
    }
    reads = {
        Argument.DIFF_DST: builder.operand(engine.describe(grad)),
        Argument.SRC: builder.operand(engine.describe(data)),
    }
    if bias_out is not None:
        writes[Argument.DIFF_BIAS] = builder.operand(engine.describe(bias_out))
    builder.step(descriptor, reads, writes)
    return builder.build()
