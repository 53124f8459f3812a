"""Winograd's 3 x 3 convolution, with 16 multiplications instead of 36, and its gradients.

Tiles of data and filters are transformed so that sixteen matrix products give tiles of 2 x 2
outputs. oneDNN multiplies; generated kernels transform a few tiles at a time (`winograd_code`).
Results differ from direct sums by a few units of round-off: the factors are 1 and 1/2.

On two Zen 4 cores, relative to oneDNN's direct convolution, float32, 64 to 512 channels: 1.4 to 1.9
times as fast forward with filters transformed in advance; at 32 samples 1.2 to 1.8 forward, 1.2 to
1.8 for the data gradient and 1.2 to 3.4 for the filter gradient. Networks relative to
MXNET_WINOGRAD_CONVOLUTION=0, alternately (the shortest of 7 to 10 calls, 2026-11-28, a loaded
machine): VGG-16 inference 1.66 times as fast (batch 4), ResNet-50 1.05 and 1.14 (batch 1 and 8),
ResNet-18 training 1.14 (batch 4).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_WINOGRAD_CONVOLUTION
from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.generated import support as generated
from gluonish.kernels.generated.winograd_output import Epilogue, GradientPlan, OutputPlan
from gluonish.kernels.generated.winograd_tiles import WhenPacked
from gluonish.kernels.onednn import convolution as direct
from gluonish.kernels.onednn import register as onednn
from gluonish.kernels.onednn.backend import current
from gluonish.kernels.onednn.binding import channels_last, post_ops_of, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import signature
from gluonish.kernels.onednn.primitive import ELTWISE
from gluonish.ops.fused.operator import FUSED_CONVOLUTION
from gluonish.ops.kernel import Array, BackEnd, Bound, FastKernel, RefusedError
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import is_channels_last

_CHANNELS = 32  # minimum input and output channels
_VECTOR = 16  # the number of channels must be a multiple of this
# Minimum tiles with filters transformed in advance, and with filters transformed in each call.
_TILES, _TILES_UNPACKED = 32, 80

Arrays = Sequence[Array]


def outputs_plan(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan a convolution; the arguments are those of `direct.convolution`.

    Raises:
        RefusedError: Channels are not last in memory, or the activation is not relu.
    """
    post_ops, operands = post_ops_of(outputs[0], inputs, attrs)
    every = (*outputs, *inputs)
    arrays = _images([every[i] for i in operands], attrs)
    functions = post_ops.functions
    if functions and functions != ELTWISE["relu"](0, 0):
        raise RefusedError(f"winograd: expected relu, got {attrs['activation']}")
    form = Epilogue(not attrs["no_bias"], post_ops.addend, bool(functions))
    for image in (*arrays[:2], *(arrays[-1:] if post_ops.addend == "separate" else ())):
        _require_last(image)
    plan = _find("outputs", _plan_outputs, arrays, (_pad(attrs), form))
    if _count_tiles(arrays[0].shape) >= _TILES_UNPACKED:
        return Bound(plan, operands)
    other = direct.convolution(outputs, inputs, attrs)
    return Bound(WhenPacked(plan, other.plan), operands)


