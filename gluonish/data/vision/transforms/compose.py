"""Compose and RandomApply: several transforms, and one that is sometimes left out."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from gluonish.block import Block
from gluonish.core.errors import ArgumentTypeError
from gluonish.hybrid_block import HybridBlock
from gluonish.nn import HybridSequential, Lambda, Sequential

__all__ = ["Compose", "RandomApply"]

Transform = Block | Callable[..., Any]


class Compose(Sequential):
    """Apply transforms one after the other.

    Two or more hybridizable ones that follow one another become one graph.

    Args:
        transforms: Blocks, or functions.

    Inputs:
        x: what the first transform takes.

    Outputs:
        y: what the last gives; ``x`` itself without transforms.

    Raises:
        ArgumentTypeError: A transform cannot be called.
    """

    def __init__(self, transforms: Iterable[Transform]) -> None:
        super().__init__()
        run: list[HybridBlock] = []
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


def _as_block(transform: Transform) -> Block:
    if isinstance(transform, Block):
        return transform
    if not callable(transform):
        raise ArgumentTypeError(
            f"Compose: expected Blocks or functions, got {type(transform).__name__}"
        )
    return Lambda(transform)


class RandomApply(Sequential):
    """Apply a transform with a probability, which is drawn from `random`, or none.

    Args:
        transforms: The transform, or a list of them, which are all applied or none.
        p: The probability.

    Inputs:
        x: what the transform takes.

    Outputs:
        y: what it gives, or ``x`` itself.

    Raises:
        ArgumentTypeError: A transform cannot be called.
    """

    def __init__(self, transforms: Transform | Sequence[Transform], p: float = 0.5) -> None:
        super().__init__()
        self.transforms: Transform
        if isinstance(transforms, Block) or callable(transforms):
            self.transforms = transforms
        else:
            self.transforms = Compose(transforms)
        self.p = p

    def forward(self, x: Any) -> Any:
        """Apply the transform, or give the input back."""
        if self.p < random.random():
            return x
        return self.transforms(x)

    def __repr__(self) -> str:
        return Block.__repr__(self)
