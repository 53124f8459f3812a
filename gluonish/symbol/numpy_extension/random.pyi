# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.numpy.views import module_view as module_view
from gluonish.numpy_extension import random as random
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.numpy_symbol import symbolic as symbolic
from typing import Any


def bernoulli(
    prob: Any = None,
    logit: Any = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a Bernoulli distribution: ones and zeros."""
def categorical(
    data: Any,
    shape: Any = None,
    get_prob: bool = False,
    dtype: Any = "int32",
    out: Any = None,
) -> NumpySymbol:
    """Draw class indices from the probabilities along the last axis of ``data``."""
def normal_n(
    loc: Any = 0.0,
    scale: Any = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw normal samples, an array of ``batch_shape`` for each element."""
def scalar_poisson(
    lam: float = 1.0,
    shape: Any = (),
    ctx: Any = None,
    dtype: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw integers from a Poisson distribution."""
def seed(seed: int, ctx: Any = "all", device: Any = None) -> NumpySymbol:
    """Seed the random number generators."""
def uniform_n(
    low: Any = 0.0,
    high: Any = 1.0,
    batch_shape: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw uniform samples from [low, high), an array of ``batch_shape`` for each element."""
