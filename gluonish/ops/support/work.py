"""Cost of operator calls by shape, which decides whether to use other threads.

`remembered` caches slow inference functions.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gluonish.core.spec import Spec
from gluonish.ops.kernel import Attrs

LARGE_COPY = 1 << 18  # elements of a copy that is worth a team of threads
_HEAVY = 64  # cost per element of heavy operators without a cost function
_ENDLESS = 1 << 62


class Work(NamedTuple):
    """Elements written by cheap operators, and multiply-adds of the others."""

    elements: int = 0
    products: int = 0

    def is_within(self, limits: "Work") -> bool:
        """Whether both counts are within limits."""
        return self.elements <= limits.elements and self.products <= limits.products


# Dispatch to a worker costs tens of microseconds, as much as this work on one thread.
LIGHT = Work(1 << 16, 96**3)
# About 0.5 ms on two threads. Two dispatches were a fifth of the training step of a network of
# three dense layers (64 x 784, 256, 128, 10).
SMALL = Work(1 << 19, 1 << 26)


# Whether an operator is heavy, or a function that counts its multiplications.
Heavy = bool | Callable[[Sequence[Spec], Sequence[Spec], Attrs], int]


def work_of(heavy: Heavy, inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> Work:
    """Return the work of an operator call; ``heavy`` as in `gluonish.ops.facts.Execution`."""
    size = sum(spec.size for spec in outputs)
    if not heavy:
        return Work(size)
    if heavy is True:
        return Work(0, _HEAVY * size)
    return Work(0, heavy(inputs, outputs, attrs))


def by_weight(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """Count multiplications of a convolution: one filter per element of the output."""
    return outputs[0].size * math.prod(inputs[1].shape[1:])


def by_data(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """Count multiplications of the data gradient: one filter per element of the head gradient."""
    return inputs[0].size * math.prod(inputs[1].shape[1:])


def by_shape(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """Count multiplications of the gradient of a weight, whose shape is an attribute."""
    shape: tuple[int, ...] = attrs["weight_shape"]
    return inputs[0].size * math.prod(shape[1:])


def endless(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Attrs) -> int:
    """Return a huge count, for recurrent layers and loops of any size."""
    return _ENDLESS


_MOST_CALLS = 512  # cached per function; the oldest is evicted first

_Infer = Callable[..., tuple[Spec, ...]]


def remembered(infer: _Infer) -> _Infer:
    """Cache an inference function's results, but not its errors; all arguments are hashable."""
    return lru_cache(maxsize=_MOST_CALLS, typed=True)(infer)
