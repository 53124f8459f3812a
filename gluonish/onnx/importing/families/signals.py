"""Fourier transforms and windows; complex numbers are pairs along the last axis."""

from typing import Any

import numpy as np

import gluonish.numpy as mnp
from gluonish.onnx.importing.arrays import (
    array_of,
    axis_of,
    check_size,
    check_table,
    dtype_of,
    floats,
    integer,
)
from gluonish.onnx.importing.elements import ELEMENTS
from gluonish.onnx.importing.nodes import Call, Rule


def _waves(length: int, outs: int, count: int, dtype: Any, *, inverse: bool) -> tuple[Any, Any]:
    """Return the matrices (length, outs) of cosines and sines of a DFT of length ``count``."""
    check_table(length, outs)
    # Full periods are removed before the product with 2 pi loses precision.
    turns = np.outer(np.arange(length), np.arange(outs)) % count
    angles = 2 * np.pi * turns / count
    sign = 1 if inverse else -1
    return array_of(np.cos(angles).astype(dtype)), array_of((sign * np.sin(angles)).astype(dtype))


def _transformed(x: Any, length: int, *, inverse: bool, half: bool) -> Any:
    """Return the DFT of a given length along the second to last axis."""
    present = min(x.shape[-2], length)
    x = x[..., :present, :]
    outs = length // 2 + 1 if half else length
    cosines, sines = _waves(present, outs, length, dtype_of(x), inverse=inverse)
    real = x[..., 0]
    chunks = [mnp.matmul(real, cosines), mnp.matmul(real, sines)]
    if x.shape[-1] == 2:
        imaginary = x[..., 1]
        chunks[0] = chunks[0] - mnp.matmul(imaginary, sines)
        chunks[1] = chunks[1] + mnp.matmul(imaginary, cosines)
    found = mnp.stack(chunks, axis=-1)
    return found / length if inverse else found


def _whole(x: Any, length: int) -> Any:
    """Return the full spectrum of a real signal from its first half."""
    count = length - x.shape[-2]
    if count <= 0:
        return x[..., :length, :]
    indices = array_of(np.arange(count, 0, -1) % x.shape[-2])
    rest = mnp.take(x, indices, axis=len(x.shape) - 2)
    turned = mnp.stack([rest[..., 0], -rest[..., 1]], axis=-1)
    return mnp.concatenate([x, turned], axis=-2)


def _dft(call: Call, x: Any, length: Any = None, axis: Any = None) -> Any:
    given = call.attr("axis", 1) if call.version < 20 else -2 if axis is None else integer(axis)
    rank = len(x.shape)
    along = axis_of(given, rank)
    inverse, half = bool(call.attr("inverse", 0)), bool(call.attr("onesided", 0))
    moved = mnp.moveaxis(x, along, rank - 2)
    count = moved.shape[-2] if length is None else integer(length)
    if inverse and half:
        count = 2 * (moved.shape[-2] - 1) if length is None else count
        found = _transformed(_whole(moved, count), count, inverse=True, half=False)[..., :1]
    else:
        found = _transformed(moved, count, inverse=inverse, half=half)
    return mnp.moveaxis(found, rank - 2, along)


def _stft(call: Call, x: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    count = integer(length) if length is not None else window.shape[0]
    stride, half = integer(step), bool(call.attr("onesided", 1))
    if stride < 1 or not 0 < count <= x.shape[1]:
        call.wrong(f"expected frames of up to {x.shape[1]} at steps of 1 or more, got {count}")
    if len(x.shape) == 2:
        x = mnp.expand_dims(x, -1)
    frames = 1 + (x.shape[1] - count) // stride
    check_table(frames, count)
    indices = np.arange(frames)[:, None] * stride + np.arange(count)[None, :]
    rows = mnp.take(x, array_of(indices), axis=1)
    if window is not None:
        rows = rows * mnp.expand_dims(window.astype(x.dtype), -1)
    return _transformed(rows, count, inverse=False, half=half)


def _mel_weights(call: Call, *given: Any) -> Any:
    """Return weights of triangular filters, evenly spaced on the mel scale."""
    bins, length, rate, low, high = (floats(x)[0] for x in given)
    dtype = ELEMENTS[call.attr("output_datatype", 1)].dtype
    spectrum = int(length) // 2 + 1
    ends = 2595 * np.log10(1 + np.array([low, high]) / 700)
    step = (ends[1] - ends[0]) / (bins + 2)
    mels = np.arange(int(bins) + 2) * step + ends[0]
    hertz = 700 * (10 ** (mels / 2595) - 1)
    edges = np.floor((int(length) + 1) * hertz / rate).astype(np.int64)
    check_size((spectrum, int(bins)))
    found = np.zeros((spectrum, int(bins)))
    for i in range(int(bins)):
        left, top, right = edges[i : i + 3]
        if top == left:
            found[top, i] = 1
        else:
            found[left : top + 1, i] = (np.arange(left, top + 1) - left) / (top - left)
        if right > top:
            found[top:right, i] = (right - np.arange(top, right)) / (right - top)
    return array_of(found.astype(dtype))


RULES: dict[str, Rule] = {"DFT": _dft, "STFT": _stft, "MelWeightMatrix": _mel_weights}
