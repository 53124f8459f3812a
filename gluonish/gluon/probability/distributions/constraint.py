"""Constraints: sets that parameters and samples of distributions must lie in."""

from collections.abc import Sequence
from typing import Any

import gluonish.numpy as np
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.object_repr import brief, default_repr, object_repr
from gluonish.ndarray.ndarray import NDArray
from gluonish.numpy_extension import constraint_check

__all__ = [
    "Boolean",
    "Cat",
    "Constraint",
    "GreaterThan",
    "GreaterThanEq",
    "HalfOpenInterval",
    "IntegerGreaterThan",
    "IntegerGreaterThanEq",
    "IntegerHalfOpenInterval",
    "IntegerInterval",
    "IntegerLessThan",
    "IntegerLessThanEq",
    "IntegerOpenInterval",
    "Interval",
    "LessThan",
    "LessThanEq",
    "LowerCholesky",
    "LowerTriangular",
    "NonNegative",
    "NonNegativeInteger",
    "OpenInterval",
    "Positive",
    "PositiveDefinite",
    "PositiveInteger",
    "Real",
    "Simplex",
    "Stack",
    "UnitInterval",
    "dependent_property",
    "is_dependent",
]

_TOLERANCE = 1e-5  # of the sum of a simplex


def _offender(value: Any, holds: Any) -> str:
    """Return the first row of a value that violates a constraint, as text."""
    if not isinstance(value, NDArray):
        return repr(value)
    found = np.broadcast_to(holds, value.shape[: holds.ndim]).asnumpy()
    return str(value.asnumpy()[~found][0].tolist()) if found.ndim else str(value.tolist())


class Constraint:
    """Base class of constraints. A subclass defines `check`."""

    __repr__ = default_repr

    def _holds(self, value: Any) -> Any:
        """Return whether values satisfy the constraint: bool, without the axes of an event."""
        raise NotSupportedError(
            f"{type(self).__name__}: expected a constraint that defines check, got one without"
        )

    def _text(self) -> str:
        """Return the constraint in words, which follow 'expected scale'."""
        return f"in {type(self).__name__}"

    def check(self, value: Any) -> Any:
        """Return a value that satisfies the constraint.

        Args:
            value: Number or array. In a trace the check is part of the graph, and runs with it.

        Raises:
            ArgumentError: An element violates the constraint.
        """
        return self._require(value, type(self).__name__, "value")

    def _require(self, value: Any, what: str, name: str) -> Any:
        """Check a value; an error names the object ``what`` and its argument ``name``."""
        holds: Any = self._holds(value)
        if isinstance(holds, NDArray) and holds.is_traced:
            checked = constraint_check(holds, f"{what}: expected {name} {self._text()}")
            return value * checked.astype(value.dtype)
        if not bool(np.all(holds) if isinstance(holds, NDArray) else holds):
            raise ArgumentError(
                f"{what}: expected {name} {self._text()}, got {_offender(value, holds)}"
            )
        return value


class _Dependent(Constraint):
    """The constraint of a variable whose support depends on other variables."""

    def check(self, value: Any) -> Any:
        """Refuse to check a value.

        Args:
            value: The value.

        Raises:
            ArgumentError: Always: the constraint is unknown without the other variables.
        """
        raise ArgumentError(
            f"constraint: expected a support of its own to check {value!r}, got a dependent one"
        )


class _DependentProperty(property, _Dependent):
    """A property that is a constraint which depends on the other parameters of its object."""

    def __repr__(self) -> str:
        return object_repr(self, brief(self.fget))


