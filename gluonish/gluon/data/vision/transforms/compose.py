"""Compose and RandomApply, and their hybrid versions.

Images on the host are transformed directly (see `host`); other inputs go through the blocks, where
consecutive hybridizable transforms form one graph.
"""

import random
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, Self

import numpy as np

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.tracebacks import shorten
from gluonish.core.versions import Version
from gluonish.gluon.block import Block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.data.vision.transforms.host import DirectBlock, Flow, runs_on_host, with_others
from gluonish.gluon.data.vision.transforms.tensor import Normalize, ToTensor
from gluonish.gluon.nn import HybridSequential, Lambda, Sequential
from gluonish.gluon.nn.tensor import Tensor

Transform = Block | Callable[..., Any]


class Compose(DirectBlock, Sequential):
    """Apply transforms one after the other.

    Consecutive hybridizable transforms are run as one graph.

    Args:
        transforms: List of Blocks or functions.

    Inputs:
        x: input of the first transform.

    Outputs:
        y: the output of the last transform; ``x`` itself if there are none.

    Raises:
        ArgumentTypeError: A transform is not callable.
    """

    def __init__(self, transforms: Iterable[Transform]) -> None:
        super().__init__()
        self._steps: list[Block] = []
        # The containers of the steps and their versions: transforms and hooks may be added later.
        self._containers: list[tuple[Block, Version, int]] = [(self, self._version, -1)]
        run: list[HybridBlock] = []
        if not isinstance(transforms, Iterable):
            raise ArgumentTypeError(
                f"Compose: expected a list of transforms, got {type(transforms).__name__}; put it "
                "into brackets: Compose([...])"
            )
        with self.name_scope():
            for transform in transforms:
                if isinstance(transform, HybridBlock):
                    run.append(transform)
                    continue
                self._add_run(run)
                run = []
                self.add(_as_block(transform))
            self._add_run(run)

    def _add_run(self, run: list[HybridBlock]) -> None:
        if len(run) < 2:
            self.add(*run)
            return
        joined = HybridSequential()
        with joined.name_scope():
            joined.add(*run)
        joined.hybridize()
        self.add(joined)

    def _empty(self) -> Self:
        return type(self)(())

    def forward(self, x: Any, *args: Any) -> Any:
        """Apply the transforms in order.

        Args:
            x: Input of the first transform.
            *args: Its further arguments, such as a label; transforms of images return them.
        """
        if args or not (runs_on_host(x) or isinstance(x, np.ndarray)):
            return super().forward(x, *args)
        flow = Flow(x)
        self.transform_flow(flow)
        return flow.array()

    def transform_flow(self, flow: Flow) -> None:
        """Apply all transforms to an image, without intermediate NDArrays if possible."""
        for block in self._one_by_one():
            flow.apply(block)

    def _one_by_one(self) -> Sequence[Block]:
        """Return the transforms in order, including those that are joined into graphs."""
        for stack, version, number in self._containers:
            if version.number != number or (stack._hooks and stack is not self):
                break
        else:
            return self._steps
        flat: list[Block] = []
        found: list[Block] = [self]
        for stack in (self, *self._children.values()):
            stack._version.observe()
        for block in self._children.values():
            if type(block) is HybridSequential and not block._hooks:
                found.append(block)
                flat += block._children.values()
            else:
                flat.append(block)
        self._steps = _with_pairs(flat)
        self._containers = [(stack, stack._version, stack._version.number) for stack in found]
        return self._steps


class _ToNormalized(DirectBlock):
    """Applies `ToTensor` and `Normalize` in one pass over the image."""

    def __init__(self, to_tensor: ToTensor, normalize: Normalize) -> None:
        super().__init__()
        self.to_tensor, self.normalize = to_tensor, normalize

    def transform_flow(self, flow: Flow) -> None:
        """Transform an image."""
        values = flow.values()
        if values is None or self.to_tensor._hooks or self.normalize._hooks:
            flow.apply(self.to_tensor)
            flow.apply(self.normalize)
        else:
            flow.replace(self.normalize.after_to_tensor(values))


def _with_pairs(blocks: Sequence[Block]) -> list[Block]:
    """Fuse each pair of `ToTensor` and `Normalize`."""
    made: list[Block] = []
    for block in blocks:
        if made and type(made[-1]) is ToTensor and type(block) is Normalize:
            made[-1] = _ToNormalized(made[-1], block)
        else:
            made.append(block)
    return made


