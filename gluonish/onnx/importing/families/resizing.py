"""Resize and Upsample: one axis after another, each by weighted sums of a few elements."""

from collections.abc import Callable
from math import floor
from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.core.dtype import is_floating
from gluonish.onnx.importing.arrays import (
    array_of,
    axis_of,
    check_size,
    check_table,
    dtype_of,
    floats,
    integers,
    wide,
)
from gluonish.onnx.importing.nodes import Call, Rule

Floats = np.ndarray[Any, np.dtype[np.float64]]


_ROUNDINGS: dict[str, Callable[[Floats], Floats]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _nearest(indices: Floats, mode: str) -> Any:
    return _ROUNDINGS[mode](indices).astype(np.int64)


def _linear(distance: Floats) -> Floats:
    found: Floats = np.maximum(0, 1 - np.abs(distance))
    return found


def _cubic(a: float) -> Callable[[Floats], Floats]:
    def weight(distance: Floats) -> Floats:
        d = np.abs(distance)
        near = (a + 2) * d**3 - (a + 3) * d**2 + 1
        far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0))

    return weight


class _Axis:
    """The plan for resizing one axis: which elements contribute to an output, with which weights.

    Args:
        call: The node.
        extent: Size of the input.
        out: Size of the output.
        scale: Ratio of both, from the file.
        region: Start and end in the input, from 0 to 1, for ``tf_crop_and_resize``.
    """

    def __init__(
        self, call: Call, extent: int, out: int, scale: float, region: tuple[float, float]
    ) -> None:
        self._call = call
        self.extent, self.out, self.scale, self._region = extent, out, scale, region

    def indices(self) -> Floats:
        """Return the input coordinate of each output element."""
        kind = self._call.attr("coordinate_transformation_mode", "half_pixel")
        x = np.arange(self.out, dtype=np.float64)
        whole, extent = self.scale * self.extent, self.extent
        if kind == "half_pixel_symmetric":
            shift = extent / 2 * (1 - self.out / whole)
            return shift + (x + 0.5) / self.scale - 0.5
        if kind == "pytorch_half_pixel":
            return (x + 0.5) / self.scale - 0.5 if self.out > 1 else 0 * x
        if kind == "align_corners":
            return x * (extent - 1) / (whole - 1) if whole != 1 else 0 * x
        if kind == "asymmetric":
            return x / self.scale
        if kind == "tf_crop_and_resize":
            start, end = self._region
            if self.out == 1:
                return 0 * x + 0.5 * (start + end) * (extent - 1)
            step = (end - start) * (extent - 1) / (self.out - 1)
            return start * (extent - 1) + x * step
        if kind == "tf_half_pixel_for_nn":
            return (x + 0.5) / self.scale
        return (x + 0.5) / self.scale - 0.5

    def taps(self) -> tuple[np.ndarray[Any, Any], Floats]:
        """Return the indices of the elements that contribute to each output, and their weights."""
        mode = self._call.attr("mode", "nearest")
        check_table(self.out, int(1 + 4 / min(1.0, max(self.scale, 1e-6))))
        indices = self.indices()
        if mode == "nearest":
            nearest = _nearest(indices, self._call.attr("nearest_mode", "round_prefer_floor"))
            return np.clip(nearest, 0, self.extent - 1)[:, None], np.ones((self.out, 1))
        shrinks = self._call.attr("antialias", 0) and self.scale < 1
        width = self.scale if shrinks else 1.0
        weight = _linear if mode == "linear" else _cubic(self._call.attr("cubic_coeff_a", -0.75))
        reach = (1 if mode == "linear" else 2) / width
        count = 2 * int(np.ceil(reach))
        first = np.floor(indices).astype(np.int64) - count // 2 + 1
        elements = first[:, None] + np.arange(count)[None, :]
        weights = weight((elements - indices[:, None]) * width)
        if self._call.attr("exclude_outside", 0):
            weights = np.where((elements >= 0) & (elements < self.extent), weights, 0)
        if self._call.attr("exclude_outside", 0) or shrinks:
            weights = weights / weights.sum(1, keepdims=True)
        return np.clip(elements, 0, self.extent - 1), weights

    def outside(self) -> Any:
        """Return a mask of output elements outside the input."""
        indices = self.indices()
        return (indices < 0) | (indices > self.extent - 1)


