"""Samplers of distributions with numbers as parameters: one table.

A kernel is a function of ``key``, the seed and the offset of its draw: the same key gives the same
numbers. Kernels check the parameters, so that errors are raised when the caller waits for the
result, as for parameters that are arrays.
"""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, is_floating
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, dtype_attr, integer, number, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts, zero_gradient
from gluonish.ops.registry import Attrs, Operator, register
from gluonish.ops.support import variates
from gluonish.ops.support.philox import normal, random_bits, uniform
from gluonish.ops.support.precision import in_dtype
from gluonish.ops.support.shape_rules import open_extents, same_shape
from gluonish.ops.support.variates import fill

Key = tuple[int, int]
Limit = tuple[str, Callable[[float], bool]]  # description of the allowed values, and predicate
Draw = Callable[..., Any]  # (xp, out, key, **parameters) fills out

# Distance from 1 to the next number below.
_BELOW_ONE = {FLOAT16: 2.0**-11, BFLOAT16: 2.0**-8, FLOAT32: 2.0**-24, FLOAT64: 2.0**-53}

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1

_ABOVE: Limit = ("above 0", lambda value: value > 0)
_NOT_BELOW: Limit = ("of at least 0", lambda value: value >= 0)

# Limits by operator name without _random_.
LIMITS: Mapping[str, Mapping[str, Limit]] = {
    "normal": {"scale": _ABOVE},
    "gamma": {"alpha": _ABOVE, "beta": _ABOVE},
    "exponential": {"lam": _ABOVE},
    "poisson": {"lam": _NOT_BELOW},
    "negative_binomial": {"k": _NOT_BELOW, "p": _ABOVE},
    "generalized_negative_binomial": {"mu": _NOT_BELOW, "alpha": _NOT_BELOW},
}

# Required order of low and high.
_ORDERS: Mapping[str, tuple[str, Callable[[float, float], bool]]] = {
    "uniform": ("up to", operator.le),
    "randint": ("below", operator.lt),
}


def check_parameters(name: str, distribution: str, parameters: Attrs) -> None:
    """Raise OperatorError for parameters of a distribution out of range; for kernels."""
    check_limits(name, LIMITS.get(distribution, {}), parameters)
    if distribution in _ORDERS:
        relation, ordered = _ORDERS[distribution]
        low, high = parameters["low"], parameters["high"]
        if not ordered(low, high):
            raise OperatorError(f"{name}: expected low {relation} high, got {low} and {high}")


def check_limits(name: str, limits: Mapping[str, Limit], parameters: Attrs) -> None:
    """Raise OperatorError for parameters out of ``limits``."""
    for parameter, (range_, allowed) in limits.items():
        value = parameters.get(parameter)
        if value is not None and not allowed(value):
            raise OperatorError(f"{name}: expected {parameter} {range_}, got {value}")


def check_extents(name: str, shape: Shape) -> Shape:
    """Return the requested shape.

    Raises:
        OperatorError: An extent is negative, or the array is too large.
    """
    return checked_spec(name, shape, FLOAT32).shape


