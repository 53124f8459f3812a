"""domain_map: registries of transformations from all real numbers to the set of a constraint."""

from collections.abc import Callable
from typing import Any

from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import counted, object_repr
from gluonish.gluon.probability.distributions.constraint import (
    Constraint,
    GreaterThan,
    GreaterThanEq,
    HalfOpenInterval,
    Interval,
    LessThan,
    LessThanEq,
    OpenInterval,
    Positive,
    Real,
    Simplex,
)
from gluonish.gluon.probability.distributions.parameters import is_number
from gluonish.gluon.probability.transformation.transformation import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    SoftmaxTransform,
    Transformation,
)

__all__ = ["biject_to", "domain_map", "transform_to"]

Factory = Callable[[Any], Transformation]


class domain_map:  # MXNet's name
    """A registry of functions that return the transformation to the set of a constraint.

    A call returns the transformation of a constraint, of which the class or a base is registered.

    Example:
        >>> from gluonish.gluon import probability as mgp
        >>> from gluonish.gluon.probability.distributions import constraint
        >>> mgp.biject_to(constraint.Interval(2, 4))(0.0)
        3.0
    """

    def __init__(self) -> None:
        self._storage: dict[type, Factory] = {}

    def __repr__(self) -> str:
        return object_repr(self, *counted(self._storage, "constraints"))

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Register a function for a class of constraints; without it, return a decorator.

        Args:
            constraint: Class of constraints, or an object of it.
            factory: Function of a constraint that returns a transformation.

        Raises:
            ArgumentTypeError: ``constraint`` is neither.
        """
        if factory is None:
            return lambda function: self.register(constraint, function)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise ArgumentTypeError(
                f"domain_map.register: expected a class of constraints or one of its objects, got "
                f"{constraint!r}"
            )
        self._storage[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Return the transformation to the set of a constraint.

        Args:
            constraint: The constraint.

        Raises:
            NotSupportedError: Its class is not registered.
        """
        for kind in type(constraint).__mro__:
            factory = self._storage.get(kind)
            if factory is not None:
                return factory(constraint)
        raise NotSupportedError(
            f"domain_map: expected a registered constraint, got {type(constraint).__name__}; see "
            "domain_map.register"
        )


biject_to = domain_map()
transform_to = domain_map()


def _register(*kinds: type) -> Callable[[Factory], Factory]:
    """Return a decorator that registers a function for both directions of use."""

    def store(factory: Factory) -> Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return store


@_register(Real)
def _to_real(constraint: Any) -> Transformation:
    return ComposeTransform([])


@_register(Positive)
def _to_positive(constraint: Any) -> Transformation:
    return ExpTransform()


@_register(GreaterThan, GreaterThanEq)
def _to_greater(constraint: Any) -> Transformation:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._lower_bound, 1)])


@_register(LessThan, LessThanEq)
def _to_less(constraint: Any) -> Transformation:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._upper_bound, -1)])


@_register(Interval, OpenInterval, HalfOpenInterval)
def _to_interval(constraint: Any) -> Transformation:
    lower, upper = constraint._lower_bound, constraint._upper_bound
    if is_number(lower) and is_number(upper) and (lower, upper) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(lower, upper - lower)])


def _to_simplex(constraint: Any) -> Transformation:
    return SoftmaxTransform()


transform_to.register(Simplex, _to_simplex)
