"""Layers side by side on one input, their outputs concatenated; and Identity, to be one of them.

MXNet 1.9 has them as ``Concurrent`` and ``HybridConcurrent`` in ``contrib.nn``, 2.0 as
``Concatenate`` and ``HybridConcatenate`` in ``nn``.
"""

from types import ModuleType
from typing import Any, Self

from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.sequential import HybridSequential, Sequential
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.ndarray import concat

__all__ = ["Concatenate", "Concurrent", "HybridConcatenate", "HybridConcurrent", "Identity"]


class Concatenate(Sequential):
    """Run every layer on the same input and concatenate their outputs.

    Args:
        axis: The axis along which outputs are concatenated.
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        x: what each of the layers takes.

    Outputs:
        y: the outputs of all layers, concatenated along ``axis``; their other axes must agree.
    """

    def __init__(
        self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def _empty(self) -> Self:
        return type(self)(axis=self.axis, prefix=self._prefix)

    def forward(self, x: Any) -> Any:
        """Run every layer on the input and concatenate their outputs.

        Args:
            x: Input of every layer.
        """
        return concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcatenate(HybridSequential):
    """Run every HybridBlock on the same input and concatenate their outputs.

    Args:
        axis: The axis along which outputs are concatenated.
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        x: what each of the layers takes.

    Outputs:
        y: the outputs of all layers, concatenated along ``axis``; their other axes must agree.
    """

    def __init__(
        self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def _empty(self) -> Self:
        return type(self)(axis=self.axis, prefix=self._prefix)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Run every layer on the input and concatenate their outputs.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Input of every layer.
        """
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Concurrent(Concatenate):
    """`Concatenate` under the name of MXNet 1.9: the same arguments, inputs and outputs."""


class HybridConcurrent(HybridConcatenate):
    """`HybridConcatenate` under the name of MXNet 1.9: the same arguments, inputs and outputs."""


class Identity(HybridBlock):
    """Return the input unchanged, such as in a branch of `HybridConcatenate`.

    Args:
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        x: anything.

    Outputs:
        y: ``x`` itself.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:
        """Return the input unchanged.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Anything.
        """
        return x