dependent_property = _DependentProperty


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on other variables.

    Args:
        constraint: Any object.
    """
    return isinstance(constraint, _Dependent)


class Real(Constraint):
    """All real numbers: everything but NaN."""

    def _holds(self, value: Any) -> Any:
        return value == value  # NaN differs from itself

    def _text(self) -> str:
        return "other than NaN"


class Boolean(Constraint):
    """0 and 1."""

    def _holds(self, value: Any) -> Any:
        return (value == 0) | (value == 1)

    def _text(self) -> str:
        return "to be 0 or 1"


class _Bounded(Constraint):
    """Numbers between two bounds, either of which may be None.

    Subclasses say whether the bounds are included, and whether the numbers are integers.
    """

    _includes_lower = _includes_upper = _is_integer = False
    _lower_bound: Any = None
    _upper_bound: Any = None

    def _holds(self, value: Any) -> Any:
        lower, upper = self._lower_bound, self._upper_bound
        parts = []
        if lower is not None:
            parts.append(value >= lower if self._includes_lower else value > lower)
        if upper is not None:
            parts.append(value <= upper if self._includes_upper else value < upper)
        if self._is_integer:
            parts.append(value % 1 == 0)
        holds = parts[0]
        for part in parts[1:]:
            holds = holds & part
        return holds

    def _text(self) -> str:
        lower, upper = self._lower_bound, self._upper_bound
        parts = ["an integer"] if self._is_integer else []
        if lower is not None:
            parts.append(f"{'>=' if self._includes_lower else '>'} {_bound_text(lower)}")
        if upper is not None:
            parts.append(f"{'<=' if self._includes_upper else '<'} {_bound_text(upper)}")
        return " and ".join(parts)


def _bound_text(bound: Any) -> str:
    if not isinstance(bound, NDArray):
        return str(bound)
    return "its bound" if bound.is_traced else str(bound.tolist())


class _Pair(_Bounded):
    """Numbers between two bounds.

    Args:
        lower_bound: Smallest number, or array of numbers.
        upper_bound: Largest number, or array of numbers.
    """

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self._lower_bound = lower_bound
        self._upper_bound = upper_bound


class Interval(_Pair):
    """Numbers in [lower_bound, upper_bound].

    Args:
        lower_bound: Smallest number, or array of numbers.
        upper_bound: Largest number, or array of numbers.
    """

    _includes_lower = _includes_upper = True


class OpenInterval(_Pair):
    """Numbers in (lower_bound, upper_bound), without the bounds; arguments as of `Interval`."""


class HalfOpenInterval(_Pair):
    """Numbers in [lower_bound, upper_bound), without the upper; arguments as of `Interval`."""

    _includes_lower = True


class IntegerInterval(_Pair):
    """Integers in [lower_bound, upper_bound]; arguments as of `Interval`."""

    _includes_lower = _includes_upper = _is_integer = True


class IntegerOpenInterval(_Pair):
    """Integers in (lower_bound, upper_bound), without the bounds; arguments as of `Interval`."""

    _is_integer = True


class IntegerHalfOpenInterval(_Pair):
    """Integers in [lower_bound, upper_bound), without the upper; arguments as of `Interval`."""

    _includes_lower = _is_integer = True


class UnitInterval(Interval):
    """Numbers in [0, 1]."""

    def __init__(self) -> None:
        super().__init__(0, 1)


class _Above(_Bounded):
    """Base class of constraints with one bound.

    Args:
        lower_bound: The bound, a number or array.
    """

    def __init__(self, lower_bound: Any) -> None:
        self._lower_bound = lower_bound


class GreaterThan(_Above):
    """Numbers above a bound.

    Args:
        lower_bound: The bound, a number or array.
    """


class GreaterThanEq(_Above):
    """Numbers of at least a bound.

    Args:
        lower_bound: The bound, a number or array.
    """

    _includes_lower = True


class IntegerGreaterThan(_Above):
    """Integers above a bound.

    Args:
        lower_bound: The bound, a number or array.
    """

    _is_integer = True


class IntegerGreaterThanEq(_Above):
    """Integers of at least a bound.

    Args:
        lower_bound: The bound, a number or array.
    """

    _includes_lower = _is_integer = True


class _Below(_Bounded):
    """Base class of constraints with one bound.

    Args:
        upper_bound: The bound, a number or array.
    """

    def __init__(self, upper_bound: Any) -> None:
        self._upper_bound = upper_bound


class LessThan(_Below):
    """Numbers below a bound.

    Args:
        upper_bound: The bound, a number or array.
    """


class LessThanEq(_Below):
    """Numbers of at most a bound.

    Args:
        upper_bound: The bound, a number or array.
    """

    _includes_upper = True


class IntegerLessThan(_Below):
    """Integers below a bound.

    Args:
        upper_bound: The bound, a number or array.
    """

    _is_integer = True


class IntegerLessThanEq(_Below):
    """Integers of at most a bound.

    Args:
        upper_bound: The bound, a number or array.
    """

    _includes_upper = _is_integer = True


class Positive(GreaterThan):
    """Numbers above 0."""

    def __init__(self) -> None:
        super().__init__(0)


class NonNegative(GreaterThanEq):
    """Numbers of at least 0."""

    def __init__(self) -> None:
        super().__init__(0)


class PositiveInteger(IntegerGreaterThan):
    """Integers above 0."""

    def __init__(self) -> None:
        super().__init__(0)


class NonNegativeInteger(IntegerGreaterThanEq):
    """Integers of at least 0."""

    def __init__(self) -> None:
        super().__init__(0)


class Simplex(Constraint):
    """Vectors along the last axis of numbers of at least 0 that sum to 1."""

    def _holds(self, value: Any) -> Any:
        near = np.abs(np.sum(value, axis=-1) - 1) < _TOLERANCE
        return np.all(value >= 0, axis=-1) & near

    def _text(self) -> str:
        return "of numbers >= 0 that sum to 1 along the last axis"


class LowerTriangular(Constraint):
    """Square matrices (..., N, N) that are 0 above the diagonal."""

    def _holds(self, value: Any) -> Any:
        return np.all(np.tril(value) == value, axis=(-2, -1))

    def _text(self) -> str:
        return "to be 0 above the diagonal"


class LowerCholesky(LowerTriangular):
    """Lower triangular matrices (..., N, N) with a positive diagonal."""

    def _holds(self, value: Any) -> Any:
        diagonal = np.diagonal(value, axis1=-2, axis2=-1)
        return super()._holds(value) & np.all(diagonal > 0, axis=-1)

    def _text(self) -> str:
        return "to be lower triangular with a positive diagonal"


class PositiveDefinite(Constraint):
    """Symmetric positive definite matrices (..., N, N)."""

    def _holds(self, value: Any) -> Any:
        near = np.abs(value - np.swapaxes(value, -1, -2)) <= _TOLERANCE * np.abs(value)
        return np.all(near, axis=(-2, -1)) & np.all(np.linalg.eigvalsh(value) > 0, axis=-1)

    def _text(self) -> str:
        return "to be symmetric positive definite"


def _checked_sequence(what: str, constraints: Sequence[Any]) -> list[Constraint]:
    for constraint in constraints:
        if not isinstance(constraint, Constraint):
            raise ArgumentTypeError(
                f"{what}: expected constraint_seq of constraints, got {constraint!r}"
            )
    return list(constraints)


class Cat(Constraint):
    """Constraints of consecutive parts of an axis.

    Args:
        constraint_seq: A constraint for each part.
        axis: The axis that is divided.
        lengths: Extent of each part; 1 by default.

    Raises:
        ArgumentError: ``lengths`` has another length than ``constraint_seq``.
        ArgumentTypeError: An element of ``constraint_seq`` is no constraint.
    """

    def __init__(
        self,
        constraint_seq: Sequence[Constraint],
        axis: int = 0,
        lengths: Sequence[int] | None = None,
    ) -> None:
        self._constraint_seq = _checked_sequence("Cat", constraint_seq)
        self._lengths = [1] * len(constraint_seq) if lengths is None else list(lengths)
        if len(self._lengths) != len(self._constraint_seq):
            raise ArgumentError(
                f"Cat: expected a length for each of {len(self._constraint_seq)} constraints, got "
                f"{self._lengths}"
            )
        self._axis = axis

    def check(self, value: Any) -> Any:
        """Return a value whose parts satisfy their constraints.

        Args:
            value: Array with an axis of the sum of the lengths.

        Raises:
            ArgumentError: An element violates its constraint, or the axis has another extent.
        """
        extent = value.shape[self._axis]
        if extent != sum(self._lengths):
            raise ArgumentError(
                f"Cat: expected axis {self._axis} of extent {sum(self._lengths)}, got shape "
                f"{value.shape}"
            )
        parts, start = [], 0
        for constraint, length in zip(self._constraint_seq, self._lengths, strict=True):
            positions = np.arange(start, start + length, dtype="int64")
            parts.append(constraint.check(np.take(value, positions, axis=self._axis)))
            start += length
        return np.concatenate(parts, axis=self._axis)


class Stack(Constraint):
    """A constraint for each index of an axis.

    Args:
        constraint_seq: The constraints.
        axis: The axis.

    Raises:
        ArgumentTypeError: An element of ``constraint_seq`` is no constraint.
    """

    def __init__(self, constraint_seq: Sequence[Constraint], axis: int = 0) -> None:
        self._constraint_seq = _checked_sequence("Stack", constraint_seq)
        self._axis = axis

    def check(self, value: Any) -> Any:
        """Return a value whose slices satisfy their constraints.

        Args:
            value: Array with an axis of the number of constraints.

        Raises:
            ArgumentError: An element violates its constraint, or the axis has another extent.
        """
        extent = value.shape[self._axis]
        if extent != len(self._constraint_seq):
            raise ArgumentError(
                f"Stack: expected axis {self._axis} of extent {len(self._constraint_seq)}, got "
                f"shape {value.shape}"
            )
        slices = [
            constraint.check(np.take(value, i, axis=self._axis))
            for i, constraint in enumerate(self._constraint_seq)
        ]
        return np.stack(slices, self._axis)
