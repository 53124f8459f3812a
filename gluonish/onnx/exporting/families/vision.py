"""Images: resizing, sampling, pooling of regions, image operators."""

from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, INT64, is_floating
from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import (
    concat,
    gather,
    pad,
    reshaped,
    select,
    shape_tensor,
    sliced,
    squeezed,
    transposed,
    unsqueezed,
)
from gluonish.onnx.exporting.tensors import Tensor


def _bilinear_resize(call: Call) -> Tensor:
    sizes = shape_tensor(call.emitter, call.out.shape)
    mode = "align_corners" if call["align_corners"] else "half_pixel"
    x = call.x if is_floating(call.x.dtype) else call.x.to(FLOAT32)
    for axis in (2, 3):
        if call.out.shape[axis] == 1:  # it samples the first pixel
            x = sliced(x, [0], [1], [axis])
    return call("Resize", x, None, None, sizes, mode="linear", coordinate_transformation_mode=mode)


def _adaptive_pooling(call: Call) -> Tensor:
    height, width = call.out.fixed[2:]
    if height == width == 1:
        return call("GlobalAveragePool", call.x)
    rows, columns = (
        _windows(call, call.x.size(2), height),
        _windows(call, call.x.size(3), width).T.copy(),
    )
    dtype = call.x.dtype
    left = call("MatMul", call.constant(rows, dtype), call.x)
    return call("MatMul", left, call.constant(columns, dtype))


def _windows(call: Call, extent: int, count: int) -> np.ndarray[Any, Any]:
    """Return the matrix that computes means of windows along one axis."""
    weights = np.zeros((count, extent))
    for i in range(count):
        begin, end = i * extent // count, -(-(i + 1) * extent // count)
        weights[i, begin:end] = 1 / (end - begin)
    return weights


def _grid(call: Call, x: Tensor) -> Tensor:
    """Return the sampling grid (N, 2, H, W) of an affine or warp transformation."""
    if call["transform_type"] == "warp":
        height, width = call.out.fixed[2:]
        y, column = np.mgrid[:height, :width]
        scales = np.array([2 / (width - 1), 2 / (height - 1)]).reshape(1, 2, 1, 1)
        indices = np.stack([column, y])[None]
        return (x + call.constant(indices, x.dtype)) * call.constant(scales, x.dtype) - 1.0
    height, width = call["target_shape"]
    ends = [np.linspace(-1, 1, n) if n > 1 else np.array([-1.0]) for n in (height, width)]
    y, column = np.meshgrid(*ends, indexing="ij")
    pixels = np.stack([column, y, np.ones_like(y)]).reshape(3, -1)
    made = call("MatMul", reshaped(x, [-1, 2, 3]), call.constant(pixels, x.dtype))
    return reshaped(made, [0, 2, height, width])


def _sampled(call: Call, x: Tensor, grid: Tensor) -> Tensor:
    indices = transposed(grid, [0, 2, 3, 1])
    mode = "bilinear" if call.emitter.opset < 20 else "linear"
    return call("GridSample", x, indices, mode=mode, padding_mode="zeros", align_corners=1)


def _grid_generator(call: Call) -> list[Tensor | None]:
    return [_grid(call, call.x), *[None] * (len(call.outputs) - 1)]


def _bilinear_sampler(call: Call) -> list[Tensor | None]:
    x, grid = call.inputs
    return [_sampled(call, x, grid), *[None] * (len(call.outputs) - 1)]


def _spatial_transformer(call: Call) -> list[Tensor | None]:
    x, indices = call.inputs
    made = _sampled(call, x, _grid(call, indices))
    return [made, *[None] * (len(call.outputs) - 1)]


def _roi_align(call: Call) -> Tensor:
    x, rois = call.inputs
    if call["position_sensitive"]:
        raise call.refuse("ONNX's RoiAlign has no channel of its own for each part")
    height, width = call["pooled_size"]
    index = squeezed(sliced(rois, [0], [1], [1]), 1)
    inside = (index >= 0.0) & (index < float(x.size(0)))
    attrs: dict[str, Any] = {
        "output_height": int(height),
        "output_width": int(width),
        "sampling_ratio": max(int(call["sample_ratio"]), 0),
        "spatial_scale": float(call["spatial_scale"]),
        "mode": "avg",
    }
    if call.emitter.opset >= 16:
        aligned = bool(call["aligned"])
        attrs["coordinate_transformation_mode"] = "half_pixel" if aligned else "output_half_pixel"
    elif call["aligned"]:
        raise call.refuse("it is aligned; give opset_version=16 or a later one")
    boxes = sliced(rois, [1], [5], [1])
    indices = select(inside, index, 0.0).to(INT64)
    made = call("RoiAlign", x, boxes, indices, **attrs)
    return select(unsqueezed(inside, 1, 2, 3), made, 0.0)


