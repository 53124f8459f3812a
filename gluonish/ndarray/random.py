"""``nd.random``: arrays of random numbers, and `seed`.

Every function also accepts ``name``, which only Symbols use.
"""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from gluonish.core import random_state
from gluonish.core.argument_docs import document_arguments
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentTypeError, KeyLookupError
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.namespace import operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import find_operator
from gluonish.ops.support.random_functions import RandomFunctions

__all__ = [
    "binomial",
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
    "seed",
    "shuffle",
    "uniform",
    "uniform_like",
]


def seed(seed_state: int, ctx: str | Context = "all", device: str | Context | None = None) -> None:
    """Seed the random number generators.

    Args:
        seed_state: The seed, any int.
        ctx: Device whose generator is seeded, or ``"all"``.
        device: ``ctx`` under the name it has in MXNet 2.0.

    Raises:
        ArgumentTypeError: The seed is not an int.
        KeyLookupError: ``ctx`` is a string other than ``"all"``.
    """
    if not isinstance(seed_state, int | np.integer):
        raise ArgumentTypeError(f"seed: expected an int, got {seed_state!r}")
    ctx = device or ctx
    if ctx == "all":
        random_state.seed(int(seed_state))
    elif isinstance(ctx, Context):
        random_state.seed(int(seed_state), ctx)
    else:
        raise KeyLookupError(f"seed: expected ctx 'all' or a Context, got {ctx!r}")


def seed_everything(seed_state: int) -> None:
    """Seed the generators of Python, NumPy and gluonish, on all devices.

    Workers of a DataLoader, its shuffling and random transforms take their seeds from these.

    Args:
        seed_state: The seed, any int; NumPy uses its lower 32 bits.

    Raises:
        ArgumentTypeError: The seed is not an int.

    Example:
        >>> import gluonish as mx
        >>> mx.random.seed_everything(7)
    """
    seed(seed_state)
    random.seed(int(seed_state))
    np.random.seed(int(seed_state) & 0xFFFFFFFF)  # noqa: NPY002  # programs use this generator


def _draw(name: str, parameters: Mapping[str, Any], options: dict[str, Any]) -> NDArray:
    """Sample with numbers as parameters, or once for each element of arrays as parameters."""
    options.pop("name", None)  # only Symbols have names
    ctx, out = options.pop("ctx"), options.pop("out")
    arrays = [p for p in parameters.values() if isinstance(p, NDArray)]
    if arrays:
        return _draw_for_each(name, parameters, arrays, options, out)
    op = find_operator(f"_random_{name}")
    target = out[0] if isinstance(out, list | tuple) else out
    if options["shape"] is None:
        options["shape"] = (1,) if target is None else target.shape
    if options["dtype"] is None and target is not None:
        options["dtype"] = target.dtype
    drawn: NDArray = source(op, op.schema.parse(name, {**parameters, **options}), ctx, out)
    return drawn


def _draw_for_each(
    name: str,
    parameters: Mapping[str, Any],
    arrays: list[NDArray],
    options: dict[str, Any],
    out: NDArray | None,
) -> NDArray:
    if len(arrays) < len(parameters) or any(p.shape != arrays[0].shape for p in arrays):
        raise ArgumentTypeError(
            f"{name}: expected parameters that are all numbers or all NDArrays of equal "
            f"shape, got {[getattr(p, 'shape', p) for p in parameters.values()]}"
        )
    op = find_operator(f"_sample_{name}")
    if options["shape"] is None:
        options["shape"] = ()
    if options["dtype"] is None and out is not None:
        options["dtype"] = out.dtype
    drawn: NDArray = invoke(op, arrays, op.schema.parse(name, options), out)
    return drawn


def multinomial(
    data: NDArray,
    shape: Any = None,
    get_prob: bool = False,
    out: NDArray | None = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Draw class indices from the probabilities along the last axis of ``data``.

    Args:
        data: Probabilities, (classes,) or (N, classes).
        shape: Number, or shape, of the samples to draw from each distribution.
        get_prob: Whether to return the log-likelihoods of the samples, too.
        out: Array that receives the samples.
        dtype: Element type of the samples.
        **kwargs: Further arguments of the operator.
    """
    op = find_operator("_sample_multinomial")
    kwargs.pop("name", None)  # only Symbols have names
    sizes = () if shape is None else shape
    args = {"shape": sizes, "get_prob": get_prob, "dtype": dtype, **kwargs}
    return invoke(op, (data,), op.schema.parse("multinomial", args), out)


def categorical(
    data: NDArray,
    shape: Any = None,
    get_prob: bool = False,
    out: NDArray | None = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Draw class indices; `multinomial` under the name it has in MXNet 2.0.

    Args:
        data: Probabilities, (classes,) or (N, classes).
        shape: Number, or shape, of the samples to draw from each distribution.
        get_prob: Whether to return the log-likelihoods of the samples, too.
        out: Array that receives the samples.
        dtype: Element type of the samples.
        **kwargs: Further arguments of the operator.
    """
    return multinomial(data, shape, get_prob, out, dtype, **kwargs)


def binomial(
    n: Any = 1,
    p: Any = 0.5,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> Any:
    """Draw numbers of successes in ``n`` trials.

    Args:
        n: Number of trials: a number, or an array.
        p: Probability of a success: a number, or an array of the shape of ``n``.
        shape: Shape of the samples of each pair of ``n`` and ``p``, (1,) by default for numbers.
        dtype: Element type, float32 by default.
        ctx: Device if ``n`` and ``p`` are numbers; the current one by default.
        out: Array that receives the samples.
        **kwargs: ``name`` is accepted.

    Raises:
        ArgumentTypeError: Only one of ``n`` and ``p`` is an array, or their shapes differ.
    """
    kwargs.pop("name", None)
    if isinstance(n, NDArray) or isinstance(p, NDArray):
        if not isinstance(n, NDArray) or not isinstance(p, NDArray) or n.shape != p.shape:
            raise ArgumentTypeError("binomial: expected n and p that are numbers, or equal arrays")
        size = () if shape is None else shape
        pairs = zip(n.asnumpy().ravel(), p.asnumpy().ravel(), strict=True)
        drawn = [_binomial(int(count), float(chance), size, n.context) for count, chance in pairs]
        inner = drawn[0].shape
        found = operator_function("stack")(*drawn, axis=0).reshape((*n.shape, *inner))
    else:
        found = _binomial(int(n), float(p), (1,) if shape is None else shape, ctx)
    found = found.astype(np.float32 if dtype is None else dtype)
    if out is None:
        return found
    return found.copyto(out)


def _binomial(n: int, p: float, size: Any, ctx: Context | None) -> NDArray:
    op = find_operator("_npi_multinomial")
    shape = (size,) if isinstance(size, int) else tuple(size)
    attrs = op.schema.parse("binomial", {"n": n, "size": shape, "pvals": (p, 1 - p)})
    counts: NDArray = source(op, attrs, ctx, None)
    return counts[..., 0]


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


document_arguments(
    globals(),
    __all__,
    {
        "multinomial.data": "Probabilities (..., classes).",
    },
)
