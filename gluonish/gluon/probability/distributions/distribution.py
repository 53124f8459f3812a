"""Distribution: the base class of probability distributions."""

from collections.abc import Mapping
from typing import Any, Self

import gluonish.numpy as np
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.probability.distributions.constraint import Constraint, is_dependent
from gluonish.gluon.probability.distributions.parameters import (
    as_array,
    as_parameter,
    is_number,
    widest,
)
from gluonish.numpy.calls import is_value
from gluonish.numpy.creation import extents
from gluonish.ops.support.broadcasting import broadcast_shapes

__all__ = ["Distribution"]

Shape = tuple[int, ...]


class Distribution:
    """Base class of probability distributions, of a batch of independent random variables.

    Parameters are numbers, or arrays that broadcast to the *batch shape*. A sample has the shape
    ``size + batch shape + event shape``, where the event shape is () for distributions of numbers,
    and that of the last ``event_dim`` axes for distributions of vectors and matrices.

    A subclass sets its parameters as attributes, then calls this constructor, and overrides the
    methods that it supports.

    Args:
        event_dim: Number of axes of one random variable: 0 for numbers, 1 for vectors.
        validate_args: Whether to check parameters and values; None for the default, see
            `set_default_validate_args`.

    Attributes:
        has_grad: Whether samples are differentiable functions of the parameters.
        has_enumerate_support: Whether `enumerate_support` lists all values.

    Raises:
        ArgumentError: ``validate_args`` is set, and a parameter violates its constraint.
        OperatorError: The parameters do not broadcast.
    """

    has_grad: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = False
    # Axes of a parameter that belong to the event, by name.
    _event_axes: Mapping[str, int] = {}

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether new distributions check parameters and values.

        Args:
            value: True or False; False at first.

        Raises:
            ArgumentError: ``value`` is neither.
        """
        if value not in (True, False):
            raise ArgumentError(
                f"set_default_validate_args: expected value to be True or False, got {value!r}"
            )
        Distribution._validate_args = bool(value)

    def __init__(self, event_dim: int | None = None, validate_args: bool | None = None) -> None:
        self.event_dim = event_dim
        if validate_args is not None:
            self._validate_args = validate_args
        given = self._given()
        dtype = widest(tuple(given.values()))
        for name, value in given.items():
            if not is_number(value) and value.dtype != dtype:
                given[name] = vars(self)[name] = value.astype(dtype)
        self._batch_shape = self._broadcast(given)
        if self._validate_args:
            for name, value in given.items():
                limit = self.arg_constraints[name]
                if not is_dependent(limit):
                    checked = limit._require(value, type(self).__name__, name)
                    vars(self)[name] = checked

    def _set(self, **values: Any) -> None:
        """Set parameters as attributes: numbers as they are, other values as floating arrays."""
        what = type(self).__name__
        for name, value in values.items():
            vars(self)[name] = as_parameter(what, name, value)

    def _set_arrays(self, **values: Any) -> None:
        """Set parameters that have event axes, and so are no numbers.

        Raises:
            ArgumentTypeError: A parameter is a number.
        """
        self._set(**values)
        for name in values:
            if is_number(vars(self)[name]):
                raise ArgumentTypeError(
                    f"{type(self).__name__}: expected {name} to be an array, got "
                    f"{vars(self)[name]!r}"
                )

    def _set_one(self, **values: Any) -> None:
        """Set the only parameter of several that is not None.

        Raises:
            ArgumentError: None or several are passed.
        """
        passed = {name: value for name, value in values.items() if value is not None}
        if len(passed) != 1:
            raise ArgumentError(
                f"{type(self).__name__}: expected exactly one of {', '.join(values)}, got "
                f"{' and '.join(passed) or 'none'}"
            )
        self._set(**passed)

    def _given(self) -> dict[str, Any]:
        """Return the parameters that were passed to the constructor, by name."""
        try:
            names = self.arg_constraints
        except NotImplementedError:
            return {}
        own = vars(self)
        return {
            name: own[name]
            for name in names
            if name in own and (is_number(own[name]) or is_value(own[name]))
        }

    @staticmethod
    def _unit(*parameters: Any) -> Any:
        """Return 1 in the broadcast shape of parameters: a number if all are numbers."""
        one: Any = 1.0
        for value in parameters:
            if not is_number(value):
                one = one * np.ones_like(value)
        return one

    def _broadcast(self, given: Mapping[str, Any]) -> Shape:
        shape: Shape = ()
        for name, value in given.items():
            if not is_number(value):
                axes = self._event_axes.get(name, 0)
                if value.ndim < axes:
                    raise ArgumentError(
                        f"{type(self).__name__}: expected {name} of at least {axes} axes, got "
                        f"shape {value.shape}"
                    )
                batch = value.shape[: value.ndim - axes]
                shape = broadcast_shapes(type(self).__name__, shape, batch)
        return shape

    @property
    def _like(self) -> Any:
        """A parameter that is an array, whose device samples are on; None if all are numbers."""
        return next((x for x in self._given().values() if not is_number(x)), None)

    @property
    def _ctx(self) -> Any:
        like = self._like
        return None if like is None or like.is_traced else like.ctx

    @property
    def _dtype(self) -> Any:
        """Element type of samples."""
        return widest(tuple(self._given().values()))

    @property
    def arg_constraints(self) -> Mapping[str, Constraint]:
        """The constraint of each parameter, by name."""
        raise self._missing("arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        raise self._missing("support")

    def _missing(self, name: str) -> NotSupportedError:
        return NotSupportedError(
            f"{type(self).__name__}: expected a distribution with {name}, got one without"
        )

    def _value(self, value: Any) -> Any:
        """Return a value to evaluate as an array, after its check if arguments are validated."""
        array = as_array(value, self._dtype, self._like)
        if self._validate_args:
            self._validate_samples(array)
        return array

    def _validate_samples(self, value: Any) -> Any:
        """Return a value that lies in the support.

        Raises:
            ArgumentError: It does not.
        """
        return self.support._require(value, type(self).__name__, "value")

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density, or of the probability of a discrete value.

        Args:
            value: Number, or array whose shape broadcasts with batch shape and event shape.

        Returns:
            Array of the broadcast shape, without the event axes.
        """
        return self._log_density(self._value(value))

    def pdf(self, value: Any) -> Any:
        """Return the density, or the probability of a discrete value.

        Args:
            value: As for `log_prob`.
        """
        return np.exp(self.log_prob(value))

    def cdf(self, value: Any) -> Any:
        """Return the probability of a sample that is not above a value.

        Args:
            value: As for `log_prob`.
        """
        return self._cumulative(self._value(value))

    def icdf(self, value: Any) -> Any:
        """Return the quantile: the number of which `cdf` is ``value``.

        Args:
            value: Probability, a number or array.
        """
        return self._quantile(as_array(value, self._dtype, self._like))

    def sample(self, size: Any = None) -> Any:
        """Draw samples.

        Args:
            size: Shape of the samples without the event axes, which the batch shape must broadcast
                to; None for the batch shape.
        """
        return self._draw(self._sample_shape(size))

    def sample_n(self, size: Any = None) -> Any:
        """Draw samples of the whole batch.

        Args:
            size: Shape in front of the batch shape; None for ().
        """
        if size is None:
            return self.sample()
        return self.sample((*extents(size, f"{type(self).__name__}.sample_n"), *self._batch_shape))

    def _sample_shape(self, size: Any) -> Shape:
        if size is None:
            return self._batch_shape
        what = f"{type(self).__name__}.sample"
        shape = extents(size, what)
        try:
            fits = broadcast_shapes(what, self._batch_shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ArgumentError(
                f"{what}: expected a size that the batch shape {self._batch_shape} broadcasts to, "
                f"got {size}"
            )
        return shape

    def broadcast_to(self, batch_shape: Any) -> Self:
        """Return the distribution with parameters broadcast to a batch shape.

        Args:
            batch_shape: The new batch shape.
        """
        shape = extents(batch_shape, f"{type(self).__name__}.broadcast_to")
        given = {}
        for name, value in self._given().items():
            axes = self._event_axes.get(name, 0)
            array = as_array(value, self._dtype, self._like)
            given[name] = np.broadcast_to(array, shape + array.shape[array.ndim - axes :])
        return self._with(given)

    def _with(self, given: dict[str, Any]) -> Self:
        """Return a distribution of this class with other parameters."""
        return type(self)(**given, validate_args=False)

    def enumerate_support(self) -> Any:
        """Return all values of a discrete distribution, along a new first axis."""
        raise self._missing("enumerate_support")

    @property
    def mean(self) -> Any:
        """The mean: batch shape, event shape."""
        return self._over_batch(self._mean())

    @property
    def variance(self) -> Any:
        """The variance of each element: batch shape, event shape."""
        return self._over_batch(self._variance())

    @property
    def stddev(self) -> Any:
        """The standard deviation of each element: batch shape, event shape."""
        return np.sqrt(self.variance)

    def entropy(self) -> Any:
        """Return the entropy in nats: batch shape."""
        found = self._entropy()
        if is_number(found) or found.shape == self._batch_shape:
            return found
        return np.broadcast_to(found, self._batch_shape)

    def perplexity(self) -> Any:
        """Return exp of the entropy: batch shape."""
        return np.exp(self.entropy())

    def _over_batch(self, moment: Any) -> Any:
        if is_number(moment):
            if not self._batch_shape:
                return moment
            shape: Shape = ()
            moment = as_array(moment, self._dtype, self._like)
        else:
            shape = moment.shape[moment.ndim - (self.event_dim or 0) :]
        whole = self._batch_shape + shape
        return moment if moment.shape == whole else np.broadcast_to(moment, whole)

    def _log_density(self, value: Any) -> Any:
        raise self._missing("log_prob")

    def _cumulative(self, value: Any) -> Any:
        raise self._missing("cdf")

    def _quantile(self, value: Any) -> Any:
        raise self._missing("icdf")

    def _draw(self, shape: Shape) -> Any:
        raise self._missing("sample")

    def _mean(self) -> Any:
        raise self._missing("mean")

    def _variance(self) -> Any:
        raise self._missing("variance")

    def _entropy(self) -> Any:
        raise self._missing("entropy")

    def __repr__(self) -> str:
        parts = []
        for name, value in self._given().items():
            shown = value if is_number(value) else f"{tuple(value.shape)}"
            parts.append(f"{name}={shown}")
        return f"{type(self).__name__}({', '.join(parts)})"


def check_number(what: str, name: str, value: Any, least: int) -> int:
    """Return an int argument of a distribution.

    Raises:
        ArgumentError: It is below ``least``.
        ArgumentTypeError: It is not an int.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"{what}: expected {name} to be an int, got {type(value).__name__}")
    if value < least:
        raise ArgumentError(f"{what}: expected {name} of at least {least}, got {value}")
    return value
