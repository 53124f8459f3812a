"""Symbols of random numbers: what ``F.random`` is inside a `hybrid_forward` that is traced."""

from typing import Any

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentTypeError
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol

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
    "shuffle",
    "uniform",
    "uniform_like",
]


Parameter = float | Symbol


def _draw(name: str, parameters: dict[str, Any], options: dict[str, Any]) -> Symbol:
    """Draw with parameters that are numbers, or for each element of parameters that are symbols."""
    options = {key: value for key, value in options.items() if value is not None}
    options.pop("ctx", None)  # a graph runs where its inputs are
    symbols = [value for value in parameters.values() if isinstance(value, Symbol)]
    if symbols and len(symbols) < len(parameters):
        raise ArgumentTypeError(
            f"random.{name}: expected parameters that are all numbers or all Symbols, "
            f"got {', '.join(f'{key}={value!r}' for key, value in parameters.items())}"
        )
    function = operator_function(f"_sample_{name}" if symbols else f"_random_{name}")
    drawn: Symbol = function(*symbols, **({} if symbols else parameters), **options)
    return drawn


def uniform(
    low: Parameter = 0, high: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Draw samples from the uniform distribution over [low, high)."""
    return _draw("uniform", {"low": low, "high": high}, {"shape": shape, "dtype": dtype, **kwargs})


def normal(
    loc: Parameter = 0, scale: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Draw samples from a normal distribution with mean ``loc`` and deviation ``scale``."""
    return _draw("normal", {"loc": loc, "scale": scale}, {"shape": shape, "dtype": dtype, **kwargs})


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Draw normal samples of a given shape; ``loc`` and ``scale`` as for `normal`."""
    return normal(shape=shape or None, **kwargs)


def exponential(
    scale: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Draw samples from the exponential distribution with mean ``scale``."""
    return _draw("exponential", {"lam": 1.0 / scale}, {"shape": shape, "dtype": dtype, **kwargs})


def gamma(
    alpha: Parameter = 1, beta: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Draw samples from a gamma distribution with shape ``alpha`` and scale ``beta``."""
    parameters = {"alpha": alpha, "beta": beta}
    return _draw("gamma", parameters, {"shape": shape, "dtype": dtype, **kwargs})


def poisson(lam: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Draw samples from the Poisson distribution with mean ``lam``."""
    return _draw("poisson", {"lam": lam}, {"shape": shape, "dtype": dtype, **kwargs})


def negative_binomial(
    k: Parameter = 1, p: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Draw negative binomial samples: failures before ``k`` successes of probability ``p``."""
    return _draw("negative_binomial", {"k": k, "p": p}, {"shape": shape, "dtype": dtype, **kwargs})


def generalized_negative_binomial(
    mu: Parameter = 1, alpha: Parameter = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Draw negative binomial samples with mean ``mu`` and dispersion ``alpha``."""
    return _draw(
        "generalized_negative_binomial",
        {"mu": mu, "alpha": alpha},
        {"shape": shape, "dtype": dtype, **kwargs},
    )


def randint(low: int, high: int, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Draw uniform integers from [low, high), by default int32."""
    return _draw("randint", {"low": low, "high": high}, {"shape": shape, "dtype": dtype, **kwargs})


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Draw class indices with the probabilities along the last axis of ``data``.

    With ``get_prob``, which arrays' function leaves out, their log-likelihoods come as a second
    output.
    """
    options = {"get_prob": get_prob, "dtype": dtype, **kwargs}
    if shape is not None:
        options["shape"] = shape
    drawn: Symbol = operator_function("_sample_multinomial")(data, **options)
    return drawn


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """Return ``data`` with its first axis in random order."""
    shuffled: Symbol = operator_function("_shuffle")(data, **kwargs)
    return shuffled


exponential_like = operator_function("_random_exponential_like")
gamma_like = operator_function("_random_gamma_like")
generalized_negative_binomial_like = operator_function("_random_generalized_negative_binomial_like")
negative_binomial_like = operator_function("_random_negative_binomial_like")
normal_like = operator_function("_random_normal_like")
poisson_like = operator_function("_random_poisson_like")
uniform_like = operator_function("_random_uniform_like")


document_arguments(globals(), __all__)
