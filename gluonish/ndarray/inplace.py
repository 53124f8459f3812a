"""In-place arithmetic: ``x += y`` and the like."""

from collections.abc import Callable
from typing import Any

from gluonish.core.errors import ArgumentError, AutogradError
from gluonish.ndarray import recording
from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import RECORDING
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.arithmetic import scalar_attrs
from gluonish.ops.support.binary_row import Row


def _inplace(row: Row, symbol: str) -> Callable[[NDArray, Any], NDArray]:
    def method(self: NDArray, other: Any) -> NDArray:
        self._check_writable(symbol)
        if not isinstance(other, NDArray):
            invoke(row.scalar, (self,), scalar_attrs(row, other), out=self)
            return self
        if other._edge is not None and recording.mode.get() & RECORDING:
            raise AutogradError(
                f"{symbol}: expected operands outside the recorded graph, got a right operand "
                "inside it; write x = x + y instead of x += y"
            )
        if other.shape != self.shape and len(other.shape) > len(self.shape):
            raise ArgumentError(
                f"{symbol}: expected an operand that broadcasts to {self.shape}, got {other.shape}"
            )
        invoke(row.broadcast, (self, other), {}, out=self)
        return self

    method.__doc__ = f"Return the array itself, after ``x {symbol} other``."
    return method


INPLACE_METHODS = {
    "__iadd__": _inplace(binary.ADD, "+="),
    "__isub__": _inplace(binary.SUBTRACT, "-="),
    "__imul__": _inplace(binary.MULTIPLY, "*="),
    "__itruediv__": _inplace(binary.DIVIDE, "/="),
    "__imod__": _inplace(binary.MODULO, "%="),
}
