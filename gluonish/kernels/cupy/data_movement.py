"""Reference kernels that only move elements, by the copies of `gluonish.kernels.cupy.copies`.

Such a kernel is ``out[region] = view of data``. Here it runs with outputs whose ``__setitem__``
copies so, and with an ``xp`` whose concatenate and stack do the same.
"""

from collections.abc import Iterator
from types import EllipsisType, ModuleType
from typing import Any

from gluonish.core.config import GLUONISH_CUDA_COPIES
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import copy
from gluonish.kernels.generated.expressions import KINDS
from gluonish.kernels.moving_library import MovingLibrary
from gluonish.ops.indexing.slice import SLICE_AXIS
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.registry import Operator
from gluonish.ops.shape.concat import CONCAT

# These move elements only; on CPUs, other kernels than those of `copies_only` serve them.
_OTHERS = (CONCAT, SLICE_AXIS)

Key = EllipsisType | slice | tuple[slice | int, ...]


class _Output:
    """Wraps an output of a reference kernel, so that assigned arrays are copied by `copy`."""

    __slots__ = ("_raw", "_xp")

    def __init__(self, xp: ModuleType, raw: Any) -> None:
        self._xp = xp
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def reshape(self, *shape: Any) -> "_Output":
        """Return a reshaped view."""
        return _Output(self._xp, self._raw.reshape(*shape))

    def transpose(self, *axes: Any) -> "_Output":
        """Return a transposed view."""
        return _Output(self._xp, self._raw.transpose(*axes))

    def __getitem__(self, key: Key) -> Any:
        return self._raw[key]

    def __setitem__(self, key: Key, value: Any) -> None:
        if isinstance(value, self._xp.ndarray) and value.ndim:
            copy(self._xp, self._raw if key is ... else self._raw[key], value)
        else:
            self._raw[key] = value


class _Mover:
    """The kernel of an operator that only moves elements."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def __call__(self, xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
        """Fill ``out``."""
        several = isinstance(out, tuple)
        target = tuple(_Output(xp, x) for x in out) if several else _Output(xp, out)
        self._op.kernel(MovingLibrary(xp), target, *inputs, **attrs)


def _supports(*specs: Spec, **_: Any) -> bool:
    """Whether there is anything to move."""
    return any(spec.shape for spec in specs)


def _enabled() -> bool:
    return GLUONISH_CUDA_COPIES.value


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the kernel of an operator that only moves elements."""
    if op.copies_only or op in _OTHERS:
        yield FastKernel(
            *(BackEnd.CUPY, op.name, _supports), run=_Mover(op), enabled=_enabled, makes=KINDS
        )
