"""Deconvolution: the transpose of a convolution.

This is the data gradient of a convolution with the same weight, so that its gradients are a
convolution and the weight gradient of a convolution.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, choice, integer, shape
from gluonish.core.spec import UNKNOWN, PartialSpec, Shape, Spec, merge_dtypes, merge_shapes
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
)
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.precision import widen
from gluonish.ops.support.shape_rules import limited
from gluonish.ops.support.windows import (
    Geometry,
    channels_last,
    check_windows,
    is_channels_last,
    normalize_geometry,
)
from gluonish.ops.support.work import remembered

_NAMES = ("data", "weight", "bias")
_LAYOUTS = {1: ("NCW",), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _active_inputs(attrs: Attrs) -> tuple[str, ...]:
    return _NAMES[:2] if attrs["no_bias"] else _NAMES


def _first(shape: Shape, layout: str | None) -> Shape:
    """Convert a shape from ``layout`` to channels first."""
    return (shape[0], shape[-1], *shape[1:-1]) if is_channels_last(layout) else shape


def transposed_window(data: Shape, attrs: Attrs) -> tuple[Geometry, Shape]:
    """Return the window, and the extra elements (adj) of each output axis.

    Raises:
        OperatorError: The attributes do not match each other, the data or the layout.
    """
    kernel, layout = attrs["kernel"], attrs["layout"]
    if len(kernel) not in _LAYOUTS or len(data) != len(kernel) + 2:
        raise OperatorError(
            f"Deconvolution: expected a kernel of 1 to 3 axes and data with 2 more, got {kernel} "
            f"and data {data}"
        )
    if layout is not None and layout not in _LAYOUTS[len(kernel)]:
        raise OperatorError(
            f"Deconvolution: expected layout {' or '.join(_LAYOUTS[len(kernel)])} for kernel "
            f"{kernel}, got {layout}"
        )
    window = normalize_geometry(
        "Deconvolution", kernel, attrs["stride"], attrs["dilate"], attrs["pad"]
    )
    if attrs["target_shape"]:
        return _aimed(window, _first(data, layout)[2:], attrs["target_shape"])
    adj = attrs["adj"] or (0,) * len(kernel)
    if len(adj) != len(kernel) or any(
        not 0 <= a < s for a, s in zip(adj, window.stride, strict=True)
    ):
        raise OperatorError(
            f"Deconvolution: expected adj of {len(kernel)} ints from 0 to below stride "
            f"{window.stride}, got {adj}"
        )
    return window, adj


def _aimed(window: Geometry, spatial: Shape, target: Shape) -> tuple[Geometry, Shape]:
    """Return the window with the padding, and the adj, that produce the target extents."""
    unpadded = window._replace(pad=(0,) * len(spatial))
    full = _extents(spatial, unpadded, unpadded.pad)
    cut = tuple(
        0 if have == UNKNOWN else have - want for have, want in zip(full, target, strict=False)
    )
    if len(target) != len(full) or min(target) < 1 or min(cut) < 0:
        raise OperatorError(
            f"Deconvolution: expected target_shape of {len(full)} sizes up to {full}, got {target}"
        )
    if any(n % 2 and stride == 1 for n, stride in zip(cut, window.stride, strict=True)):
        raise OperatorError(
            f"Deconvolution: expected target_shape an even number of elements below {full} along "
            f"axes of stride 1, got {target}"
        )
    pad = tuple((n + 1) // 2 for n in cut)
    return window._replace(pad=pad), tuple(n % 2 for n in cut)


def _extents(spatial: Shape, window: Geometry, adj: Shape) -> Shape:
    """Return the output's extents; unknown ones stay unknown."""
    return tuple(
        UNKNOWN if n == UNKNOWN else (n - 1) * stride + (kernel - 1) * dilate + 1 - 2 * pad + more
        for n, kernel, stride, dilate, pad, more in zip(spatial, *window, adj, strict=True)
    )


