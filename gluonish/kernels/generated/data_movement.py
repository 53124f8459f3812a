"""Reference kernels that only move elements, run on all cores for large arrays.

Such a kernel is ``out[region] = view of data``. NumPy copies on one core, and element by element
from a transposed view. Here the same kernels run with outputs whose ``__setitem__`` copies by
`gluonish.kernels.generated.strided_copy`, and with an ``xp`` whose concatenate and stack do
the same.
"""

from collections.abc import Iterator
from types import EllipsisType, ModuleType
from typing import Any

import numpy as np

from gluonish.core.spec import Shape, Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.generated.expressions import KINDS
from gluonish.kernels.generated.strided_copy import move
from gluonish.kernels.moving_library import MovingLibrary
from gluonish.ops.kernel import BackEnd, FastKernel, RefusedError
from gluonish.ops.registry import Operator

_LARGE = 1 << 15  # elements below which NumPy is faster

Key = EllipsisType | slice | tuple[slice | int, ...]


class ParallelOutput:
    """Wraps an output of a reference kernel, so that assignments copy on all cores.

    ``raw`` is the wrapped array.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        shape: Shape = self.raw.shape
        return shape

    @property
    def dtype(self) -> Any:
        """NumPy dtype of the array."""
        return self.raw.dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        count: int = self.raw.size
        return count

    @property
    def ndim(self) -> int:
        """Number of axes."""
        rank: int = self.raw.ndim
        return rank

    def reshape(self, *shape: Any) -> "ParallelOutput":
        """Return a reshaped view."""
        return ParallelOutput(self.raw.reshape(*shape))

    def transpose(self, *axes: Any) -> "ParallelOutput":
        """Return a transposed view."""
        return ParallelOutput(self.raw.transpose(*axes))

    def fill(self, value: Any) -> None:
        """Set all elements to a number."""
        self[...] = value

    def __getitem__(self, key: Key) -> Any:
        return self.raw[key]

    def __setitem__(self, key: Key, value: Any) -> None:
        target = self.raw if key is ... else self.raw[key]
        value = np.asarray(value)  # without this, a Python number would have no dtype
        if value.dtype != target.dtype or value.shape == ():
            value = value.astype(target.dtype)
        if not target.size:
            return
        try:
            move(target, value)
        except RefusedError:  # unsupported itemsize, or no compiler
            target[...] = value


_LIBRARY = MovingLibrary(np)


class Mover:
    """The kernel of an operator that only moves elements; see also `concat_and_slice`."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def __call__(self, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        """Fill ``out``."""
        target = tuple(map(ParallelOutput, out)) if isinstance(out, tuple) else ParallelOutput(out)
        self._op.kernel(_LIBRARY, target, *inputs, **attrs)

    def supports(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether an input or the output is large."""
        if any(spec.size >= _LARGE for spec in specs):
            return True
        return self._op.infer(*specs, **attrs)[0].size >= _LARGE


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the kernel of an operator that only moves elements."""
    if op.copies_only:
        mover = Mover(op)
        yield FastKernel(
            *(BackEnd.GENERATED, op.name, mover.supports),
            run=mover,
            enabled=available,
            large_only=True,
            makes=KINDS,
        )
