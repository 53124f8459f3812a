"""How much work a call of an operator is, from shapes: what decides whether another thread pays."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluonish.core.spec import Spec
from gluonish.ops.kernel import Attrs

LARGE_COPY = 1 << 18  # elements of a copy that is worth a team of threads
_HEAVY = 64  # what an element counts of operators that do much for each, and don't say how much
_ENDLESS = 1 << 62


class Work(NamedTuple):
    """Elements that are written by operators that do little for each, and multiplications with an
    addition by the others."""

    elements: int = 0
    products: int = 0

    def is_within(self, limits: "Work") -> bool:
        """Whether neither is more than in some limits."""
        return self.elements <= limits.elements and self.products <= limits.products


# A hand-over to a worker costs tens of microseconds, as much as these on one thread.
LIGHT = Work(1 << 16, 96**3)
# Some 0.5 ms on two threads. Two hand-overs were a fifth of the training step of a network of three
# dense layers (64 x 784, 256, 128, 10).
SMALL = Work(1 << 19, 1 << 26)


# How an operator says that it does much for each element, or how many multiplications it does.
Heavy = bool | Callable[[Sequence[Spec], Sequence[Spec], Attrs], int]


def work_of(heavy: Heavy, inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> Work:
    """Return the work of a call of an operator.

    Args:
        heavy: What the operator says of itself; see `gluonish.ops.registry.Operator`.
    """
    size = sum(spec.size for spec in outputs)
    if not heavy:
        return Work(size)
    if heavy is True:
        return Work(0, _HEAVY * size)
    return Work(0, heavy(inputs, outputs, attrs))


def by_weight(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """Each element of the output is a product with one filter."""
    return outputs[0].size * math.prod(inputs[1].shape[1:])


def by_data(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """The gradient of data: each element of the output's gradient meets one filter."""
    return inputs[0].size * math.prod(inputs[1].shape[1:])


def by_shape(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """The gradient of a weight, whose shape is an attribute."""
    shape: tuple[int, ...] = attrs["weight_shape"]
    return inputs[0].size * math.prod(shape[1:])


def endless(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """Recurrent layers and loops are long whatever their sizes."""
    return _ENDLESS
