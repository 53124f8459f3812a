"""Containers that run their children in sequence, or in parallel on the same input.

The parallel containers are named ``Concurrent`` and ``HybridConcurrent`` (``contrib.nn``) in MXNet
1.9, and ``Concatenate`` and ``HybridConcatenate`` (``nn``) in 2.0.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, Self, overload

from gluonish.core.errors import OutOfBoundsError
from gluonish.core.mxnet_rules import follows_mxnet2
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.ndarray import concat


class _Stack(Block):
    """Base class of containers: a list of Blocks."""

    _in_summary = False

    def __init__(
        self,
        *layers: Block | Iterable[Block] | str | ParameterDict | None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        blocks: list[Any] = list(layers)
        if blocks and (blocks[0] is None or isinstance(blocks[0], str)):  # as in MXNet
            prefix = blocks.pop(0)
            if blocks and (blocks[0] is None or isinstance(blocks[0], ParameterDict)):
                params = blocks.pop(0)
        super().__init__(prefix=prefix, params=params)
        self.add(*blocks)

    def add(self, *blocks: Block | Iterable[Block]) -> None:
        """Append layers.

        Args:
            *blocks: Layers, or lists of layers.

        Raises:
            ArgumentTypeError: An argument is no layer.
        """
        for block in blocks:
            layers: Any = block if isinstance(block, list | tuple) else (block,)
            for layer in layers:
                self.register_child(layer)

    def __repr__(self) -> str:
        lines = "\n".join(
            "  ({}): {}".format(name, repr(block).replace("\n", "\n  "))
            for name, block in self._children.items()
        )
        return f"{type(self).__name__}(\n{lines}\n)"

    @overload
    def __getitem__(self, key: int) -> Any: ...  # so that net[0].weight needs no cast

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    def __getitem__(self, key: int | slice) -> Any:
        try:
            layers = list(self._children.values())[key]
        except IndexError:
            raise OutOfBoundsError(
                f"{type(self).__name__}: expected an index below {len(self)}, got {key}"
            ) from None
        if isinstance(layers, Block):
            return layers
        sliced = self._empty()
        with sliced.name_scope():
            sliced.add(*layers)
        return sliced

    def __setitem__(self, key: int, layer: Block) -> None:
        self.register_child(layer, self._name_at(key))

    def __delitem__(self, key: int) -> None:
        del self._children[self._name_at(key)]
        names = [name for name in self._children if name.isdecimal()]
        self._rename_children({name: str(i) for i, name in enumerate(names)})

    def _name_at(self, key: int) -> str:
        """Return the name of the layer at an index."""
        names = list(self._children)
        if not isinstance(key, int) or not -len(names) <= key < len(names):
            raise OutOfBoundsError(
                f"{type(self).__name__}: expected an index below {len(names)}, got {key!r}; "
                "net.add(layer) appends"
            )
        return names[key]

    def _empty(self) -> Self:
        """Return a container of the same name and settings without layers."""
        return type(self)(prefix=self._prefix)

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(list(self._children.values()))


class Sequential(_Stack):
    """Run layers in sequence, each on the output of the previous one.

    Args:
        *layers: Layers, or lists of layers; `add` appends more. A text is the prefix, as in MXNet.
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        x: input of the first layer.

    Outputs:
        y: output of the last layer; ``x`` itself without layers.
    """

    def forward(self, x: Any, *args: Any) -> Any:
        """Run the layers in order, each on the output of the previous one.

        By the rules of MXNet 2.0, or with several inputs, the outputs of a layer are separate
        arguments of the next one.

        Args:
            x: Input of the first layer.
            *args: Its further inputs.
        """
        if args or follows_mxnet2():
            return _run(self._children.values(), x, args)
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Hybridize each layer separately; the container itself runs imperatively.

        Args:
            active: True for on, False for off.
            **kwargs: Options of `HybridBlock.hybridize`, such as ``static_alloc``.
        """
        children = self._children.values()
        if children and all(isinstance(child, HybridBlock) for child in children):
            warnings.warn(
                f"All children of this Sequential layer {self.prefix!r} are HybridBlocks; "
                "HybridSequential runs them as one graph",
                UserWarning,
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Stack, HybridBlock):
    """Run HybridBlocks in sequence; when hybridized they form one graph.

    Args:
        *layers: Layers, or lists of layers; `add` appends more. A text is the prefix, as in MXNet.
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        x: input of the first layer.

    Outputs:
        y: output of the last layer; ``x`` itself without layers.

    Example:
        >>> import gluonish as mx
        >>> from gluonish.gluon import nn
        >>> net = nn.HybridSequential(nn.Dense(16, activation="relu"), nn.Dense(10))
        >>> net.initialize()
        >>> net.hybridize()
        >>> net(mx.nd.ones((4, 20))).shape
        (4, 10)
    """

    def hybrid_forward(self, F: ModuleType, x: Tensor, *args: Tensor) -> Any:
        """Run the layers in order, each on the output of the previous one.

        By the rules of MXNet 2.0, or with several inputs, the outputs of a layer are separate
        arguments of the next one.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: Input of the first layer.
            *args: Its further inputs.
        """
        if args or follows_mxnet2():
            return _run(self._children.values(), x, args)
        for block in self._children.values():
            x = block(x)
        return x


def _run(blocks: Iterable[Block], x: Any, args: Sequence[Any]) -> Any:
    """Run blocks in order, each on all outputs of the previous one; return a tuple of several."""
    for block in blocks:
        x, args = block(x, *args), ()
        if isinstance(x, tuple | list) and x:
            x, *args = x
    return (x, *args) if args else x


class Concatenate(Sequential):
    """Run every layer on the same input and concatenate their outputs.

    Args:
        axis: The axis along which outputs are concatenated.
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        x, *args: inputs of every layer.

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

    def forward(self, x: Any, *args: Any) -> Any:
        """Run every layer on the inputs and concatenate their outputs.

        Args:
            x: First input of every layer.
            *args: Further inputs.
        """
        return concat(*[block(x, *args) for block in self._children.values()], dim=self.axis)


class HybridConcatenate(HybridSequential):
    """Run every HybridBlock on the same input and concatenate their outputs.

    Args:
        axis: The axis along which outputs are concatenated.
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        x, *args: inputs of every layer.

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

    def hybrid_forward(self, F: ModuleType, x: Tensor, *args: Tensor) -> Any:
        """Run every layer on the inputs and concatenate their outputs.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: First input of every layer.
            *args: Further inputs.
        """
        return F.concat(*[block(x, *args) for block in self._children.values()], dim=self.axis)


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
