"""Weights of attention of one call of a network."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from gluonish.autograd.scopes import pause
from gluonish.core.errors import ArgumentError
from gluonish.gluon.block.block import Block
from gluonish.gluon.block.block_paths import blocks_by_path
from gluonish.gluon.nn.attention import MultiHeadAttention


def recorded_weights(net: Block, inputs: tuple[Any, ...]) -> dict[str, np.ndarray]:
    """Call a network once, and return the weights (N, H, T, S) of each attention layer by its path.

    A layer that is called several times has further entries, ``path, call 2`` and so on.

    Raises:
        ArgumentError: There is no `MultiHeadAttention` in the network, or the call reaches none.
    """
    paths = {
        id(block): path or block.name
        for path, block in blocks_by_path(net)
        if isinstance(block, MultiHeadAttention)
    }
    if not paths:
        raise ArgumentError(
            "view_attention: expected a network with layers MultiHeadAttention, got "
            f"{type(net).__name__} without one"
        )
    found: dict[str, np.ndarray] = {}

    def record(layer: Any, given: tuple[Any, ...]) -> None:
        path = paths[id(layer)]
        earlier = sum(name.partition(", call ")[0] == path for name in found)
        name = f"{path}, call {earlier + 1}" if earlier else path
        found[name] = layer.attention_weights(*given).asnumpy()

    with ExitStack() as stack:
        stack.enter_context(_imperatively(net))
        stack.enter_context(pause(train_mode=False))
        for _, block in blocks_by_path(net):
            if id(block) in paths:
                stack.enter_context(block.register_forward_pre_hook(record))
        net(*inputs)
    if not found:
        raise ArgumentError(
            f"view_attention: expected a call that reaches an attention layer, got one of "
            f"{type(net).__name__} without"
        )
    return found


@contextmanager
def _imperatively(net: Block) -> Iterator[None]:
    """Have a network call its layers one by one, also where it is hybridized; its graphs stay."""
    active = [block for _, block in blocks_by_path(net) if getattr(block, "_active", False)]
    for block in active:
        block._active = False
    try:
        yield
    finally:
        for block in active:
            block._active = True
