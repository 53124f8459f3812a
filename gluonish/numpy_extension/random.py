"""`npx.random`: the seed, and samplers that NumPy does not have."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError
from gluonish.ndarray.random import seed as seed_arrays
from gluonish.numpy.calls import call, chosen, create
from gluonish.numpy.creation import extents
from gluonish.numpy.random import Ctx, Parameter, Size, draw

__all__ = ["bernoulli", "categorical", "normal_n", "scalar_poisson", "seed", "uniform_n"]


def seed(seed: int, ctx: str | Context = "all", device: str | Context | None = None) -> None:
    """Seed the random number generators.

    Args:
        seed: The seed, any int.
        ctx: Device whose generator is seeded, or ``"all"``.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    seed_arrays(seed, device or ctx)


def bernoulli(
    prob: Parameter = None,
    logit: Parameter = None,
    size: Size = None,
    dtype: Any = None,
    ctx: Ctx = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw samples from a Bernoulli distribution: ones and zeros.

    Args:
        prob: Probability of a 1: number or array.
        logit: Logit of the probability, instead of ``prob``: number or array.
        size: Shape of the samples; None for that of the parameter.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.

    Raises:
        ArgumentError: Not exactly one of ``prob`` and ``logit`` is passed.
    """
    if (prob is None) == (logit is None):
        raise ArgumentError("bernoulli: expected prob or logit, got both or neither")
    name, value = ("logit", logit) if prob is None else ("prob", prob)
    other = "prob" if prob is None else "logit"
    params = {"is_logit": prob is None, "dtype": chosen(dtype), other: None}
    return draw("bernoulli", "_npi_bernoulli", {name: value}, size, params, ctx or device, out)


def categorical(
    data: Any, shape: Any = None, get_prob: bool = False, dtype: Any = "int32", out: Any = None
) -> Any:
    """Draw class indices from the probabilities along the last axis of ``data``.

    Args:
        data: Probabilities, (classes,) or (N, classes).
        shape: Number, or shape, of the samples to draw from each distribution.
        get_prob: Whether to return the log-likelihoods of the samples, too.
        dtype: Element type of the samples.
        out: Array that receives the samples.
    """
    params = {"shape": () if shape is None else shape, "get_prob": get_prob, "dtype": dtype}
    return call("_sample_multinomial", (data,), params, out, "categorical")


def uniform_n(
    low: Parameter = 0.0,
    high: Parameter = 1.0,
    batch_shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    ctx: Ctx = None,
    device: Ctx = None,
) -> Any:
    """Draw uniform samples from [low, high), an array of ``batch_shape`` for each element.

    Args:
        low: Lower bound.
        high: Upper bound.
        batch_shape: Leading shape, before the broadcast shape of the bounds.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    bounds = {"low": low, "high": high}
    return _draw_batch("uniform_n", "_npi_uniform_n", bounds, batch_shape, dtype, ctx or device)


def normal_n(
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    batch_shape: int | Sequence[int] | None = None,
    dtype: Any = None,
    ctx: Ctx = None,
    device: Ctx = None,
) -> Any:
    """Draw normal samples, an array of ``batch_shape`` for each element.

    Args:
        loc: Mean.
        scale: Standard deviation.
        batch_shape: Leading shape, before the broadcast shape of the parameters.
        dtype: Element type, float32 by default.
        ctx: Device; the current context by default.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    moments = {"loc": loc, "scale": scale}
    return _draw_batch("normal_n", "_npi_normal_n", moments, batch_shape, dtype, ctx or device)


def _draw_batch(
    what: str,
    operator: str,
    parameters: dict[str, Parameter],
    batch_shape: int | Sequence[int] | None,
    dtype: Any,
    ctx: Ctx,
) -> Any:
    size: Size = () if batch_shape is None else batch_shape
    return draw(what, operator, parameters, size, {"dtype": chosen(dtype)}, ctx)


def scalar_poisson(
    lam: float = 1.0,
    shape: int | Sequence[int] = (),
    ctx: Ctx = None,
    dtype: Any = None,
    out: Any = None,
    device: Ctx = None,
) -> Any:
    """Draw integers from a Poisson distribution.

    Args:
        lam: Mean, a number of at least 0.
        shape: Shape of the samples.
        ctx: Device; the current context by default.
        dtype: Element type, float32 by default.
        out: Array that the result is written to, of its shape and dtype.
        device: ``ctx`` under the name it has in MXNet 2.0.
    """
    params = {"lam": lam, "shape": extents(shape, "scalar_poisson"), "dtype": chosen(dtype)}
    return create("_random_poisson", params, ctx or device, out, "scalar_poisson")