def work_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to compute in."""
    return FLOAT64 if dtype == FLOAT64 else FLOAT32


def _uniform(xp: ModuleType, out: Any, key: Key, *, low: float, high: float) -> None:
    drawn = uniform(xp, key, out.shape, work_dtype(out.dtype)) * (high - low) + low
    if low < high:
        # Rounding, here and to a narrower dtype, could give high itself.
        below = np.nextafter(in_dtype(out.dtype, high), in_dtype(out.dtype, low))
        drawn = xp.minimum(drawn, float(below))
    out[...] = drawn.astype(out.dtype)


def fill_uniform(xp: ModuleType, out: Any, key: Key, low: Any, high: Any) -> None:
    """Fill ``out`` uniformly on [low, high); bounds are numbers, or arrays that broadcast to it."""
    work = work_dtype(out.dtype)
    low, high = xp.asarray(low).astype(work), xp.asarray(high).astype(work)
    drawn = uniform(xp, key, out.shape, work) * (high - low) + low
    # As above: half a unit in the last place below high still rounds down.
    spacing = xp.abs(high) * _BELOW_ONE[out.dtype]
    below = xp.where(low < high, xp.maximum(high - spacing, low), high)
    out[...] = xp.where(low < high, xp.minimum(drawn, below), drawn).astype(out.dtype)


def _normal(xp: ModuleType, out: Any, key: Key, *, loc: float, scale: float) -> None:
    drawn = normal(xp, key, out.shape, work_dtype(out.dtype)) * scale + loc
    out[...] = drawn.astype(out.dtype)


def _exponential(xp: ModuleType, out: Any, key: Key, *, lam: float) -> None:
    drawn = xp.log1p(-uniform(xp, key, out.shape, work_dtype(out.dtype))) / -lam
    out[...] = drawn.astype(out.dtype)


def _randint(xp: ModuleType, out: Any, key: Key, *, low: int, high: int) -> None:
    bits = random_bits(xp, key, 2 * math.prod(out.shape))
    long = bits[0::2].astype(np.uint64)
    long <<= np.uint64(32)
    long |= bits[1::2]
    # With 64 bits the bias of the remainder is undetectable. Computing it from the quotient takes
    # NumPy a third of the time.
    quotients = long // np.uint64(high - low)
    quotients *= np.uint64(high - low)
    long -= quotients
    long += np.uint64(low & (2**64 - 1))
    out[...] = long.reshape(out.shape).astype(out.dtype)


def _each(draw: variates.Draw) -> Draw:
    """Return a function that fills an array element by element with a sampler."""

    def filled(xp: ModuleType, out: Any, key: Key, **parameters: float) -> None:
        fill(xp, out, draw, key, tuple(parameters.values()))

    return filled


@dataclass(frozen=True, slots=True)
class _Distribution:
    """A distribution with numbers as parameters, and its operators.

    Args:
        name: Name of the operator without inputs.
        doc: Public documentation.
        draw: Fills an array.
        parameters: Attributes of the operators.
        default: Default dtype.
        dtypes: Predicate of the supported dtypes.
        heavy: Whether a sample takes many operations.
    """

    name: str
    doc: str
    draw: Draw
    parameters: dict[str, Attribute] = field(hash=False)
    default: np.dtype[Any] = FLOAT32
    dtypes: Callable[[np.dtype[Any]], bool] = is_floating
    heavy: bool = False

    @property
    def distribution(self) -> str:
        """The operator name without ``_random_``."""
        return self.name.removeprefix("_random_")

    def check(self, name: str, dtype: np.dtype[Any], parameters: Attrs) -> None:
        """Raise OperatorError for an unsupported dtype, or integers out of range."""
        if not self.dtypes(dtype):
            kind = "floating" if self.dtypes is is_floating else "int32 or int64"
            raise OperatorError(f"{name}: expected a {kind} dtype, got {dtype.name}")
        if self.distribution == "randint" and not all(
            _INT64_MIN <= parameters[bound] <= _INT64_MAX for bound in ("low", "high")
        ):
            raise OperatorError(
                f"{name}: expected low and high in the range of int64, got {parameters['low']} and "
                f"{parameters['high']}"
            )

    def _opens(self, attrs: Attrs) -> PartialSpec | None:
        shape, dtype = attrs["shape"], attrs["dtype"] or self.default
        if shape is None:
            return PartialSpec(None, dtype)
        return None if all(n > 0 for n in shape) else PartialSpec(open_extents(shape), dtype)

    def register(self, *aliases: str) -> None:
        """Register the operator without inputs."""
        name = self.name

        def infer(
            *, shape: Shape | None, ctx: str, dtype: np.dtype[Any] | None, **parameters: Any
        ) -> tuple[Spec]:
            self.check(name, dtype or self.default, parameters)
            extents = (1,) if shape is None else check_extents(name, shape)
            return (Spec(extents, dtype or self.default),)

        def kernel(
            xp: ModuleType,
            out: Any,
            *,
            key: Key,
            shape: Shape | None,
            ctx: str,
            dtype: np.dtype[Any] | None,
            **parameters: Any,
        ) -> None:
            check_parameters(name, self.distribution, parameters)
            self.draw(xp, out, key, **parameters)

        schema = Schema(
            **self.parameters,
            shape=optional(shape_attr()),
            ctx=text(""),
            dtype=optional(dtype_attr()),
        )
        register(
            Operator(
                name,
                infer,
                kernel,
                None,
                doc=(
                    f"{self.doc}.\n\nShapes: output shape; without it an array is (1,), and a "
                    "Symbol has the shape\nthat its consumers require."
                ),
                inputs=(),
                schema=schema,
                aliases=(f"random_{self.distribution}", *aliases),
                shapes=ShapeFacts(opens=self._opens),
                execution=Execution(random=True, heavy=self.heavy),
            )
        )

    def register_like(self, name: str) -> None:
        """Register the operator that draws in the shape and dtype of an array."""

        def infer(data: Spec, **parameters: Any) -> tuple[Spec]:
            self.check(name, data.dtype, parameters)
            return (data,)

        def kernel(xp: ModuleType, out: Any, data: Any, *, key: Key, **parameters: Any) -> None:
            check_parameters(name, self.distribution, parameters)
            self.draw(xp, out, key, **parameters)

        register(
            Operator(
                name,
                infer,
                kernel,
                zero_gradient,
                doc=f"{self.doc}, in the dtype of data.\n\nShapes: data any, output the same.",
                schema=Schema(**self.parameters),
                shapes=ShapeFacts(rule=same_shape()),
                execution=Execution(random=True, heavy=self.heavy),
            )
        )


_RANDINT = _Distribution(
    "_random_randint",
    "Draw integers uniformly from [low, high)",
    _randint,
    {"low": integer(), "high": integer()},
    INT32,
    lambda dtype: dtype in (INT32, INT64),
)
_RANDINT.register("_npi_random_randint")

_FLOATING = (
    _Distribution(
        "_random_uniform",
        "Draw from the uniform distribution on [low, high)",
        _uniform,
        {"low": number(0.0), "high": number(1.0)},
    ),
    _Distribution(
        "_random_normal",
        "Draw from the normal distribution with mean loc and standard deviation scale",
        _normal,
        {"loc": number(0.0), "scale": number(1.0)},
    ),
    _Distribution(
        "_random_gamma",
        "Draw from the gamma distribution with shape alpha and scale beta",
        _each(variates.gamma),
        {"alpha": number(1.0), "beta": number(1.0)},
        heavy=True,
    ),
    _Distribution(
        "_random_exponential",
        "Draw from the exponential distribution with rate lam",
        _exponential,
        {"lam": number(1.0)},
    ),
    _Distribution(
        "_random_poisson",
        "Draw integers from the Poisson distribution with mean lam",
        _each(variates.poisson),
        {"lam": number(1.0)},
        heavy=True,
    ),
    _Distribution(
        "_random_negative_binomial",
        "Draw numbers of failures before the k-th success, where each trial has probability p",
        _each(variates.negative_binomial),
        {"k": integer(1), "p": number(1.0)},
        heavy=True,
    ),
    _Distribution(
        "_random_generalized_negative_binomial",
        "Draw integers from the negative binomial distribution with mean mu and dispersion alpha",
        _each(variates.generalized_negative_binomial),
        {"mu": number(1.0), "alpha": number(1.0)},
        heavy=True,
    ),
)
_LIKE = (
    "_random_uniform_like",
    "_random_normal_like",
    "_random_gamma_like",
    "_random_exponential_like",
    "_random_poisson_like",
    "_random_negative_binomial_like",
    "_random_generalized_negative_binomial_like",
)
for _distribution, _like in zip(_FLOATING, _LIKE, strict=True):
    _name = _distribution.distribution
    _distribution.register(*([_name] if _name in ("uniform", "normal") else []))
    _distribution.register_like(_like)
