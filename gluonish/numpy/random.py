"""`np.random`: arrays of random numbers.

Parameters are numbers or arrays, which broadcast; ``size`` is the result's shape, by default the
broadcast shape of the parameters. `mx.random.seed` sets the seed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context
from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.random import seed
from gluonish.numpy.calls import NUMBERS, as_value, call, chosen, create
from gluonish.numpy.creation import array, extents
from gluonish.numpy.elements import take
from gluonish.numpy.linalg import cholesky
from gluonish.numpy.products import matmul
from gluonish.numpy.shapes import expand_dims, squeeze
from gluonish.numpy.unary import exp

__all__ = [
    "beta",
    "chisquare",
    "choice",
    "exponential",
    "f",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multinomial",
    "multivariate_normal",
    "normal",
    "pareto",
    "power",
    "rand",
    "randint",
    "randn",
    "rayleigh",
    "seed",
    "shuffle",
    "uniform",
    "weibull",
]

_NARROW = (FLOAT16, BFLOAT16)

Parameter = Any  # a number, an array, or a graph value
Size = int | Sequence[int] | None
Ctx = Context | str | None


def draw(
    what: str,
    operator: str,
    parameters: dict[str, Parameter],
    size: Size,
    params: dict[str, Any],
    ctx: Ctx = None,
    out: Any = None,
) -> Any:
    """Run a sampling operator.

    Args:
        what: Name of the function, for errors.
        operator: Registry name.
        parameters: Parameters of the distribution: numbers become attributes, arrays inputs.
        size: Shape; None for the broadcast shape of the parameters.
        params: Further attributes.
        ctx: Device if all parameters are numbers.
        out: Array to store the result in.
    """
    if size is not None:
        size = extents(size, what)
    elif isinstance(out, NDArray):
        size = out.shape
    attrs: dict[str, Any] = {**params, "size": size}
    inputs = []
    for name, value in parameters.items():
        if isinstance(value, NUMBERS):
            attrs[name] = float(value)
        else:
            attrs[name] = None
            inputs.append(array(value) if isinstance(value, list | tuple) else value)
    if inputs:
        return call(operator, inputs, attrs, out, what)
    return create(operator, attrs, ctx, out, what)


def uniform(
    low: Parameter = 0.0,
    high: Parameter = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from the uniform distribution over [low, high).

    Args:
        low: Lower bound.
        high: Upper bound.
        size: Shape of the samples; None for that of the parameters.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    bounds = {"low": low, "high": high}
    params = {"dtype": chosen(dtype)}
    return draw("uniform", "_npi_uniform", bounds, size, params, ctx or device, out)


def normal(
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a normal distribution.

    Args:
        loc: Mean.
        scale: Standard deviation.
        size: Shape of the samples; None for that of the parameters.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    moments = {"loc": loc, "scale": scale}
    params = {"dtype": chosen(dtype)}
    return draw("normal", "_npi_normal", moments, size, params, ctx or device, out)


def lognormal(
    mean: Parameter = 0.0,
    sigma: Parameter = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples whose logarithm is normal; arguments as for `normal`."""
    return exp(normal(mean, sigma, size, dtype, ctx or device), out)


