"""All operators: importing this module registers every one."""

from gluonish.ops import (  # noqa: F401  # imported for what they register
    activation,
    add_n,
    arg_reduction,
    batch_norm,
    binary,
    broadcast_axis,
    broadcast_to,
    cast,
    concat,
    constant_like,
    convolution,
    creation,
    dense,
    dropout,
    embedding,
    gather_nd,
    identity,
    l2_normalization,
    layer_norm,
    leaky_relu,
    matmul,
    one_hot,
    optimizer_update,
    ordering,
    pad,
    pick,
    pointwise,
    pooling,
    random,
    reduction,
    reshape,
    reverse,
    sequence,
    slice,
    softmax,
    softmax_output,
    split,
    take,
    tile,
    transpose,
    unary,
    unary_row,
    where,
)
from gluonish.ops.registry import all_names

__all__ = ["has"]


def has(name: str) -> bool:
    """Whether an operator of this registry name or alias is there."""
    return name in all_names()
