"""Convolutions over two or three axes in float64, with NumPy: what the double of cuDNN computes."""

import math
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


def _taps(data: Any, weight: Any, output: Any, window: Window) -> Iterator[Any]:
    """Yield the slice of padded data (N, C, ...) that each position of the filter meets."""
    for place in np.ndindex(*weight.shape[2:]):
        along = zip(place, window["dilation"], window["stride"], output.shape[2:], strict=True)
        places = [slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, s, n in along]
        yield data[:, :, *places]


def _columns(image: Any, weight: Any, output: Any, window: Window) -> Any:
    """Return what each element of an output multiplies: (N, g, C/g taps, elements)."""
    data = _padded(image.shape, window)
    _inside(data, window)[...] = image
    slices = list(_taps(data, weight, output, window))
    groups = image.shape[1] // weight.shape[1]
    return np.stack(slices, 2).reshape(len(image), groups, -1, math.prod(output.shape[2:]))


def _padded(shape: tuple[int, ...], window: Window) -> Any:
    around = zip(shape[2:], window["padding"], strict=True)
    return np.zeros((*shape[:2], *(n + 2 * p for n, p in around)))


def _inside(padded: Any, window: Window) -> Any:
    along = zip(padded.shape[2:], window["padding"], strict=True)
    return padded[:, :, *(slice(p, n - p) for n, p in along)]


def _by_groups(weight: Any, groups: int) -> Any:
    """(K, C/g, ...) to (g, K/g, C/g taps)."""
    return weight.reshape(groups, len(weight) // groups, -1)


def _forward(image: Any, weight: Any, shape: tuple[int, ...], window: Window) -> Any:
    columns = _columns(image, weight, np.empty(shape), window)
    return (_by_groups(weight, columns.shape[1]) @ columns).reshape(shape)


def _data(loss: Any, weight: Any, shape: tuple[int, ...], window: Window) -> Any:
    total = _padded(shape, window)
    groups = shape[1] // weight.shape[1]
    losses = loss.reshape(len(loss), groups, loss.shape[1] // groups, -1)
    columns = _by_groups(weight, groups).swapaxes(1, 2) @ losses
    taps = math.prod(weight.shape[2:])
    parts = columns.reshape(len(loss), shape[1], taps, *loss.shape[2:])
    for number, x in enumerate(_taps(total, weight, loss, window)):
        x += parts[:, :, number]
    return _inside(total, window)


def _filter(image: Any, loss: Any, shape: tuple[int, ...], window: Window) -> Any:
    columns = _columns(image, np.empty(shape), loss, window)
    groups = columns.shape[1]
    losses = loss.reshape(len(loss), groups, loss.shape[1] // groups, -1)
    # (g, K/g, N elements) and (g, N elements, C/g taps)
    left = losses.transpose(1, 2, 0, 3).reshape(*losses.shape[1:3], -1)
    right = columns.transpose(1, 0, 3, 2).reshape(groups, left.shape[2], -1)
    return (left @ right).reshape(shape)


# By the kind of a convolution: ``run(first, second, shape, window)`` on float64.
RUN: dict[str, Callable[..., Any]] = {"forward": _forward, "data": _data, "filter": _filter}