def _along(x: Any, axis: int, taps: tuple[Any, Floats]) -> Any:
    """Compute weighted sums of elements along an axis."""
    elements, weights = taps
    shape = [-1 if i == axis else 1 for i in range(len(x.shape))]
    total: Any = None
    for k in range(elements.shape[1]):
        chunk = mnp.take(x, array_of(elements[:, k]), axis=axis, mode="clip")
        if not (weights[:, k] == 1).all():
            chunk = chunk * array_of(weights[:, k].reshape(shape).astype(dtype_of(x)))
        total = chunk if total is None else total + chunk
    return total


def _targets(
    call: Call, x: Any, scales: Any, sizes: Any
) -> tuple[list[int], list[int], list[float]]:
    """Return the axes to resize, their new sizes, and the ratios."""
    rank = len(x.shape)
    axes = call.attr("axes")
    chosen = list(range(rank)) if axes is None else [axis_of(a, rank) for a in axes]
    if sizes is None or 0 in sizes.shape:
        ratios = floats(scales)
        return chosen, [floor(x.shape[a] * s) for a, s in zip(chosen, ratios, strict=True)], ratios
    target = integers(sizes)
    policy = call.attr("keep_aspect_ratio_policy", "stretch")
    ratios = [n / x.shape[a] for a, n in zip(chosen, target, strict=True)]
    if policy != "stretch":
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        ratios = [ratio] * len(ratios)
        target = [floor(ratio * x.shape[a] + 0.5) for a in chosen]
    return chosen, target, ratios


def _resize(call: Call, x: Any, *given: Any) -> Any:
    if call.version < 11:  # same coordinates as Upsample
        return _upsample(call, x, *given)
    roi, scales, sizes = (*given, None, None, None)[:3]
    chosen, extents, ratios = _targets(call, x, scales, sizes)
    cropped = call.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
    region = floats(roi) if cropped else [0.0, 1.0] * len(chosen)
    found, outside = wide(x) if is_floating(dtype_of(x)) else x, []
    check_size(extents)
    for i, axis in enumerate(chosen):
        ends = (region[i], region[len(chosen) + i]) if cropped else (0.0, 1.0)
        one = _Axis(call, x.shape[axis], extents[i], ratios[i], ends)
        if cropped:
            outside.append((axis, one.outside()))
        if extents[i] != x.shape[axis] or ratios[i] != 1 or cropped:
            found = _along(found, axis, one.taps())
    for axis, mask in outside:
        shape = [-1 if i == axis else 1 for i in range(len(x.shape))]
        number = mnp.full_like(found, call.attr("extrapolation_value", 0.0))
        found = mnp.where(array_of(mask.reshape(shape)), number, found)
    return found.astype(x.dtype)


def _upsample(call: Call, x: Any, scales: Any = None) -> Any:
    """Resize as in opsets below 11: output i is at input i / ratio."""
    ratios = call.attr("scales") if scales is None else floats(scales)
    if ratios is None:
        ratios = [1.0, 1.0, call.attr("height_scale"), call.attr("width_scale")]
    modes = {"nearest": "nearest", "linear": "linear", "bilinear": "linear"}
    attrs = {
        "mode": modes[call.attr("mode", "nearest")],
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    found = x
    for axis, ratio in enumerate(ratios):
        if ratio != 1:
            extent = x.shape[axis]
            out = check_size([floor(extent * ratio)])[0]
            one = _Axis(_Described(attrs), extent, out, ratio, (0.0, 1.0))  # type: ignore[arg-type]  # it only reads attributes
            found = _along(found, axis, one.taps())
    return found


class _Described:
    """A stand-in for a node: attributes that the file does not contain."""

    def __init__(self, attrs: dict[str, Any]) -> None:
        self._attrs = attrs

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self._attrs.get(name, default)


RULES: dict[str, Rule] = {"Resize": _resize, "Upsample": _upsample}