def _data_plan(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    arrays = _images([*outputs, *inputs], attrs)
    for image in arrays[:2]:
        _require_last(image)
    plan = _find("data gradient", _plan_data, arrays, 2 - _pad(attrs))
    return Bound(plan)


def _filters_plan(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    arrays = _images([*outputs, *inputs], attrs)
    for image in arrays[-2:]:
        _require_last(image)
    plan = _find("filter gradient", _plan_filters, arrays, _pad(attrs))
    return Bound(plan)


def _find(name: str, build: Callable[..., Any], arrays: Arrays, form: Any) -> Any:
    require(f"winograd {name}", *arrays)
    key = ("winograd", name, *map(signature, arrays), form)
    return current().plans.get(key, build, tuple(arrays), form)


def _plan_outputs(engine: Engine, arrays: Arrays, form: tuple[int, Epilogue]) -> OutputPlan:
    pad, epilogue = form
    return OutputPlan(engine, arrays, pad, epilogue, rotated=False)


def _plan_data(engine: Engine, arrays: Arrays, pad: int) -> OutputPlan:
    return OutputPlan(engine, arrays, pad, Epilogue(), rotated=True)


def _plan_filters(engine: Engine, arrays: Arrays, pad: int) -> GradientPlan:
    return GradientPlan(engine, arrays, pad)


def _images(arrays: Sequence[Array], attrs: Attrs) -> list[Array]:
    """Return the arrays, with images as views that have channels in axis 1."""
    if not is_channels_last(attrs["layout"]):
        return list(arrays)
    return [np.moveaxis(x, -1, 1) if x.ndim == 4 else x for x in arrays]


def _require_last(image: Array) -> None:
    if not channels_last(image) or not image.flags.aligned:
        raise RefusedError(
            f"winograd: expected channels last in memory, got strides {image.strides} for "
            f"{image.shape}"
        )


def _pad(attrs: Attrs) -> int:
    return attrs["pad"][0] if attrs["pad"] else 0


def _count_tiles(shape: Shape) -> int:
    return shape[0] * math.prod(-(-extent // 2) for extent in shape[2:])


def _supports_outputs(data: Spec, weight: Spec, *rest: Spec, **attrs: Any) -> bool:
    if not _is_window(attrs) or not _are_floats(data, weight, *rest):
        return False
    samples, *spatial = _extents(data, attrs)
    grown = 2 * _pad(attrs) - 2
    out = (samples, 0, *(extent + grown for extent in spatial))
    return _pays(weight, attrs, _count_tiles(out), _TILES)


def _supports_data(grad: Spec, weight: Spec, *, data_shape: Shape, **attrs: Any) -> bool:
    if not _is_window(attrs) or not _are_floats(grad, weight):
        return False
    samples, *spatial = _extents(Spec(data_shape, FLOAT32), attrs)
    return _pays(weight, attrs, _count_tiles((samples, 0, *spatial)), _TILES_UNPACKED)


def _supports_filters(grad: Spec, data: Spec, *, weight_shape: Shape, **attrs: Any) -> bool:
    if not _is_window(attrs) or not _are_floats(grad, data):
        return False
    samples, *spatial = _extents(grad, attrs)
    tiles = _count_tiles((samples, 0, *spatial))
    return _pays(Spec(weight_shape, FLOAT32), attrs, tiles, _TILES_UNPACKED)


def _is_window(attrs: Attrs) -> bool:
    """Whether windows are 3 x 3 without dilation, with stride 1."""
    if attrs["kernel"] != (3, 3) or attrs["num_group"] != 1:
        return False
    steps = (*attrs["stride"], *attrs["dilate"])
    pad = attrs["pad"] or (0, 0)
    return all(step == 1 for step in steps) and pad[0] == pad[1] and 0 <= pad[0] <= 2


def _are_floats(*specs: Spec) -> bool:
    return all(spec.dtype == FLOAT32 and 0 not in spec.shape for spec in specs)


def _extents(images: Spec, attrs: Attrs) -> Shape:
    """Return the number of samples, the height and the width."""
    samples, *rest = images.shape
    return (samples, *(rest[:-1] if is_channels_last(attrs["layout"]) else rest[1:]))


def _pays(weight: Spec, attrs: Attrs, tiles: int, fewest: int) -> bool:
    channels = weight.shape[0], weight.shape[-1 if is_channels_last(attrs["layout"]) else 1]
    wide = all(n >= _CHANNELS and n % _VECTOR == 0 for n in channels)
    return wide and tiles >= fewest


def _usable() -> bool:
    return MXNET_WINOGRAD_CONVOLUTION.value and generated.enabled() and onednn.enabled()


KERNELS = tuple(
    (op, FastKernel(BackEnd.GENERATED, name, supports, plan=plan, enabled=_usable))
    for op, name, supports, plan in (
        (CONVOLUTION, "winograd", _supports_outputs, outputs_plan),
        (FUSED_CONVOLUTION, "winograd", _supports_outputs, outputs_plan),
        (CONVOLUTION_BACKWARD_DATA, "winograd_data", _supports_data, _data_plan),
        (CONVOLUTION_BACKWARD_WEIGHT, "winograd_filters", _supports_filters, _filters_plan),
        (CONVOLUTION_BACKWARD_WEIGHT_BIAS, "winograd_filters", _supports_filters, _filters_plan),
    )
)