def _as_block(transform: Transform) -> Block:
    if isinstance(transform, Block):
        return transform
    if isinstance(transform, type) and issubclass(transform, Block):
        name = transform.__name__
        raise ArgumentTypeError(
            f"Compose: expected Blocks or functions, got the class {name}; create it: {name}()"
        )
    if not callable(transform):
        raise ArgumentTypeError(
            f"Compose: expected Blocks or functions, got {type(transform).__name__}"
        )
    return Lambda(transform)


class RandomApply(DirectBlock, Sequential):
    """Apply a transform with a given probability, drawn from Python's `random`.

    Args:
        transforms: A transform, or a list of transforms; either all are applied or none.
        p: The probability.

    Inputs:
        x: input of the transform.

    Outputs:
        y: the output of the transform, or ``x`` itself.

    Raises:
        ArgumentTypeError: A transform is not callable.
    """

    def __init__(self, transforms: Transform | Sequence[Transform], p: float = 0.5) -> None:
        super().__init__()
        self.transforms: Transform
        if isinstance(transforms, Block) or callable(transforms):
            self.transforms = transforms
        else:
            self.transforms = Compose(transforms)
        self.p = p

    def transform_flow(self, flow: Flow) -> None:
        """Apply the transform to an image with the given probability."""
        if self.p >= random.random():
            flow.apply(_as_block(self.transforms))

    def forward(self, x: Any, *args: Any) -> Any:
        """Apply the transforms with the given probability; otherwise return the input unchanged.

        Args:
            x: Input of the first transform.
            *args: Its further arguments, such as a label.
        """
        if self.p < random.random():
            return with_others(x, args)
        return self.transforms(x, *args)

    def __repr__(self) -> str:
        return Block.__repr__(self)


class HybridCompose(DirectBlock, HybridSequential):
    """Apply hybridizable transforms one after the other, as one graph.

    Args:
        transforms: HybridBlocks.

    Inputs:
        x: input of the first transform.

    Outputs:
        y: the output of the last transform; ``x`` itself if there are none.

    Raises:
        ArgumentTypeError: A transform is not a HybridBlock.
    """

    def __init__(self, transforms: Iterable[HybridBlock]) -> None:
        super().__init__()
        with self.name_scope():
            self.add(*transforms)
        self.hybridize()

    def _empty(self) -> Self:
        return type(self)(())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply all transforms, on the host without intermediate NDArrays if possible."""
        try:
            if len(args) == 1 and not kwargs and self._is_direct and runs_on_host(args[0]):
                flow = Flow(args[0])
                flow.apply(self)
                return flow.array()
            return super().__call__(*args, **kwargs)
        except Exception as error:
            shorten(error, sys._getframe(1))
            raise

    def transform_flow(self, flow: Flow) -> None:
        """Apply all transforms to an image, without intermediate NDArrays if possible."""
        for block in _with_pairs(list(self._children.values())):
            flow.apply(block)


class HybridRandomApply(HybridSequential):
    """Apply a hybridizable transform with a probability, drawn from gluonish's generator.

    Args:
        transforms: The transform; it must preserve shape and dtype.
        p: The probability.

    Inputs:
        x: (height, width, channels), input of the transform.

    Outputs:
        y: the output of the transform, or ``x``.

    Raises:
        ArgumentTypeError: The transform is not a HybridBlock.
    """

    def __init__(self, transforms: HybridBlock, p: float = 0.5) -> None:
        super().__init__()
        if not isinstance(transforms, HybridBlock):
            raise ArgumentTypeError(
                "HybridRandomApply: expected a HybridBlock, got "
                f"{type(transforms).__name__}; put several into HybridCompose"
            )
        self.transforms = transforms
        self.p = p

    def hybrid_forward(self, F: ModuleType, x: Tensor) -> Any:  # type: ignore[override]  # one input
        """Apply the transform with the given probability; otherwise return the input unchanged.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            x: (height, width, channels).
        """
        drawn = F.random.uniform(shape=(1, 1, 1)) < self.p
        return F.where(F.broadcast_like(drawn, x), self.transforms(x), x)

    def __repr__(self) -> str:
        return Block.__repr__(self)
