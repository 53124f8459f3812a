"""Convolutions over two or three axes in float64, with NumPy: what the double of cuDNN computes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Window = Mapping[str, list[int]]  # padding, stride and dilation, one for each axis


def out_extents(data: list[int], weight: list[int], window: Window) -> list[int]:
    """Return the extents of an output."""
    along = zip(
        data[2:],
        weight[2:],
        window["padding"],
        window["stride"],
        window["dilation"],
        strict=True,
    )
    spatial = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, p, s, d in along]
    return [data[0], weight[0], *spatial]


def _taps(data: Any, weight: Any, output: Any, window: Window) -> Iterator[tuple[Any, Any, Any]]:
    """Yield, for each group and position of the filter, the slices that meet there.

    Of the padded data (N, C/g, ...), of the weight (K/g, C/g), of the output (N, K/g, ...).
    """
    groups = data.shape[1] // weight.shape[1]
    per_group = weight.shape[0] // groups
    for group in range(groups):
        ins = slice(group * weight.shape[1], (group + 1) * weight.shape[1])
        outs = slice(group * per_group, (group + 1) * per_group)
        for place in np.ndindex(*weight.shape[2:]):
            along = zip(place, window["dilation"], window["stride"], output.shape[2:], strict=True)
            places = [slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, s, n in along]
            yield data[:, ins, *places], weight[(outs, slice(None), *place)], output[:, outs]


def _padded(shape: tuple[int, ...], window: Window) -> Any:
    around = zip(shape[2:], window["padding"], strict=True)
    return np.zeros((*shape[:2], *(n + 2 * p for n, p in around)))


def _inside(padded: Any, window: Window) -> Any:
    along = zip(padded.shape[2:], window["padding"], strict=True)
    return padded[:, :, *(slice(p, n - p) for n, p in along)]


def _forward(image: Any, weight: Any, shape: tuple[int, ...], window: Window) -> Any:
    data, total = _padded(image.shape, window), np.zeros(shape)
    _inside(data, window)[...] = image
    for x, w, y in _taps(data, weight, total, window):
        y += np.einsum("nc...,kc->nk...", x, w)
    return total


def _data(loss: Any, weight: Any, shape: tuple[int, ...], window: Window) -> Any:
    total = _padded(shape, window)
    for x, w, y in _taps(total, weight, loss, window):
        x += np.einsum("nk...,kc->nc...", y, w)
    return _inside(total, window)


def _filter(image: Any, loss: Any, shape: tuple[int, ...], window: Window) -> Any:
    data, total = _padded(image.shape, window), np.zeros(shape)
    _inside(data, window)[...] = image
    for x, w, y in _taps(data, total, loss, window):
        w += np.tensordot(y, x, ((0, *range(2, x.ndim)),) * 2)
    return total


# By the kind of a convolution: ``run(first, second, shape, window)`` on float64.
RUN: dict[str, Callable[..., Any]] = {"forward": _forward, "data": _data, "filter": _filter}
