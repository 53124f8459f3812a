"""Arrays of random numbers, and the seed they start from.

Every function also takes ``name``, which only graphs have a use for, and refuses other keywords.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gluonish.core import random_state
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.namespace import operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import find_operator

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
    "seed",
    "shuffle",
    "uniform",
    "uniform_like",
]

Parameter = float | NDArray


def seed(seed_state: int, ctx: str | Context = "all") -> None:
    """Restart random numbers.

    Args:
        seed_state: Any int.
        ctx: A device, or ``"all"``.

    Raises:
        ArgumentTypeError: if the seed is not an int.
        ArgumentError: for another word than ``"all"``.
    """
    if not isinstance(seed_state, int | np.integer):
        raise ArgumentTypeError(f"seed: expected an int, got {seed_state!r}")
    if ctx == "all":
        random_state.seed(int(seed_state))
    elif isinstance(ctx, Context):
        random_state.seed(int(seed_state), ctx)
    else:
        raise ArgumentError(f"seed: expected ctx 'all' or a Context, got {ctx!r}")


def _draw(
    name: str,
    given: dict[str, Any],
    shape: Any,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
) -> NDArray:
    op = find_operator(f"_random_{name}")
    given.pop("name", None)  # for graphs; an array has none
    if shape is None:
        shape = (1,) if out is None else out.shape
    if dtype is None and out is not None:
        dtype = out.dtype
    attrs = op.schema.parse(name, {**given, "shape": shape, "dtype": dtype})
    drawn: NDArray = source(op, attrs, ctx, out)
    return drawn


def _draw_for_each(
    draw: Callable[..., NDArray],
    parameters: tuple[Parameter, ...],
    shape: Any,
    dtype: Any,
    kwargs: dict[str, Any],
) -> tuple[NDArray, list[NDArray]] | None:
    """Return standard numbers for arrays of parameters, and the arrays shaped to go with them.

    None if the parameters are numbers.
    """
    arrays = [p for p in parameters if isinstance(p, NDArray)]
    if not arrays:
        return None
    if len(arrays) < len(parameters) or any(p.shape != arrays[0].shape for p in arrays):
        raise ArgumentTypeError(
            f"{draw.__name__}: expected parameters that are all numbers or all NDArrays of one "
            f"shape, got {[getattr(p, 'shape', p) for p in parameters]}"
        )
    each = () if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    first = arrays[0]
    standard = draw(
        shape=first.shape + each, dtype=dtype or first.dtype, ctx=first.context, **kwargs
    )
    return standard, [p.reshape(p.shape + (1,) * len(each)) for p in arrays]


def uniform(
    low: Parameter = 0,
    high: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers spread evenly over [low, high).

    For arrays, ``shape`` many for each element.
    """
    found = _draw_for_each(uniform, (low, high), shape, dtype, kwargs)
    if found is None:
        return _draw("uniform", {"low": low, "high": high, **kwargs}, shape, dtype, ctx, out)
    standard, (lows, highs) = found
    return _into(lows + (highs - lows) * standard, out)


def normal(
    loc: Parameter = 0,
    scale: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return normal numbers with mean ``loc`` and standard deviation ``scale``.

    For arrays, ``shape`` many for each element.
    """
    found = _draw_for_each(normal, (loc, scale), shape, dtype, kwargs)
    if found is None:
        return _draw("normal", {"loc": loc, "scale": scale, **kwargs}, shape, dtype, ctx, out)
    standard, (locs, scales) = found
    return _into(locs + scales * standard, out)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Return normal numbers in the given shape; ``loc`` and ``scale`` as for `normal`."""
    return normal(shape=shape or None, **kwargs)


def exponential(
    scale: Parameter = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return exponential numbers with mean ``scale``; for an array, ``shape`` many for each."""
    found = _draw_for_each(exponential, (scale,), shape, dtype, kwargs)
    if found is None:
        return _draw("exponential", {"lam": 1.0 / scale, **kwargs}, shape, dtype, ctx, out)
    standard, (scales,) = found
    return _into(scales * standard, out)


def gamma(
    alpha: float = 1,
    beta: float = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers of a gamma distribution with shape ``alpha`` and scale ``beta``."""
    return _draw("gamma", {"alpha": alpha, "beta": beta, **kwargs}, shape, dtype, ctx, out)


def randint(
    low: int,
    high: int,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return whole numbers spread evenly over [low, high), int32 unless told otherwise."""
    return _draw("randint", {"low": low, "high": high, **kwargs}, shape, dtype, ctx, out)


def multinomial(
    data: NDArray,
    shape: Any = None,
    get_prob: bool = False,
    out: NDArray | None = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Return indices drawn with the probabilities in the last axis of ``data``."""
    op = find_operator("_sample_multinomial")
    kwargs.pop("name", None)  # for graphs; an array has none
    sizes = () if shape is None else shape
    given = {"shape": sizes, "get_prob": get_prob, "dtype": dtype, **kwargs}
    return invoke(op, (data,), op.schema.parse("multinomial", given), out)


def shuffle(data: NDArray, **kwargs: Any) -> NDArray:
    """Return the array with its first axis in random order, in ``out`` where that is given."""
    shuffled: NDArray = operator_function("_shuffle")(data, **kwargs)
    return shuffled


def _into(values: NDArray, out: NDArray | None) -> NDArray:
    return values if out is None else values.copyto(out)


exponential_like = operator_function("_random_exponential_like")
gamma_like = operator_function("_random_gamma_like")
normal_like = operator_function("_random_normal_like")
uniform_like = operator_function("_random_uniform_like")