def gamma(
    shape: Parameter,
    scale: Parameter = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a gamma distribution with shape ``shape`` and scale ``scale``."""
    parameters = {"shape": shape, "scale": scale}
    params = {"dtype": chosen(dtype)}
    return draw("gamma", "_npi_gamma", parameters, size, params, ctx or device, out)


def beta(
    a: Parameter,
    b: Parameter,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a beta distribution with parameters ``a`` and ``b``."""
    ctx = ctx or device
    first = gamma(a, 1, size, "float64", ctx)
    second = gamma(b, 1, size, "float64", ctx)
    return (first / (first + second)).astype(chosen(dtype))


def chisquare(
    df: Parameter, size: Size = None, dtype: Any = None, ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Draw samples from a chi-square distribution with ``df`` degrees of freedom."""
    halves = df / 2 if isinstance(df, NUMBERS) else as_value(df, "chisquare") / 2
    return gamma(halves, 2, size, dtype, ctx or device)


def exponential(
    scale: Parameter = 1.0, size: Size = None, ctx: Ctx = None, out: Any = None, device: Ctx = None
) -> Any:
    """Draw samples from an exponential distribution with mean ``scale``."""
    return draw("exponential", "_npi_exponential", {"scale": scale}, size, {}, ctx or device, out)


def gumbel(
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    size: Size = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a Gumbel distribution with mode ``loc`` and scale ``scale``."""
    return draw("gumbel", "_npi_gumbel", {"loc": loc, "scale": scale}, size, {}, ctx or device, out)


def logistic(
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    size: Size = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a logistic distribution with mean ``loc`` and scale ``scale``."""
    return draw(
        "logistic", "_npi_logistic", {"loc": loc, "scale": scale}, size, {}, ctx or device, out
    )


def pareto(
    a: Parameter, size: Size = None, ctx: Ctx = None, out: Any = None, device: Ctx = None
) -> Any:
    """Draw samples from a Pareto II (Lomax) distribution with shape ``a``."""
    return draw("pareto", "_npi_pareto", {"a": a}, size, {}, ctx or device, out)


def power(
    a: Parameter, size: Size = None, ctx: Ctx = None, out: Any = None, device: Ctx = None
) -> Any:
    """Draw samples in [0, 1] with density ``a x ** (a - 1)``."""
    return draw("power", "_npi_powerd", {"a": a}, size, {}, ctx or device, out)


def f(
    dfnum: Parameter, dfden: Parameter, size: Size = None, ctx: Ctx = None, device: Ctx = None
) -> Any:
    """Draw samples from an F distribution, the ratio of two chi-square variables over their ``df``.

    Args:
        dfnum: Degrees of freedom of the numerator: a positive number or array.
        dfden: Degrees of freedom of the denominator: a positive number or array.
        size: Shape of the samples; None for that of the parameters.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    shape = _broadcast(size, dfnum, dfden)
    top, bottom = (chisquare(df, shape, None, ctx or device) / df for df in (dfnum, dfden))
    return top / bottom


def _broadcast(size: Size, *parameters: Parameter) -> Size:
    """Return the shape of samples: ``size``, or the broadcast shape of the parameters."""
    if size is not None:
        return size
    return np.broadcast_shapes(*[getattr(x, "shape", np.shape(x)) for x in parameters])


def laplace(
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a Laplace distribution, the difference of two exponential variables.

    Args:
        loc: Mean.
        scale: Scale: half of the variance is its square.
        size: Shape of the samples; None for that of the parameters.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    if size is None and isinstance(out, NDArray):
        size = out.shape
    shape = _broadcast(size, loc, scale)
    above, below = (exponential(1.0, shape, ctx or device) for _ in range(2))
    drawn = (loc + scale * (above - below)).astype(chosen(dtype))
    if out is None:
        return drawn
    out[...] = drawn
    return out


def rayleigh(
    scale: Parameter = 1.0, size: Size = None, ctx: Ctx = None, out: Any = None, device: Ctx = None
) -> Any:
    """Draw samples from a Rayleigh distribution with mode ``scale``."""
    return draw("rayleigh", "_npi_rayleigh", {"scale": scale}, size, {}, ctx or device, out)


def weibull(
    a: Parameter, size: Size = None, ctx: Ctx = None, out: Any = None, device: Ctx = None
) -> Any:
    """Draw samples from a Weibull distribution with shape ``a``."""
    return draw("weibull", "_npi_weibull", {"a": a}, size, {}, ctx or device, out)


def rand(*size: int, **kwargs: Any) -> Any:
    """Draw uniform samples from [0, 1) of a shape; keywords as for `uniform`."""
    return uniform(0.0, 1.0, size=size, **kwargs)


def randn(*size: int, **kwargs: Any) -> Any:
    """Draw standard normal samples of a shape; keywords as for `normal`."""
    return normal(0.0, 1.0, size=size, **kwargs)


def randint(
    low: int,
    high: int | None = None,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw uniform integers from [low, high); with one bound only, from [0, bound).

    Args:
        low: Smallest integer, or the bound if ``high`` is omitted.
        high: Bound, excluded.
        size: Shape of the samples, () by default.
        dtype: Element type, int64 by default.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    if high is None:
        low, high = 0, low
    if size is None:
        size = out.shape if isinstance(out, NDArray) else ()
    if dtype is None:
        dtype = out.dtype if isinstance(out, NDArray) else "int64"
    shape = extents(size, "randint")
    params = {"low": low, "high": high, "shape": shape, "dtype": dtype}
    return create("_npi_random_randint", params, ctx or device, out, "randint")


def choice(
    a: Any,
    size: Size = None,
    replace: bool = True,
    p: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw random elements from a vector.

    Args:
        a: Vector to draw from, or an int for the integers below it.
        size: Shape of the samples, () by default.
        replace: Whether an element may be drawn more than once.
        p: Vector of probabilities; equal ones by default.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    shape = () if size is None else extents(size, "choice")
    params: dict[str, Any] = {"size": shape, "replace": replace, "weighted": p is not None}
    inputs = [] if p is None else [array(p) if isinstance(p, list | tuple) else p]
    if isinstance(a, int | np.integer):
        params["a"] = int(a)
        if inputs:
            return call("_npi_choice", inputs, params, out, "choice")
        return create("_npi_choice", params, ctx or device, out, "choice")
    params["a"] = None
    values = array(a) if isinstance(a, list | tuple) else a
    positions = call("_npi_choice", [values, *inputs], params, what="choice")
    return take(values, positions, 0, "clip", out)


def shuffle(x: Any) -> None:
    """Shuffle an array along axis 0, in place.

    Raises:
        ArgumentTypeError: ``x`` is not an array.
    """
    if not isinstance(x, NDArray):
        raise ArgumentTypeError(f"shuffle: expected an array, got {type(x).__name__}")
    call("_npi_shuffle", (x,), out=x, what="shuffle")


def multinomial(n: int, pvals: Any, size: Size = None, **kwargs: Any) -> Any:
    """Draw from a multinomial distribution: the count of each outcome in ``n`` trials, int64.

    Args:
        n: Number of trials.
        pvals: Probabilities of the outcomes: (K,), a sequence or an array.
        size: Shape in front of the outcomes' axis, () by default.
        **kwargs: Must be empty.

    Raises:
        ArgumentTypeError: A keyword is passed.
    """
    if kwargs:
        raise ArgumentTypeError(f"multinomial: expected no keywords, got {sorted(kwargs)}")
    shape = None if size is None else extents(size, "multinomial")
    params: dict[str, Any] = {"n": n, "size": shape}
    if isinstance(pvals, list | tuple):
        return create("_npi_multinomial", {**params, "pvals": pvals}, what="multinomial")
    return call("_npi_multinomial", (pvals,), params, what="multinomial")


def multivariate_normal(
    mean: Any, cov: Any, size: Size = None, check_valid: str | None = None, tol: float | None = None
) -> Any:
    """Draw vectors from a multivariate normal distribution.

    Args:
        mean: Means (..., N).
        cov: Covariances (..., N, N), positive definite.
        size: Leading shape, before the broadcast shape of the parameters.
        check_valid: Must be None.
        tol: Must be None.

    Returns:
        Array (*size, ..., N).
    """
    if check_valid is not None or tol is not None:
        raise ArgumentError(
            "multivariate_normal: expected check_valid and tol to be None, got values"
        )
    centers, spread = (as_value(x, "multivariate_normal") for x in (mean, cov))
    leading = centers.shape[:-1]  # first: a Symbol's call is repeated once its shape is known
    if spread.dtype in _NARROW:  # the root needs float32 precision
        spread = spread.astype(FLOAT32 if centers.dtype in _NARROW else centers.dtype)
    if centers.dtype in _NARROW:
        drawn = multivariate_normal(centers.astype(spread.dtype), spread, size)
        return drawn.astype(centers.dtype)
    roots = cholesky(spread)
    batch = np.broadcast_shapes(leading, roots.shape[:-2])
    extra = () if size is None else extents(size, "multivariate_normal")
    shape = (*extra, *batch, centers.shape[-1])
    standard = normal(0.0, 1.0, shape, centers.dtype, getattr(centers, "ctx", None))
    return squeeze(matmul(roots, expand_dims(standard, -1)), -1) + centers


document_arguments(
    globals(),
    __all__,
    {
        "a": "Shape parameter: a positive number or array.",
        "b": "Second shape parameter: a positive number or array.",
        "gamma.shape": "Shape parameter: a positive number or array.",
        "shuffle.x": "Array (N, ...), which is shuffled in place.",
    },
)
