"""Functions that distributions share, under MXNet's names."""

from collections.abc import Callable
from typing import Any

import numpy as official

import gluonish.numpy as np
import gluonish.numpy_extension as npx
from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import default_repr
from gluonish.gluon.probability.distributions import parameters
from gluonish.numpy.calls import is_value
from gluonish.numpy.creation import extents

__all__ = [
    "cached_property",
    "constraint_check",
    "digamma",
    "erf",
    "erfinv",
    "gammaln",
    "logit2prob",
    "prob2logit",
    "sample_n_shape_converter",
    "sum_right_most",
]


class _CachedProperty:
    """A property that is computed at its first access, and then is an attribute of the object.

    Args:
        func: Method that computes the value.
    """

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self._func = func
        self.__doc__ = func.__doc__

    __repr__ = default_repr

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, cls: type | None = None) -> Any:
        if instance is None:
            return self
        value = self._func(instance)
        vars(instance)[self._name] = value
        return value


cached_property = _CachedProperty


def constraint_check() -> Callable[[Any, str], Any]:
    """Return a function (condition, err_msg) that raises ArgumentError where a condition is false.

    Its condition is a bool or an array of bool; it returns 1.0, or an array of shape () that is
    True.
    """

    def check(condition: Any, err_msg: str) -> Any:
        if is_value(condition):
            return npx.constraint_check(condition, err_msg)
        if not condition:
            raise ArgumentError(err_msg)
        return 1.0

    return check


def digamma() -> Callable[[Any], Any]:
    """Return the function that computes the derivative of log gamma of a number or an array."""
    return parameters.digamma


def gammaln() -> Callable[[Any], Any]:
    """Return the function that computes log gamma of a number or an array."""
    return parameters.gammaln


def erf() -> Callable[[Any], Any]:
    """Return the function that computes the error function of a number or an array."""
    return parameters.erf


def erfinv() -> Callable[[Any], Any]:
    """Return the function that computes the inverse error function of a number or an array."""
    return parameters.erfinv


def sample_n_shape_converter(size: Any) -> tuple[int, ...] | None:
    """Return the size of `sample_n` as MXNet's samplers write it: -2, then the size.

    Args:
        size: Int, tuple of ints, or None; None and () give None.
    """
    if size is None or size == ():
        return None
    return (-2, *extents(size, "sample_n"))


def sum_right_most(x: Any, ndim: int) -> Any:
    """Sum an array over its last axes.

    Args:
        x: Array, or a number if ``ndim`` is 0.
        ndim: Number of axes.
    """
    return x if ndim == 0 else np.sum(x, axis=tuple(range(-ndim, 0)))


def _clipped(prob: Any) -> Any:
    step = float(official.finfo(prob.dtype if is_value(prob) else official.float64).eps)
    if not is_value(prob):
        return min(max(prob, step), 1 - step)
    return np.clip(prob, step, 1 - step)


def prob2logit(prob: Any, binary: bool = True) -> Any:
    """Return the logit of probabilities, which are clipped by the machine epsilon.

    Args:
        prob: Number or array in [0, 1].
        binary: True for log(p / (1 - p)), False for log p.
    """
    clipped = _clipped(prob)
    return np.log(clipped) - np.log1p(-clipped) if binary else np.log(clipped)


def logit2prob(logit: Any, binary: bool = True) -> Any:
    """Return the probabilities of logits.

    Args:
        logit: Number or array.
        binary: True for the sigmoid, False for the softmax along the last axis.
    """
    if not binary:
        return npx.softmax(logit, axis=-1)
    return npx.sigmoid(logit) if is_value(logit) else 1 / (1 + np.exp(-logit))
