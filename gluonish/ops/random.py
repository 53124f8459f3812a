"""Random numbers: one table of distributions, and _sample_multinomial and _shuffle.

A kernel gets ``key``, the seed and the offset of its draw, and is a function of it: the same key
gives the same numbers.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import FLOAT32, FLOAT64, INT32, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import (
    Attribute,
    Schema,
    boolean,
    dtype_attr,
    integer,
    number,
    optional,
    text,
)
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.dtype_rules import named_dtype
from gluonish.ops.one_hot import ONE_HOT
from gluonish.ops.philox import normal, random_bits, uniform
from gluonish.ops.precision import in_dtype, widen
from gluonish.ops.reduction import sum_
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.reshape import reshape
from gluonish.ops.unary import EXP

__all__ = ["SAMPLE_MULTINOMIAL", "SHUFFLE"]

Key = tuple[int, int]
Draw = Callable[..., Any]  # (xp, key, shape, dtype, **parameters) -> array


def _substream(key: Key, number: int) -> Key:
    """Return a key for the next numbers of one draw; multiples of an odd constant never meet."""
    return (key[0] + number * 0x9E3779B97F4A7C15) & (2**64 - 1), key[1]


def _work(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type to compute in."""
    return FLOAT64 if dtype == FLOAT64 else FLOAT32


def _uniform(
    xp: ModuleType, key: Key, shape: Shape, dtype: np.dtype[Any], *, low: float, high: float
) -> Any:
    drawn = uniform(xp, key, shape, _work(dtype)) * (high - low) + low
    if not low < high:
        return drawn
    # Rounding, here and to a narrower dtype, would give high itself now and then.
    below = np.nextafter(in_dtype(dtype, high), in_dtype(dtype, low))
    return xp.minimum(drawn, float(below))


def _normal(
    xp: ModuleType, key: Key, shape: Shape, dtype: np.dtype[Any], *, loc: float, scale: float
) -> Any:
    return normal(xp, key, shape, _work(dtype)) * scale + loc


def _exponential(
    xp: ModuleType, key: Key, shape: Shape, dtype: np.dtype[Any], *, lam: float
) -> Any:
    return xp.log1p(-uniform(xp, key, shape, _work(dtype))) / -lam


def _gamma(
    xp: ModuleType, key: Key, shape: Shape, dtype: np.dtype[Any], *, alpha: float, beta: float
) -> Any:
    """Reject and draw again until all are there; shapes below 1 are boosted.

    References:
        G. Marsaglia, W. W. Tsang, A Simple Method for Generating Gamma Variables, 2000.
    """
    boosted = alpha + 1 if alpha < 1 else alpha
    d = boosted - 1 / 3
    c = 1 / math.sqrt(9 * d)
    size = math.prod(shape)
    out = xp.empty(size, dtype=xp.float64)
    missing = xp.arange(size)
    number = 1
    while missing.size:
        x = normal(xp, _substream(key, number), missing.shape, FLOAT64)
        u = uniform(xp, _substream(key, number + 1), missing.shape, FLOAT64)
        number += 2
        v = xp.maximum(1 + c * x, 1e-100) ** 3
        accepted = (1 + c * x > 0) & (xp.log1p(-u) < 0.5 * x * x + d - d * v + d * xp.log(v))
        out[missing[accepted]] = d * v[accepted]
        missing = missing[~accepted]
    if alpha < 1:
        out *= (1 - uniform(xp, key, (size,), FLOAT64)) ** (1 / alpha)
    return out.reshape(shape) * beta


def _randint(
    xp: ModuleType, key: Key, shape: Shape, dtype: np.dtype[Any], *, low: int, high: int
) -> Any:
    words = random_bits(xp, key, 2 * math.prod(shape)).astype(np.uint64)
    long = (words[0::2] << np.uint64(32)) | words[1::2]
    # Of 64 bits the bias of the remainder is below any test's sight.
    return (long % np.uint64(high - low)).astype(np.int64).reshape(shape) + low


def _check_positive(name: str, parameters: Attrs) -> None:
    for word in ("lam", "alpha", "beta"):
        if parameters.get(word, 1.0) <= 0:
            raise OperatorError(f"{name}: expected {word} above 0, got {parameters[word]}")
    if name == "_random_randint" and parameters["low"] >= parameters["high"]:
        raise OperatorError(
            f"{name}: expected low below high, got {parameters['low']} and {parameters['high']}"
        )


def _sampler(
    name: str,
    draw: Draw,
    doc: str,
    default: np.dtype[Any],
    parameters: dict[str, Attribute],
    *aliases: str,
) -> Operator:
    """Register a distribution with parameters that are numbers."""

    def infer(
        *, shape: Shape | None, ctx: str, dtype: np.dtype[Any] | None, **given: Any
    ) -> tuple[Spec]:
        _check_positive(name, given)
        return (Spec((1,) if shape is None else shape, dtype or default),)

    def kernel(
        xp: ModuleType,
        out: Any,
        *,
        key: Key,
        shape: Shape | None,
        ctx: str,
        dtype: np.dtype[Any] | None,
        **given: Any,
    ) -> None:
        out[...] = draw(xp, key, out.shape, out.dtype, **given).astype(out.dtype)

    return register(
        Operator(
            name,
            infer,
            kernel,
            None,
            doc=doc,
            inputs=(),
            schema=Schema(
                **parameters,
                shape=optional(shape_attr()),
                ctx=text(""),
                dtype=optional(dtype_attr()),
            ),
            aliases=aliases,
            random=True,
        )
    )