def _roi_pooling(call: Call) -> list[Tensor | None]:
    x, rois = call.inputs
    if not call["spatial_scale"] > 0:
        raise call.refuse("ONNX's MaxRoiPool has no spatial_scale of 0; give a larger one")
    index = sliced(rois, [0], [1], [1])
    inside = (index >= 0.0) & (index < float(x.size(0)))
    boxes = concat([select(inside, index, 0.0), sliced(rois, [1], [5], [1])], 1)
    shape = [int(extent) for extent in call["pooled_size"]]
    made = call(
        "MaxRoiPool", x, boxes, pooled_shape=shape, spatial_scale=float(call["spatial_scale"])
    )
    return [select(unsqueezed(inside, 2, 3), made, 0.0), None]


def _col2im(call: Call) -> Tensor:
    """Append col2im, the adjoint of im2col, as a transposed convolution with one-hot filters."""
    kernel, x = call["kernel"], call.x
    rank, window = len(kernel), int(np.prod(kernel))
    channels = call.out.fixed[1]
    stride, dilate = call["stride"] or (1,) * rank, call["dilate"] or (1,) * rank
    border = call["pad"] or (0,) * rank
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(call["output_size"], border, dilate, kernel, stride, strict=True)
    ]
    more = [
        n - ((count - 1) * s + d * (k - 1) + 1 - 2 * p)
        for n, count, s, d, k, p in zip(
            call["output_size"], counts, stride, dilate, kernel, border, strict=True
        )
    ]
    weight = np.tile(np.eye(window), (channels, 1)).reshape(channels * window, 1, *kernel)
    return call(
        "ConvTranspose",
        *(reshaped(x, [0, 0, *counts]), call.constant(weight, x.dtype)),
        kernel_shape=list(kernel),
        strides=list(stride),
        dilations=list(dilate),
        pads=[*border, *border],
        output_padding=more,
        group=channels,
    )


def _to_tensor(call: Call) -> Tensor:
    axes = [2, 0, 1] if call.x.rank == 3 else [0, 3, 1, 2]
    return transposed(call.x.to(FLOAT32) / 255.0, axes)


def _normalize(call: Call) -> Tensor:
    x, channels = call.x, call.x.size(call.x.rank - 3)
    mean, std = (
        np.array(call[name] * channels if len(call[name]) == 1 else call[name])[:channels].reshape(
            -1, 1, 1
        )
        for name in ("mean", "std")
    )
    return (x - call.constant(mean, x.dtype)) / call.constant(std, x.dtype)


_BORDERS = {1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}


def _make_border(call: Call) -> Tensor:
    x, before, after = call.x, [call["top"], call["left"]], [call["bot"], call["right"]]
    if call["type"] in _BORDERS:
        for axis in range(2):
            mode: Any = _BORDERS[call["type"]]
            indices = np.pad(np.arange(x.size(axis)), (before[axis], after[axis]), mode)
            shape = x.known_shape
            x = gather(x, indices, axis)
            x.shape = (*shape[:axis], len(indices), *shape[axis + 1 :])
        return x
    made = pad(x, [*before, 0], [*after, 0], 0 if call["values"] else call["value"])
    if not call["values"]:
        return made
    inside = np.zeros((x.size(0), x.size(1), 1), bool)
    border = ~np.pad(
        inside,
        ((before[0], after[0]), (before[1], after[1]), (0, 0)),
        mode="constant",
        constant_values=True,
    )
    colours = (*call["values"], 0, 0, 0, 0)[: x.size(2)]
    return select(call.constant(border), made, call.constant(np.array(colours), x.dtype))


TABLE: dict[str, Any] = {
    "_contrib_BilinearResize2D": _bilinear_resize,
    "_contrib_AdaptiveAvgPooling2D": _adaptive_pooling,
    "GridGenerator": _grid_generator,
    "BilinearSampler": _bilinear_sampler,
    "SpatialTransformer": _spatial_transformer,
    "_contrib_ROIAlign": _roi_align,
    "ROIPooling": _roi_pooling,
    "col2im": _col2im,
    "_image_to_tensor": _to_tensor,
    "_image_normalize": _normalize,
    "_cvcopyMakeBorder": _make_border,
}
