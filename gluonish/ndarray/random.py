"""Arrays of random numbers, and the seed they start from.

Every function also takes ``name``, which only graphs have a use for, and refuses other keywords.
"""

from typing import Any

import numpy as np

from gluonish.core import random_state
from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError, KeyLookupError
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.namespace import operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import find_operator

__all__ = [
    "exponential",
    "exponential_like",
    "gamma",
    "gamma_like",
    "generalized_negative_binomial",
    "generalized_negative_binomial_like",
    "multinomial",
    "negative_binomial",
    "negative_binomial_like",
    "normal",
    "normal_like",
    "poisson",
    "poisson_like",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
    "uniform_like",
]

Parameter = float | NDArray


def seed(seed_state: int, ctx: str | Context = "all") -> None:
    """Seed the random number generators.

    Args:
        seed_state: The seed, any int.
        ctx: Device whose generator is seeded, or ``"all"``.

    Raises:
        ArgumentTypeError: The seed is not an int.
        KeyLookupError: ``ctx`` is a string other than ``"all"``.
    """
    if not isinstance(seed_state, int | np.integer):
        raise ArgumentTypeError(f"seed: expected an int, got {seed_state!r}")
    if ctx == "all":
        random_state.seed(int(seed_state))
    elif isinstance(ctx, Context):
        random_state.seed(int(seed_state), ctx)
    else:
        raise KeyLookupError(f"seed: expected ctx 'all' or a Context, got {ctx!r}")


def _draw(
    name: str,
    parameters: dict[str, Any],
    shape: Any,
    dtype: Any,
    ctx: Context | None,
    out: Any,
    options: dict[str, Any],
) -> NDArray:
    """Draw with parameters that are numbers, or for each element of parameters that are arrays."""
    options.pop("name", None)  # for graphs; an array has none
    arrays = [p for p in parameters.values() if isinstance(p, NDArray)]
    if arrays:
        return _draw_for_each(name, parameters, arrays, shape, dtype, out, options)
    op = find_operator(f"_random_{name}")
    given = out[0] if isinstance(out, list | tuple) else out
    if shape is None:
        shape = (1,) if given is None else given.shape
    if dtype is None and given is not None:
        dtype = given.dtype
    attrs = op.schema.parse(name, {**parameters, **options, "shape": shape, "dtype": dtype})
    drawn: NDArray = source(op, attrs, ctx, out)
    return drawn


def _draw_for_each(
    name: str,
    parameters: dict[str, Any],
    arrays: list[NDArray],
    shape: Any,
    dtype: Any,
    out: NDArray | None,
    options: dict[str, Any],
) -> NDArray:
    if len(arrays) < len(parameters) or any(p.shape != arrays[0].shape for p in arrays):
        raise ArgumentTypeError(
            f"{name}: expected parameters that are all numbers or all NDArrays of equal "
            f"shape, got {[getattr(p, 'shape', p) for p in parameters.values()]}"
        )
    op = find_operator(f"_sample_{name}")
    if dtype is None and out is not None:
        dtype = out.dtype
    given = {**options, "shape": () if shape is None else shape, "dtype": dtype}
    drawn: NDArray = invoke(op, arrays, op.schema.parse(name, given), out)
    return drawn


def uniform(
    low: Parameter = 0,
    high: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw samples from the uniform distribution over [low, high).

    If parameters are arrays, samples of shape ``shape`` are drawn for each element.
    """
    parameters = {"low": low, "high": high}
    return _draw("uniform", parameters, shape, dtype, ctx, out, kwargs)


def normal(
    loc: Parameter = 0,
    scale: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw samples from a normal distribution with mean ``loc`` and deviation ``scale``.

    If parameters are arrays, samples of shape ``shape`` are drawn for each element.
    """
    parameters = {"loc": loc, "scale": scale}
    return _draw("normal", parameters, shape, dtype, ctx, out, kwargs)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Draw normal samples of a given shape; ``loc`` and ``scale`` as for `normal`."""
    return normal(shape=shape or None, **kwargs)


def poisson(
    lam: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw samples from the Poisson distribution with mean ``lam``.

    If parameters are arrays, samples of shape ``shape`` are drawn for each element.
    """
    parameters = {"lam": lam}
    return _draw("poisson", parameters, shape, dtype, ctx, out, kwargs)


def exponential(
    scale: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw samples from the exponential distribution with mean ``scale``.

    If the parameter is an array, samples of shape ``shape`` are drawn for each element.

    Raises:
        ArgumentError: ``scale`` is 0.
    """
    if not isinstance(scale, NDArray) and not scale:
        raise ArgumentError(f"exponential: expected scale above 0, got {scale}")
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def gamma(
    alpha: Parameter = 1,
    beta: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw samples from a gamma distribution with shape ``alpha`` and scale ``beta``.

    If parameters are arrays, samples of shape ``shape`` are drawn for each element.
    """
    parameters = {"alpha": alpha, "beta": beta}
    return _draw("gamma", parameters, shape, dtype, ctx, out, kwargs)


def negative_binomial(
    k: Parameter = 1,
    p: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw negative binomial samples: failures before ``k`` successes of probability ``p``.

    If parameters are arrays, samples of shape ``shape`` are drawn for each element.
    """
    parameters = {"k": k, "p": p}
    return _draw("negative_binomial", parameters, shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(
    mu: Parameter = 1,
    alpha: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw negative binomial samples with mean ``mu`` and dispersion ``alpha``.

    If parameters are arrays, samples of shape ``shape`` are drawn for each element.
    """
    parameters = {"mu": mu, "alpha": alpha}
    return _draw("generalized_negative_binomial", parameters, shape, dtype, ctx, out, kwargs)


def randint(
    low: int,
    high: int,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Draw uniform integers from [low, high), by default int32."""
    return _draw("randint", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def multinomial(
    data: NDArray,
    shape: Any = None,
    get_prob: bool = False,
    out: NDArray | None = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Draw class indices with the probabilities along the last axis of ``data``."""
    op = find_operator("_sample_multinomial")
    kwargs.pop("name", None)  # for graphs; an array has none
    sizes = () if shape is None else shape
    given = {"shape": sizes, "get_prob": get_prob, "dtype": dtype, **kwargs}
    return invoke(op, (data,), op.schema.parse("multinomial", given), out)


def shuffle(data: NDArray, **kwargs: Any) -> NDArray:
    """Return the array shuffled along its first axis; ``out`` receives the result if given."""
    shuffled: NDArray = operator_function("_shuffle")(data, **kwargs)
    return shuffled


exponential_like = operator_function("_random_exponential_like")
gamma_like = operator_function("_random_gamma_like")
generalized_negative_binomial_like = operator_function("_random_generalized_negative_binomial_like")
negative_binomial_like = operator_function("_random_negative_binomial_like")
normal_like = operator_function("_random_normal_like")
poisson_like = operator_function("_random_poisson_like")
uniform_like = operator_function("_random_uniform_like")


document_arguments(globals(), __all__)
