# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.numpy import random as random
from gluonish.numpy.views import module_view as module_view
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.numpy_symbol import symbolic as symbolic
from typing import Any


def beta(
    a: Any,
    b: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a beta distribution with parameters ``a`` and ``b``."""
def chisquare(
    df: Any,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a chi-square distribution with ``df`` degrees of freedom."""
def choice(
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw random elements from a vector."""
def exponential(
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from an exponential distribution with mean ``scale``."""
def f(dfnum: Any, dfden: Any, size: Any = None, ctx: Any = None, device: Any = None) -> NumpySymbol:
    """Draw samples from an F distribution, the ratio of two chi-square variables over their
    ``df``."""
def gamma(
    shape: Any,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a gamma distribution with shape ``shape`` and scale ``scale``."""
def gumbel(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a Gumbel distribution with mode ``loc`` and scale ``scale``."""
def laplace(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a Laplace distribution, the difference of two exponential variables."""
def logistic(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a logistic distribution with mean ``loc`` and scale ``scale``."""
def lognormal(
    mean: Any = 0.0,
    sigma: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples whose logarithm is normal; arguments as for `normal`."""
def multinomial(n: int, pvals: Any, size: Any = None, **kwargs: Any) -> NumpySymbol:
    """Draw from a multinomial distribution: the count of each outcome in ``n`` trials, int64."""
def multivariate_normal(
    mean: Any,
    cov: Any,
    size: Any = None,
    check_valid: Any = None,
    tol: Any = None,
) -> NumpySymbol:
    """Draw vectors from a multivariate normal distribution."""
def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a normal distribution."""
def pareto(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a Pareto II (Lomax) distribution with shape ``a``."""
def power(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples in [0, 1] with density ``a x ** (a - 1)``."""
def rand(*size: int, **kwargs: Any) -> NumpySymbol:
    """Draw uniform samples from [0, 1) of a shape; keywords as for `uniform`."""
def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw uniform integers from [low, high); with one bound only, from [0, bound)."""
def randn(*size: int, **kwargs: Any) -> NumpySymbol:
    """Draw standard normal samples of a shape; keywords as for `normal`."""
def rayleigh(
    scale: Any = 1.0,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a Rayleigh distribution with mode ``scale``."""
def seed(seed_state: int, ctx: Any = "all", device: Any = None) -> NumpySymbol:
    """Seed the random number generators."""
def shuffle(x: Any) -> NumpySymbol:
    """Shuffle an array along axis 0, in place."""
def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from the uniform distribution over [low, high)."""
def weibull(
    a: Any,
    size: Any = None,
    ctx: Any = None,
    out: Any = None,
    device: Any = None,
) -> NumpySymbol:
    """Draw samples from a Weibull distribution with shape ``a``."""
