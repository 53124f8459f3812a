"""Arrays of random numbers, and the seed they start from."""

from typing import Any

from gluonish.core import random_state
from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray.eager import invoke, source
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.registry import find_operator

__all__ = [
    "exponential",
    "multinomial",
    "normal",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
]


def seed(seed_state: int, ctx: str | Context = "all") -> None:
    """Restart random numbers.

    Args:
        seed_state: Any int.
        ctx: A device, or ``"all"``.

    Raises:
        ArgumentTypeError: if the seed is not an int.
    """
    if not isinstance(seed_state, int):
        raise ArgumentTypeError(f"seed: expected an int, got {seed_state!r}")
    if isinstance(ctx, str):
        if ctx != "all":
            raise ArgumentError(f"seed: expected ctx 'all' or a Context, got {ctx!r}")
        random_state.seed(seed_state)
    else:
        random_state.seed(seed_state, ctx)


def _draw(
    name: str,
    given: dict[str, Any],
    shape: Any,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
) -> NDArray:
    op = find_operator(name)
    if shape is None:
        shape = (1,) if out is None else out.shape
    given["shape"] = shape
    if dtype is not None:
        given["dtype"] = dtype
    elif out is not None:
        given["dtype"] = out.dtype
    result: NDArray = source(op, op.schema.parse(name, given), ctx, out)
    return result


def uniform(
    low: float = 0,
    high: float = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers spread evenly over [low, high)."""
    return _draw("_random_uniform", {"low": low, "high": high}, shape, dtype, ctx, out)


def normal(
    loc: float = 0,
    scale: float = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers of a normal distribution with mean ``loc`` and standard deviation ``scale``."""
    return _draw("_random_normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Return numbers of a normal distribution, by default the standard one, in the given shape."""
    return normal(
        kwargs.get("loc", 0),
        kwargs.get("scale", 1),
        shape or None,
        kwargs.get("dtype"),
        kwargs.get("ctx"),
        kwargs.get("out"),
    )


def exponential(
    scale: float = 1,
    shape: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers of an exponential distribution with mean ``scale``."""
    return _draw("_random_exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out)


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
    return _draw("_random_randint", {"low": low, "high": high}, shape, dtype, ctx, out)


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
    given = {"shape": () if shape is None else shape, "get_prob": get_prob, "dtype": dtype}
    return invoke(op, (data,), op.schema.parse("multinomial", given), out)


def shuffle(data: NDArray, **kwargs: Any) -> NDArray:
    """Return the array with its first axis in random order."""
    result: NDArray = invoke(find_operator("_shuffle"), (data,), {}, kwargs.get("out"))
    return result
