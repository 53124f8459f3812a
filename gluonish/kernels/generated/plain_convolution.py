"""Convolutions without oneDNN, by generated kernels or by BLAS after these gather windows.

For float32 images and sequences whose channels come first. A window of one element needs no
gathering. Samples of few positions are joined in one product, which is more efficient; those of
many are multiplied without gathering (`shifted_products`). Depthwise convolutions have kernels
without a product.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Shape, Spec
from gluonish.kernels.generated import depthwise
from gluonish.kernels.generated import support as generated
from gluonish.kernels.generated.shifted_planes import Sums, data_sums, forward_sums
from gluonish.kernels.generated.shifted_products import (
    filters_backward,
    filters_forward,
    products,
    products_share,
    term_sums,
    term_sums_share,
)
from gluonish.kernels.generated.window_columns import Windows, gather_columns, sum_columns
from gluonish.kernels.onednn import register as onednn
from gluonish.ops.kernel import Array, BackEnd, FastKernel, RefusedError
from gluonish.ops.nn.convolution import (
    CONVOLUTION,
    CONVOLUTION_BACKWARD_DATA,
    CONVOLUTION_BACKWARD_WEIGHT,
    CONVOLUTION_BACKWARD_WEIGHT_BIAS,
)
from gluonish.ops.nn.deconvolution import DECONVOLUTION, convolution_attributes
from gluonish.ops.registry import Attrs
from gluonish.ops.support.windows import Geometry, convolution_geometry, is_channels_last

_FEW_POSITIONS = 512  # of a sample, below which samples are joined
_CHUNK = 1 << 22  # elements of columns at a time
_MOST_TAPS = 81  # of a depthwise window
# Gathering windows takes more time than products with shifted planes from these numbers on: the
# share of products that are used, the terms of a sum, the windows that a pixel is in, the products.
_LEAST_SHARE = 0.8
_LEAST_TERMS = 32
_LEAST_OVERLAP = 2
_LEAST_PRODUCTS = 1 << 21
_MOST_WEIGHTS = 1 << 19  # elements of a weight that shifted planes are multiplied with


class _Call:
    """A convolution of contiguous images (N, C, H, W); sequences are images of height 1.

    Attributes:
        windows: The windows.
        groups: Number of groups.
        places: Positions of a sample's output.
        rows: Rows of a group's columns.
        plain: Whether the columns are the image itself.
        joined: Whether all samples of a chunk are in one matrix.
        is_depthwise: Whether each channel has one filter.
        channels: Channels of a group's data.
        filters: Filters of a group.
    """

    def __init__(
        self, data: Shape, weight: Shape, out: Shape, groups: int, geometry: Geometry
    ) -> None:
        missing = 2 - len(geometry.kernel)
        pairs = [
            (*(default,) * missing, *values)
            for values, default in zip(geometry, (1, 1, 1, 0), strict=True)
        ]
        kernel, stride, dilate, pad = ((one, two) for one, two in pairs)
        size = (*(1,) * missing, *data[2:])
        counts = (*(1,) * missing, *out[2:])
        self.windows = Windows(
            (size[0], size[1]), (counts[0], counts[1]), kernel, stride, dilate, pad
        )
        self.groups = groups
        self.places = math.prod(counts)
        self.rows = math.prod(weight[1:])
        self.plain = kernel == (1, 1) == stride and pad == (0, 0)
        self.joined = self.groups == 1 and self.places < _FEW_POSITIONS and data[0] > 1
        self.is_depthwise = self.groups == data[1] == out[1] and math.prod(kernel) <= _MOST_TAPS
        self.channels, self.filters = weight[1], weight[0] // self.groups
        self._overlap = math.prod(kernel) / math.prod(stride)
        self._has_windows = (
            self.places >= _FEW_POSITIONS
            and self._overlap > _LEAST_OVERLAP
            and math.prod(weight) <= _MOST_WEIGHTS
            and data[0] * self.places * weight[0] * self.rows >= _LEAST_PRODUCTS
        )

    def forward_sums(self) -> tuple[Sums, ...]:
        """Return the sums of the outputs if products with shifted planes are faster, else none."""
        if not self._has_windows or self.rows < _LEAST_TERMS:
            return ()
        return self._if_faster(self.filters, (forward_sums(self.windows, self.channels),))

    def data_sums(self) -> tuple[Sums, ...]:
        """Return the sums of the gradient of the data if they are faster, else none."""
        if not self._has_windows or self.filters * self._overlap < _LEAST_TERMS:
            return ()
        return self._if_faster(self.channels, data_sums(self.windows, self.filters))

    def _if_faster(self, rows: int, every: tuple[Sums, ...]) -> tuple[Sums, ...]:
        return every if products_share(rows, every) >= _LEAST_SHARE else ()

    def weight_sums(self) -> Sums | None:
        """Return the sums of the outputs if the weight's gradient is faster from these."""
        if not self._has_windows or self.rows < _LEAST_TERMS:
            return None
        if term_sums_share(self.filters) < _LEAST_SHARE:
            return None
        return forward_sums(self.windows, self.channels)

    def chunks(self, samples: int) -> Iterator[slice]:
        """Yield slices of the samples whose columns are in memory at the same time."""
        step = max(1, _CHUNK // max(1, self.rows * self.groups * self.places))
        for start in range(0, samples, step):
            yield slice(start, min(start + step, samples))

    def image(self, array: Array) -> Array:
        """Return samples as images."""
        return array.reshape(*array.shape[:2], *self.windows.size)

    def output(self, array: Array) -> Array:
        """Return samples of the output as images."""
        return array.reshape(*array.shape[:2], *self.windows.counts)

    def empty_columns(self, samples: int) -> Array:
        """Return memory for columns."""
        if self.joined:
            return np.empty((self.rows, samples * self.places), np.float32)
        return np.empty((samples, self.groups, self.rows, self.places), np.float32)

    def columns(self, data: Array) -> Array:
        """Return the columns of samples."""
        samples = len(data)
        if self.plain and not self.joined:
            return data.reshape(samples, self.groups, self.rows, self.places)
        columns = self.empty_columns(samples)
        if self.plain:
            target = columns.reshape(self.rows, samples, self.places)
            np.copyto(target, data.reshape(samples, self.rows, self.places).swapaxes(0, 1))
        else:
            gather_columns(self.image(data), columns, self.windows, joined=self.joined)
        return columns

    def add_up(self, columns: Array, out: Array) -> None:
        """Set samples to the sums of columns."""
        if not self.plain:
            sum_columns(columns, self.image(out), self.windows, joined=self.joined)
        elif self.joined:
            source = columns.reshape(self.rows, len(out), self.places)
            np.copyto(out.reshape(len(out), self.rows, self.places), source.swapaxes(0, 1))

    def matrices(self, weight: Array) -> Array:
        """Return the filters as matrices (groups, filters, rows)."""
        return weight.reshape(self.groups, -1, self.rows)

    def joined_rows(self, samples: Array) -> Array:
        """Return an output's gradient as (filters, N * positions)."""
        turned = samples.reshape(len(samples), -1, self.places).swapaxes(0, 1)
        return np.ascontiguousarray(turned).reshape(turned.shape[0], -1)


@lru_cache(1024)
def _call(
    data: Shape,
    weight: Shape,
    out: Shape,
    groups: int,
    kernel: Shape,
    stride: Shape,
    dilate: Shape,
    pad: Shape,
) -> _Call:
    geometry = convolution_geometry(kernel=kernel, stride=stride, dilate=dilate, pad=pad)
    return _Call(data, weight, out, groups, geometry)


def _call_of(data: Shape, weight: Shape, out: Shape, attrs: Attrs) -> _Call:
    sizes = attrs["kernel"], attrs["stride"], attrs["dilate"], attrs["pad"]
    return _call(data, weight, out, attrs["num_group"], *sizes)


def _contiguous(*arrays: Array) -> Iterator[Array]:
    for array in arrays:
        yield np.ascontiguousarray(array)


def _require_contiguous(out: Array) -> None:
    if not out.flags.c_contiguous:
        raise RefusedError(f"convolution: expected a contiguous result, got {out.strides}")


def _forward(
    xp: ModuleType, out: Array, data: Array, weight: Array, bias: Any = None, **attrs: Any
) -> None:
    _require_contiguous(out)
    data, weight = _contiguous(data, weight)
    call = _call_of(data.shape, weight.shape, out.shape, attrs)
    if call.is_depthwise:
        depthwise.forward(call.image(data), weight, out, call.windows)
    elif every := call.forward_sums():
        products(
            call.image(data), filters_forward(weight, call.groups), call.output(out), every, bias
        )
        return
    else:
        _products(call, out, data, call.matrices(weight))
    if bias is not None:
        _add_bias(out, bias)


def _products(call: _Call, out: Array, data: Array, filters: Array) -> None:
    for part in call.chunks(len(data)):
        columns = call.columns(data[part])
        result = out[part].reshape(-1, call.groups, filters.shape[1], call.places)
        if call.joined:
            product = np.matmul(filters[0], columns)
            turned = product.reshape(filters.shape[1], -1, call.places).swapaxes(0, 1)
            np.copyto(result[:, 0], turned)
        else:
            np.matmul(filters, columns, out=result)


def _backward_data(
    xp: ModuleType, out: Array, grad: Array, weight: Array, *, data_shape: Shape, **attrs: Any
) -> None:
    _require_contiguous(out)
    grad, weight = _contiguous(grad, weight)
    call = _call_of(data_shape, weight.shape, grad.shape, attrs)
    if call.is_depthwise:
        depthwise.backward_data(grad, weight, call.image(out), call.windows)
        return
    if every := call.data_sums():
        products(call.output(grad), filters_backward(weight, call.groups), call.image(out), every)
        return
    filters = call.matrices(weight).swapaxes(1, 2)
    for part in call.chunks(len(grad)):
        target = out[part]
        if call.joined:
            columns = np.matmul(filters[0], call.joined_rows(grad[part]))
        else:
            rows = grad[part].reshape(-1, call.groups, filters.shape[2], call.places)
            columns = call.columns(target) if call.plain else call.empty_columns(len(target))
            np.matmul(filters, rows, out=columns)
        call.add_up(columns, target)


def _backward_weight(
    xp: ModuleType, out: Array, grad: Array, data: Array, *, weight_shape: Shape, **attrs: Any
) -> None:
    _require_contiguous(out)
    grad, data = _contiguous(grad, data)
    call = _call_of(data.shape, weight_shape, grad.shape, attrs)
    if call.is_depthwise:
        depthwise.backward_weight(grad, call.image(data), out, call.windows)
        return
    if sums := call.weight_sums():
        term_sums(call.image(data), call.output(grad), out, sums, call.groups)
        return
    total = call.matrices(out)
    total[...] = 0
    for part in call.chunks(len(data)):
        columns = call.columns(data[part])
        if call.joined:
            total[0] += np.matmul(call.joined_rows(grad[part]), columns.T)
        else:
            rows = grad[part].reshape(-1, call.groups, total.shape[1], call.places)
            for sample, others in zip(rows, columns, strict=True):
                total += np.matmul(sample, others.swapaxes(1, 2))


def _backward_weight_bias(
    xp: ModuleType, outputs: tuple[Array, Array], grad: Array, data: Array, **attrs: Any
) -> None:
    _backward_weight(xp, outputs[0], grad, data, **attrs)
    sums = grad.reshape(*grad.shape[:2], -1).sum(axis=2, dtype=np.float32)
    outputs[1][...] = sums.sum(axis=0)


def _transposed(
    xp: ModuleType, out: Array, data: Array, weight: Array, bias: Any = None, **attrs: Any
) -> None:
    convolution = convolution_attributes(data.shape, attrs)
    _backward_data(xp, out, data, weight, data_shape=out.shape, **convolution)
    if bias is not None:
        _add_bias(out, bias)


def _add_bias(out: Array, bias: Array) -> None:
    np.add(out, bias.reshape(-1, *(1,) * (out.ndim - 2)), out=out)


def _supports(*specs: Spec, layout: str | None, kernel: Shape, **_: Any) -> bool:
    if is_channels_last(layout) or len(kernel) > 2:
        return False
    return all(spec.dtype == FLOAT32 and 0 not in spec.shape for spec in specs)


def _enabled() -> bool:
    return generated.enabled() and not onednn.enabled()


KERNELS = tuple(
    (
        op,
        FastKernel(
            *(BackEnd.GENERATED, name, _supports), run=run, enabled=_enabled, contiguous=True
        ),
    )
    for op, name, run in (
        (CONVOLUTION, "convolution", _forward),
        (DECONVOLUTION, "transposed_convolution", _transposed),
        (CONVOLUTION_BACKWARD_DATA, "convolution_data", _backward_data),
        (CONVOLUTION_BACKWARD_WEIGHT, "convolution_weight", _backward_weight),
        (CONVOLUTION_BACKWARD_WEIGHT_BIAS, "convolution_weight", _backward_weight_bias),
    )
)
