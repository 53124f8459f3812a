"""Transformations of random variables, with their inverses and Jacobian determinants."""

# Constants override properties of the base class.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

import math
from collections.abc import Sequence
from typing import Any

import gluonish.numpy as np
import gluonish.numpy_extension as npx
from gluonish.core.errors import NotSupportedError
from gluonish.core.object_repr import arguments_repr
from gluonish.gluon.block import HybridBlock
from gluonish.gluon.probability.distributions.parameters import (
    as_parameter,
    is_number,
    softplus,
)
from gluonish.gluon.probability.distributions.utils import prob2logit, sum_right_most

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "TransformBlock",
    "Transformation",
]


def _missing(transform: Any, name: str) -> NotSupportedError:
    return NotSupportedError(
        f"{type(transform).__name__}: expected a transformation with {name}, got one without"
    )


class Transformation:
    """Base class of transformations y = f(x); a call computes y.

    A subclass defines ``_forward_compute(self, x)``, and if it is bijective
    ``_inverse_compute(self, y)``, `log_det_jacobian` and `sign`.

    Attributes:
        bijective: Whether f has an inverse.
        event_dim: Number of axes that f acts on together: 0 for an elementwise function.
    """

    bijective: bool = False
    event_dim: Any = 0

    def __init__(self) -> None:
        self._inv: Any = None
        super().__init__()

    def __repr__(self) -> str:
        return arguments_repr(self)

    @property
    def sign(self) -> Any:
        """Sign of the derivative of a monotonic function: 1 or -1."""
        raise _missing(self, "sign")

    @property
    def inv(self) -> Any:
        """The inverse transformation."""
        found = self._inv
        if found is None:
            found = self._inv = _InverseTransformation(self)
        return found

    def __call__(self, x: Any) -> Any:
        """Compute y = f(x).

        Args:
            x: Array.
        """
        return self._forward_compute(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inverse_compute(y)

    def _forward_compute(self, x: Any) -> Any:
        raise _missing(self, "_forward_compute")

    def _inverse_compute(self, y: Any) -> Any:
        raise _missing(self, "_inverse_compute")

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |det dy/dx|, summed over the axes of an event.

        Args:
            x: Argument of the transformation.
            y: Its result.
        """
        raise _missing(self, "log_det_jacobian")


class _InverseTransformation(Transformation):
    """The inverse of a transformation.

    Args:
        forward_transform: The transformation.
    """

    def __init__(self, forward_transform: Transformation) -> None:
        super().__init__()
        self._inv = forward_transform

    def __repr__(self) -> str:
        return f"{self._inv!r}.inv"

    @property
    def bijective(self) -> bool:  # type: ignore[override]  # follows the other transformation
        """Whether the transformation has an inverse."""
        return bool(self._inv.bijective)

    @property
    def event_dim(self) -> Any:
        """Number of axes that the transformation acts on together."""
        return self._inv.event_dim

    @property
    def sign(self) -> Any:
        """Sign of the derivative: that of the inverse."""
        return self._inv.sign

    def __call__(self, x: Any) -> Any:
        """Compute the inverse.

        Args:
            x: Result of the other transformation.
        """
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |det dy/dx|: minus that of the other transformation.

        Args:
            x: Argument of this transformation.
            y: Its result.
        """
        return -self._inv.log_det_jacobian(y, x)


class TransformBlock(Transformation, HybridBlock):
    """Base class of transformations that are Blocks: with parameters, such as in a flow.

    A subclass defines the methods of `Transformation`; a call computes ``_forward_compute``.

    Args:
        *args: Arguments of HybridBlock.
        **kwargs: Keywords of HybridBlock.
    """

    _untracked = HybridBlock._untracked | {"_inv"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        HybridBlock.__init__(self, *args, **kwargs)
        self._inv = None

    def __repr__(self) -> str:
        return HybridBlock.__repr__(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute y = f(x), as a graph if hybridized.

        Args:
            *args: Arguments of ``_forward_compute``: x.
            **kwargs: The same by keyword.
        """
        return HybridBlock.__call__(self, *args, **kwargs)

    def forward(self, x: Any) -> Any:
        """Compute y = f(x).

        Args:
            x: Array.
        """
        return self._forward_compute(x)


class ComposeTransform(Transformation):
    """Transformations one after another.

    Args:
        parts: The transformations, the first one first.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        super().__init__()
        self._parts = list(parts)

    @property
    def bijective(self) -> bool:  # type: ignore[override]  # follows the parts
        """Whether all parts have an inverse."""
        return all(part.bijective for part in self._parts)

    @property
    def sign(self) -> Any:
        """Sign of the derivative: the product of the parts'."""
        sign: Any = 1
        for part in self._parts:
            sign = sign * part.sign
        return sign

    @property
    def event_dim(self) -> Any:
        """Number of axes that the parts act on together: the largest of any part."""
        return max((part.event_dim for part in self._parts), default=0)

    @property
    def inv(self) -> Any:
        """The inverse: the inverses of the parts in reverse."""
        found = self._inv
        if found is None:
            found = self._inv = ComposeTransform([part.inv for part in reversed(self._parts)])
            found._inv = self
        return found

    def _forward_compute(self, x: Any) -> Any:
        for part in self._parts:
            x = part(x)
        return x

    def _inverse_compute(self, y: Any) -> Any:
        return self.inv(y)

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |det dy/dx|, summed over the axes of an event.

        Args:
            x: Argument of the first part.
            y: Result of the last one; not read.
        """
        if not self._parts:
            return np.zeros_like(x)
        total: Any = 0
        event_dim = self.event_dim
        for part in self._parts:
            following = part(x)
            slope = part.log_det_jacobian(x, following)
            total = total + sum_right_most(slope, event_dim - part.event_dim)
            x = following
        return total


class ExpTransform(Transformation):
    """y = exp(x)."""

    bijective = True
    sign = 1

    def _forward_compute(self, x: Any) -> Any:
        return np.exp(x)

    def _inverse_compute(self, y: Any) -> Any:
        return np.log(y)

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |dy/dx| = x.

        Args:
            x: Argument of the transformation.
            y: Its result; not read.
        """
        return x


class AffineTransform(Transformation):
    """y = loc + scale x.

    Args:
        loc: Number or array.
        scale: Number or array, not 0.
        event_dim: Number of last axes that belong to one event.
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0) -> None:
        super().__init__()
        self._loc = as_parameter("AffineTransform", "loc", loc)
        self._scale = as_parameter("AffineTransform", "scale", scale)
        self.event_dim = event_dim

    @property
    def sign(self) -> Any:
        """Sign of ``scale``."""
        return np.sign(self._scale)

    def _forward_compute(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse_compute(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |dy/dx| = log |scale|, summed over the axes of an event.

        Args:
            x: Argument of the transformation.
            y: Its result; not read.
        """
        slope = np.ones_like(x) * np.log(np.abs(self._scale))
        return sum_right_most(slope, self.event_dim)


class PowerTransform(Transformation):
    """y = x^exponent, for x > 0.

    Args:
        exponent: Number or array, above 0.
    """

    bijective = True
    sign = 1

    def __init__(self, exponent: Any) -> None:
        super().__init__()
        self._exponent = as_parameter("PowerTransform", "exponent", exponent)

    def _forward_compute(self, x: Any) -> Any:
        return x**self._exponent

    def _inverse_compute(self, y: Any) -> Any:
        return y ** (1 / self._exponent)

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |dy/dx| = log |exponent y / x|.

        Args:
            x: Argument of the transformation.
            y: Its result.
        """
        return np.log(np.abs(self._exponent * y / x))


class AbsTransform(Transformation):
    """y = |x|. Its inverse returns the positive x."""

    def _forward_compute(self, x: Any) -> Any:
        return np.abs(x)

    def _inverse_compute(self, y: Any) -> Any:
        return y


class SigmoidTransform(Transformation):
    """y = 1 / (1 + exp(-x)). Its inverse clips y by the machine epsilon."""

    bijective = True
    sign = 1

    def _forward_compute(self, x: Any) -> Any:
        return 1 / (1 + math.exp(-x)) if is_number(x) else npx.sigmoid(x)

    def _inverse_compute(self, y: Any) -> Any:
        return prob2logit(y)

    def log_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |dy/dx| = log(y (1 - y)).

        Args:
            x: Argument of the transformation.
            y: Its result; not read.
        """
        return -(softplus(-x) + softplus(x))


class SoftmaxTransform(Transformation):
    """y = softmax(x) along the last axis. Its inverse, up to a constant, is the logarithm."""

    event_dim = 1

    def _forward_compute(self, x: Any) -> Any:
        return npx.softmax(x, axis=-1)

    def _inverse_compute(self, y: Any) -> Any:
        return np.log(y)
