"""Symbols of random numbers: what ``F.random`` is inside a `hybrid_forward` that is traced."""

from typing import Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol

__all__ = [
    "exponential",
    "exponential_like",
    "gamma",
    "gamma_like",
    "multinomial",
    "normal",
    "normal_like",
    "randint",
    "randn",
    "shuffle",
    "uniform",
    "uniform_like",
]


def _draw(name: str, parameters: dict[str, Any], options: dict[str, Any]) -> Symbol:
    options = {key: value for key, value in options.items() if value is not None}
    for key, value in parameters.items():
        if isinstance(value, Symbol):
            raise ArgumentTypeError(
                f"random.{name}: expected {key} to be a number, got a Symbol; draw standard "
                f"numbers with random.{name}_like and transform them"
            )
    options.pop("ctx", None)  # a graph runs where its inputs are
    drawn: Symbol = operator_function(f"_random_{name}")(**parameters, **options)
    return drawn


def uniform(
    low: float = 0, high: float = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return numbers spread evenly over [low, high)."""
    return _draw("uniform", {"low": low, "high": high}, {"shape": shape, "dtype": dtype, **kwargs})


def normal(
    loc: float = 0, scale: float = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return normal numbers with mean ``loc`` and standard deviation ``scale``."""
    return _draw("normal", {"loc": loc, "scale": scale}, {"shape": shape, "dtype": dtype, **kwargs})


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """Return normal numbers in the given shape; ``loc`` and ``scale`` as for `normal`."""
    return normal(shape=shape or None, **kwargs)


def exponential(scale: float = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return exponential numbers with mean ``scale``."""
    return _draw("exponential", {"lam": 1.0 / scale}, {"shape": shape, "dtype": dtype, **kwargs})


def gamma(
    alpha: float = 1, beta: float = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return numbers of a gamma distribution with shape ``alpha`` and scale ``beta``."""
    parameters = {"alpha": alpha, "beta": beta}
    return _draw("gamma", parameters, {"shape": shape, "dtype": dtype, **kwargs})


def randint(low: int, high: int, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return whole numbers spread evenly over [low, high), int32 unless told otherwise."""
    return _draw("randint", {"low": low, "high": high}, {"shape": shape, "dtype": dtype, **kwargs})


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = False, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Return indices drawn with the probabilities in the last axis of ``data``.

    With ``get_prob`` their log-likelihoods come as a second output.
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
normal_like = operator_function("_random_normal_like")
uniform_like = operator_function("_random_uniform_like")
