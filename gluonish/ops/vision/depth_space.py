"""depth_to_space and space_to_depth: rearrange channels into blocks of pixels, and back."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, apply, register
from gluonish.ops.vision.extents import check_rank


def _check(name: str, data: Spec, block: int, divided: Shape, factor: int) -> None:
    check_rank(name, "data", data, "N C H W")
    if any(extent % factor for extent in divided):
        raise OperatorError(
            f"{name}: expected sizes {divided} of data {data.shape} divisible by {factor} for "
            f"block_size={block}"
        )


def _to_space_infer(data: Spec, *, block_size: int) -> tuple[Spec]:
    name, block = "depth_to_space", block_size
    _check(name, data, block, data.shape[1:2], block * block)
    batch, channels, height, width = data.shape
    return (Spec((batch, channels // block**2, height * block, width * block), data.dtype),)


def _to_depth_infer(data: Spec, *, block_size: int) -> tuple[Spec]:
    name, block = "space_to_depth", block_size
    _check(name, data, block, data.shape[2:], block)
    batch, channels, height, width = data.shape
    return (Spec((batch, channels * block**2, height // block, width // block), data.dtype),)


def _blocks(fine: Any, block: int) -> Any:
    """Return the view (N, row in block, column in block, C, H, W) of an image with blocks."""
    batch, channels, height, width = fine.shape
    split = fine.reshape(batch, channels, height // block, block, width // block, block)
    return split.transpose(0, 3, 5, 1, 2, 4)


def _to_space(xp: ModuleType, out: Any, data: Any, *, block_size: int) -> None:
    view = _blocks(out, block_size)
    view[...] = data.reshape(view.shape)


def _to_depth(xp: ModuleType, out: Any, data: Any, *, block_size: int) -> None:
    blocks = _blocks(data, block_size)
    out.reshape(blocks.shape)[...] = blocks


DEPTH_TO_SPACE = register(
    Operator(
        "depth_to_space",
        _to_space_infer,
        _to_space,
        lambda g, data, **attrs: (lambda: apply(SPACE_TO_DEPTH, (g,), attrs),),
        doc=(
            "Rearrange channels into blocks of pixels.\n\n"
            "data (N, C * b * b, H, W) becomes (N, C, H * b, W * b), where b is block_size.\n"
            "Channel (i * b + j) * C + c becomes the pixel in row i and column j of each block\n"
            "of channel c.\n\n"
            "Shapes: data (N, C * b * b, H, W), output (N, C, H * b, W * b)."
        ),
        schema=Schema(block_size=integer(low=1)),
        execution=Execution(copies_only=True),
    )
)

SPACE_TO_DEPTH: Operator = register(
    Operator(
        "space_to_depth",
        _to_depth_infer,
        _to_depth,
        lambda g, data, **attrs: (lambda: apply(DEPTH_TO_SPACE, (g,), attrs),),
        doc=(
            "Rearrange blocks of pixels into channels: the inverse of depth_to_space.\n\n"
            "data (N, C, H * b, W * b) becomes (N, C * b * b, H, W), where b is block_size.\n\n"
            "Shapes: data (N, C, H * b, W * b), output (N, C * b * b, H, W)."
        ),
        schema=Schema(block_size=integer(low=1)),
        execution=Execution(copies_only=True),
    )
)