def _shapes(data: Shape, attrs: Attrs) -> tuple[Shape, Shape]:
    """Return the shapes of the weight and the output in the operator's layout."""
    window, adj = transposed_window(data, attrs)
    first = _first(data, attrs["layout"])
    filters = attrs["num_filter"]
    weight = (first[1], filters // attrs["num_group"], *window.kernel)
    out = (first[0], filters, *_extents(first[2:], window, adj))
    return channels_last(weight, attrs["layout"]), channels_last(out, attrs["layout"])


@remembered
def _infer(data: Spec, weight: Spec, bias: Spec | None = None, **attrs: Any) -> tuple[Spec]:
    expected, out = _shapes(data.shape, attrs)
    groups, filters = attrs["num_group"], attrs["num_filter"]
    channels = _first(data.shape, attrs["layout"])[1]
    if channels % groups or filters % groups:
        raise OperatorError(
            f"Deconvolution: expected channels and num_filter that num_group={groups} divides, "
            f"got {channels} and {filters}"
        )
    for name, spec, want in (("weight", weight, expected), ("bias", bias, (filters,))):
        if spec is not None and spec != Spec(want, data.dtype):
            raise OperatorError(
                f"Deconvolution: expected {name} {Spec(want, data.dtype)} for data {data}, "
                f"got {spec}"
            )
    if min(_first(out, attrs["layout"])[2:]) < 1:
        raise OperatorError(
            f"Deconvolution: expected padding that leaves output, got data {data.shape} and pad "
            f"{attrs['pad']} for kernel {attrs['kernel']}"
        )
    layout, (window, _) = attrs["layout"], transposed_window(data.shape, attrs)
    check_windows("Deconvolution", _first(out, layout), _first(data.shape, layout)[2:], window)
    return (Spec(limited("Deconvolution", out), data.dtype),)


def convolution_attributes(data: Shape, attrs: Attrs) -> dict[str, Any]:
    """Return the attributes of the convolution that this operator transposes."""
    window, _ = transposed_window(data, attrs)
    same = ("num_group", "workspace", "cudnn_tune", "cudnn_off", "layout")
    return {
        **window._asdict(),
        **{name: attrs[name] for name in same},
        "num_filter": _first(data, attrs["layout"])[1],
        "no_bias": True,
    }


def _kernel(
    xp: ModuleType, out: Any, data: Any, weight: Any, bias: Any = None, **attrs: Any
) -> None:
    conv_attrs = convolution_attributes(data.shape, attrs)
    CONVOLUTION_BACKWARD_DATA.kernel(xp, out, data, weight, **conv_attrs, data_shape=out.shape)
    if bias is not None:
        trailing = 0 if is_channels_last(attrs["layout"]) else len(attrs["kernel"])
        out[...] = widen(out) + widen(bias).reshape(-1, *(1,) * trailing)


def _gradient(g: V, data: V, weight: V, bias: V | None = None, **attrs: Any) -> tuple[Any, ...]:
    conv_attrs = convolution_attributes(data.shape, attrs)
    found: tuple[Any, ...] = (
        lambda: apply(CONVOLUTION, (g, weight), conv_attrs),
        lambda: apply(
            CONVOLUTION_BACKWARD_WEIGHT, (data, g), {**conv_attrs, "weight_shape": weight.shape}
        ),
    )
    if bias is None:
        return found
    channel = len(g.shape) - 1 if is_channels_last(attrs["layout"]) else 1
    axes = tuple(axis for axis in range(len(g.shape)) if axis != channel)
    return (*found, lambda: sum_(g, axis=axes))


def _complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    dtype = None
    for spec in (*inputs, *outputs):
        dtype = merge_dtypes(dtype, spec.dtype, "Deconvolution")
    data = inputs[0].shape
    known: list[Shape | None] = [data, None, (attrs["num_filter"],)]
    out: Shape | None = None
    if data is not None:
        known[1], out = _shapes(data, attrs)
    for i, spec in enumerate(inputs):
        merged = merge_shapes(known[i], spec.shape, f"Deconvolution {_NAMES[i]}")
        inputs[i] = PartialSpec(merged, dtype)
    outputs[0] = PartialSpec(merge_shapes(out, outputs[0].shape, "Deconvolution output"), dtype)


DECONVOLUTION = register(
    Operator(
        "Deconvolution",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Transposed convolution: add up num_filter filters, scaled by the data, at every\n"
            "position, and add the bias.\n\n"
            "Each spatial output size is (size - 1) * stride + dilate * (kernel - 1) + 1 - 2 *\n"
            "pad + adj; target_shape gives the size instead of pad and adj. In the layouts that\n"
            "end in C, the channels of data, weight and output are last. workspace, cudnn_tune\n"
            "and cudnn_off mean what they do for Convolution.\n\n"
            "Shapes: data (N, C, *spatial), weight (C, num_filter / num_group, *kernel), bias\n"
            "(num_filter,), output (N, num_filter, *spatial)."
        ),
        inputs=_NAMES,
        active_inputs=_active_inputs,
        schema=Schema(
            kernel=shape(),
            stride=shape(()),
            dilate=shape(()),
            pad=shape(()),
            adj=shape(()),
            target_shape=shape(()),
            num_filter=integer(low=1),
            num_group=integer(1, low=1),
            workspace=integer(512, low=0),
            no_bias=boolean(True),
            cudnn_tune=choice(None, "fastest", "limited_workspace", "off", default=None),
            cudnn_off=boolean(False),
            layout=choice(
                None, *(name for names in _LAYOUTS.values() for name in names), default=None
            ),
        ),
        aliases=("_npx_deconvolution",),
        shapes=ShapeFacts(complete=_complete),
        execution=Execution(heavy=True),
    )
)