def _sampler_like(name: str, draw: Draw, doc: str, parameters: dict[str, Attribute]) -> Operator:
    """Register a distribution whose samples have the shape and dtype of an array."""

    def infer(data: Spec, **given: Any) -> tuple[Spec]:
        _check_positive(name, given)
        if not is_floating(data.dtype):
            raise OperatorError(f"{name}: expected floating-point data, got {data.dtype.name}")
        return (data,)

    def kernel(xp: ModuleType, out: Any, data: Any, *, key: Key, **given: Any) -> None:
        out[...] = draw(xp, key, out.shape, out.dtype, **given).astype(out.dtype)

    return register(
        Operator(name, infer, kernel, None, doc=doc, schema=Schema(**parameters), random=True)
    )


def _family(
    word: str, draw: Draw, doc: str, parameters: dict[str, Attribute], *aliases: str
) -> None:
    name = f"_random_{word}"
    _sampler(name, draw, f"{doc}.", FLOAT32, parameters, f"random_{word}", *aliases)
    _sampler_like(f"{name}_like", draw, f"{doc}, with the shape and dtype of data.", parameters)


_family(
    "uniform",
    _uniform,
    "Numbers uniform on [low, high)",
    {"low": number(0.0), "high": number(1.0)},
    "uniform",
)
_family(
    "normal",
    _normal,
    "Numbers of the normal distribution with mean loc and standard deviation scale",
    {"loc": number(0.0), "scale": number(1.0)},
    "normal",
)
_family(
    "gamma",
    _gamma,
    "Numbers of the gamma distribution with shape alpha and scale beta",
    {"alpha": number(1.0), "beta": number(1.0)},
)
_family(
    "exponential",
    _exponential,
    "Numbers of the exponential distribution with rate lam",
    {"lam": number(1.0)},
)
_sampler(
    "_random_randint",
    _randint,
    "Whole numbers uniform on [low, high).",
    INT32,
    {"low": integer(), "high": integer()},
    "random_randint",
    "_npi_random_randint",
)


def _multinomial_infer(
    data: Spec, *, shape: Shape, get_prob: bool, dtype: np.dtype[Any]
) -> tuple[Spec, ...]:
    if not data.shape or data.shape[-1] == 0 or not is_floating(data.dtype):
        raise OperatorError(
            f"sample_multinomial: expected probabilities along the last axis, got {data}"
        )
    result = (*data.shape[:-1], *shape) or (1,)
    samples = Spec(result, dtype)
    return (samples, Spec(result, data.dtype)) if get_prob else (samples,)


def _multinomial_kernel(
    xp: ModuleType,
    out: Any,
    data: Any,
    *,
    key: Key,
    shape: Shape,
    get_prob: bool,
    dtype: np.dtype[Any],
) -> None:
    rows = widen(data).reshape(-1, data.shape[-1]).astype(xp.float64)
    count = math.prod(shape)
    samples = xp.empty((len(rows), count), dtype=xp.int64)
    draws = uniform(xp, key, (len(rows), count), FLOAT64)
    for row, draw, found in zip(xp.cumsum(rows, axis=1), draws, samples, strict=True):
        found[...] = xp.searchsorted(row, draw * row[-1], side="right")
    xp.minimum(samples, rows.shape[1] - 1, out=samples)
    out[0][...] = samples.reshape(out[0].shape).astype(dtype)
    if get_prob:
        chosen = xp.take_along_axis(rows, samples, axis=1)
        out[1][...] = xp.log(chosen).reshape(out[1].shape).astype(data.dtype)


def _multinomial_gradient(
    g: Any,
    data: V,
    samples: V,
    log_probability: Any = None,
    *,
    shape: Shape,
    get_prob: bool,
    **attrs: Any,
) -> tuple[Any]:
    if not get_prob or g[1] is None:
        return (None,)
    classes = data.shape[-1]
    rows = math.prod(data.shape[:-1])
    each = (rows, math.prod(shape))
    # d log p / d p = 1 / p, at the class that was drawn.
    weight = reshape(g[1] * EXP(-log_probability), (*each, 1))
    dtype = np.dtype(log_probability.dtype)
    hot_attrs = {"depth": classes, "on_value": 1.0, "off_value": 0.0, "dtype": dtype}
    hot = apply(ONE_HOT, (reshape(samples, each),), hot_attrs)
    return (reshape(sum_(hot * weight, axis=(1,)), data.shape),)


def _multinomial_outputs(attrs: Attrs) -> int:
    return 2 if attrs["get_prob"] else 1


SAMPLE_MULTINOMIAL = register(
    Operator(
        "_sample_multinomial",
        _multinomial_infer,
        _multinomial_kernel,
        _multinomial_gradient,
        doc=(
            "Classes drawn with the probabilities along the last axis, shape many for each\n"
            "row.\n\n"
            "With get_prob also the logarithm of the probability of each, which has a\n"
            "gradient."
        ),
        schema=Schema(shape=shape_attr(()), get_prob=boolean(False), dtype=dtype_attr(INT32)),
        aliases=("sample_multinomial",),
        outputs=_multinomial_outputs,
        gradient_uses_output=True,
        random=True,
        heavy=True,
        complete=named_dtype,
    )
)


def _shuffle_infer(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("shuffle: expected data of at least 1 axis, got ()")
    return (data,)


def _shuffle_kernel(xp: ModuleType, out: Any, data: Any, *, key: Key) -> None:
    order = xp.argsort(random_bits(xp, key, data.shape[0]), kind="stable")
    out[...] = data[order]


SHUFFLE = register(
    Operator(
        "_shuffle",
        _shuffle_infer,
        _shuffle_kernel,
        None,
        doc="The slices along axis 0 in random order.",
        aliases=("shuffle", "_npi_shuffle"),
        random=True,
    )
)
