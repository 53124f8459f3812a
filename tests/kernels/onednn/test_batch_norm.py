from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gluonish.kernels.onednn import (
    OneDNNError,
    batch_norm_backward,
    batch_norm_inference,
    batch_norm_train,
    supports_batch_norm,
)
from gluonish.kernels.onednn.memory import Array

Close = Callable[[Array, Array], None]

SHAPES = [(16, 5), (4, 3, 7), (2, 17, 5, 4), (2, 4, 3, 4, 2), (8, 1, 3, 3)]
EPS = 1e-3


class Reference:
    """Batch normalization in float64."""

    def __init__(self, data: Array, gamma: Array, beta: Array) -> None:
        self.axes = (0, *range(2, data.ndim))
        self.trailing = (-1, *(1,) * (data.ndim - 2))
        self.data = data.astype(np.float64)
        self.gamma, self.beta = self.expand(gamma), self.expand(beta)
        self.mean, self.var = self.data.mean(self.axes), self.data.var(self.axes)

    def expand(self, channels: Array) -> Array:
        return channels.astype(np.float64).reshape(self.trailing)

    def normalized(self, mean: Array, var: Array) -> Array:
        return (self.data - self.expand(mean)) / np.sqrt(self.expand(var) + EPS)

    def forward(self, mean: Array, var: Array) -> Array:
        return self.normalized(mean, var) * self.gamma + self.beta

    def backward(self, grad: Array, mean: Array, var: Array, fixed: bool) -> tuple[Array, ...]:
        grads, normalized = grad.astype(np.float64), self.normalized(mean, var)
        dgamma, dbeta = (grads * normalized).sum(self.axes), grads.sum(self.axes)
        dx = grads
        if not fixed:
            count = grads.size / grads.shape[1]
            dx = dx - (self.expand(dbeta) + normalized * self.expand(dgamma)) / count
        return dx * self.gamma / np.sqrt(self.expand(var) + EPS), dgamma, dbeta


def _inputs(shape: tuple[int, ...], dtype: Any) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    data = (rng.standard_normal(shape) * 2 + 1).astype(dtype)
    gamma, beta = rng.standard_normal((2, shape[1]), dtype=np.float32)
    return data, gamma, beta


def _empty(data: Array, channels: int) -> tuple[Array, ...]:
    vectors = (np.full(data.shape[1], np.nan, np.float32) for _ in range(channels))
    return (np.full_like(data, np.nan), *vectors)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_train(shape: tuple[int, ...], dtype: Any, close: Close) -> None:
    data, gamma, beta = _inputs(shape, dtype)
    out, mean, var = _empty(data, 2)
    assert supports_batch_norm((out, data), (mean, var, gamma, beta))
    batch_norm_train(out, mean, var, data, gamma, beta, eps=EPS)
    reference = Reference(data, gamma, beta)
    close(mean, reference.mean)
    close(var, reference.var)
    close(out, reference.forward(reference.mean, reference.var))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_inference(shape: tuple[int, ...], dtype: Any, close: Close) -> None:
    data, gamma, beta = _inputs(shape, dtype)
    mean, var = np.random.default_rng(2).random((2, shape[1]), dtype=np.float32)
    (out,) = _empty(data, 0)
    batch_norm_inference(out, data, gamma, beta, mean, var, eps=EPS)
    close(out, Reference(data, gamma, beta).forward(mean, var))


@pytest.mark.parametrize("use_global_stats", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_backward(shape: tuple[int, ...], use_global_stats: bool, dtype: Any, close: Close) -> None:
    data, gamma, beta = _inputs(shape, dtype)
    grad = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    reference = Reference(data, gamma, beta)
    mean, var = reference.mean.astype(np.float32), reference.var.astype(np.float32)
    outputs = _empty(data, 2)
    batch_norm_backward(
        *outputs, grad, data, gamma, mean, var, eps=EPS, use_global_stats=use_global_stats
    )
    expected = reference.backward(grad, reference.mean, reference.var, use_global_stats)
    for actual, wanted in zip(outputs, expected, strict=True):
        close(actual, wanted)


def _channels_last(array: Array) -> Array:
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def _with_gaps(array: Array) -> Array:
    return np.repeat(array, 2, axis=3)[..., ::2]


@pytest.mark.parametrize("out_layout", [np.ascontiguousarray, _channels_last, _with_gaps])
@pytest.mark.parametrize("layout", [_channels_last, _with_gaps])
def test_other_layouts(
    layout: Callable[[Array], Array], out_layout: Callable[[Array], Array], close: Close
) -> None:
    data, gamma, beta = _inputs((2, 6, 5, 4), np.float32)
    grad = np.random.default_rng(3).standard_normal(data.shape, dtype=np.float32)
    view, out, dx = layout(data), *(out_layout(np.zeros_like(data)) for _ in range(2))
    _, mean, var, dgamma, dbeta = _empty(data, 4)
    assert supports_batch_norm((out, view), (mean, var, gamma, beta))
    batch_norm_train(out, mean, var, view, gamma, beta, eps=EPS)
    reference = Reference(data, gamma, beta)
    close(out, reference.forward(reference.mean, reference.var))
    batch_norm_backward(dx, dgamma, dbeta, layout(grad), view, gamma, mean, var, eps=EPS)
    expected = reference.backward(grad, reference.mean, reference.var, fixed=False)
    for actual, wanted in zip((dx, dgamma, dbeta), expected, strict=True):
        close(actual, wanted)


def test_other_ranks_and_channel_dtypes_are_not_supported() -> None:
    data, vector = np.ones((2, 3, 4), np.float32), np.ones(3, np.float32)
    assert supports_batch_norm((data,), (vector,))
    assert not supports_batch_norm((data,), (vector.astype(np.float64),))
    assert not supports_batch_norm((vector,), (vector,))
    assert not supports_batch_norm((data.reshape(2, 3, 1, 1, 1, 4),), (vector,))


def test_a_wrong_number_of_channels_is_refused() -> None:
    data, gamma, beta = _inputs((2, 3, 4), np.float32)
    out, mean, var = _empty(data, 2)
    with pytest.raises(OneDNNError, match="reorder"):
        batch_norm_train(out, mean[:2], var, data, gamma, beta, eps=EPS)
