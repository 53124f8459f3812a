"""Symbols of random numbers: ``F.random`` in a traced `hybrid_forward`."""

from collections.abc import Mapping
from typing import Any

from gluonish.core.argument_docs import document_arguments
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.numpy_mode import is_np_shape
from gluonish.ops.support.random_functions import RandomFunctions
from gluonish.symbol.namespace import operator_function
from gluonish.symbol.symbol import Symbol

__all__ = [
    "categorical",
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


def _draw(name: str, parameters: Mapping[str, Any], options: dict[str, Any]) -> Symbol:
    """Draw from a distribution with parameters that are all numbers, or all Symbols."""
    options = {key: value for key, value in options.items() if value is not None}
    options.pop("ctx", None)  # a graph runs on the device of its inputs
    if options.get("shape") == () and not is_np_shape():
        del options["shape"]  # the shape follows from the readers
    symbols = [value for value in parameters.values() if isinstance(value, Symbol)]
    if symbols and len(symbols) < len(parameters):
        raise ArgumentTypeError(
            f"random.{name}: expected parameters that are all numbers or all Symbols, "
            f"got {', '.join(f'{key}={value!r}' for key, value in parameters.items())}"
        )
    function = operator_function(f"_sample_{name}" if symbols else f"_random_{name}")
    drawn: Symbol = function(*symbols, **({} if symbols else parameters), **options)
    return drawn


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Draw class indices from categorical distributions along the last axis of ``data``.

    With ``get_prob`` (unlike in ``mx.nd``, the default) a second output holds the log-likelihoods
    of the drawn classes.
    """
    options = {"get_prob": get_prob, "dtype": dtype, **kwargs}
    if shape is not None:
        options["shape"] = shape
    drawn: Symbol = operator_function("_sample_multinomial")(data, **options)
    return drawn


def categorical(
    data: Symbol, shape: Any = None, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Draw class indices from categorical distributions: `multinomial`, its name in MXNet 1.9."""
    return multinomial(data, shape, get_prob, dtype, **kwargs)


_FUNCTIONS = RandomFunctions(_draw, operator_function)
exponential = _FUNCTIONS.exponential
exponential_like = _FUNCTIONS.exponential_like
gamma = _FUNCTIONS.gamma
gamma_like = _FUNCTIONS.gamma_like
generalized_negative_binomial = _FUNCTIONS.generalized_negative_binomial
generalized_negative_binomial_like = _FUNCTIONS.generalized_negative_binomial_like
negative_binomial = _FUNCTIONS.negative_binomial
negative_binomial_like = _FUNCTIONS.negative_binomial_like
normal = _FUNCTIONS.normal
normal_like = _FUNCTIONS.normal_like
poisson = _FUNCTIONS.poisson
poisson_like = _FUNCTIONS.poisson_like
randint = _FUNCTIONS.randint
randn = _FUNCTIONS.randn
shuffle = _FUNCTIONS.shuffle
uniform = _FUNCTIONS.uniform
uniform_like = _FUNCTIONS.uniform_like


document_arguments(globals(), __all__)
