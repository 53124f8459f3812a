"""depth_to_space and space_to_depth: rearrange channels into blocks of pixels, and back.

Crop: crop images to a size, or to the size of another image.
"""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, shape
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.pad import PAD
from gluonish.ops.vision.regions import check_rank


def _check(name: str, data: Spec, block: int, divided: Shape, factor: int) -> None:
    check_rank(name, "data", data, "N C H W")
    if any(extent % factor for extent in divided):
        raise OperatorError(
            f"{name}: expected sizes divisible by {factor} for block_size={block}, got {divided} "
            f"in data of shape {data.shape}"
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


def _begin(data: Shape, size: Shape, offset: Shape, center_crop: bool) -> Shape:
    """Return the first row and column of the window."""
    if not center_crop:
        return offset
    return tuple((extent - window) // 2 for extent, window in zip(data[2:], size, strict=True))


def _infer(
    *inputs: Spec, num_args: int, offset: Shape, h_w: Shape, center_crop: bool
) -> tuple[Spec]:
    count = len(inputs)
    if count not in (1, 2):
        raise OperatorError(f"Crop: expected 1 or 2 arrays, got {count}")
    data = inputs[0]
    for name, spec in zip(("data", "crop_like"), inputs, strict=False):
        check_rank("Crop", name, spec, "N C H W")
    size = h_w if count == 1 else inputs[1].shape[2:]
    if len(size) != 2 or min(size) < 1:
        raise OperatorError(
            f"Crop: expected h_w or a second image of at least 1 row and column, got {size}"
        )
    if len(offset) != 2:
        raise OperatorError(f"Crop: expected offset to be 2 ints, got {offset}")
    begin = _begin(data.shape, size, offset, center_crop)
    for first, window, extent in zip(begin, size, data.shape[2:], strict=True):
        if first < 0 or first + window > extent:
            raise OperatorError(
                f"Crop: expected a window inside data {data.shape}, got {size} at {begin}"
            )
    return (Spec((*data.shape[:2], *size), data.dtype),)


def _kernel(xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
    data = inputs[0]
    row, column = _begin(data.shape, out.shape[2:], attrs["offset"], attrs["center_crop"])
    out[...] = data[:, :, row : row + out.shape[2], column : column + out.shape[3]]


def _gradient(g: V, *inputs: V, **attrs: Any) -> tuple[Any, ...]:
    data = inputs[0]
    begin = _begin(data.shape, g.shape[2:], attrs["offset"], attrs["center_crop"])
    widths = [0, 0, 0, 0]
    for first, window, extent in zip(begin, g.shape[2:], data.shape[2:], strict=True):
        widths += [first, extent - first - window]
    padding = {"mode": "constant", "pad_width": tuple(widths), "constant_value": 0.0}
    return (
        lambda: apply(PAD, (g,), padding),
        *((lambda: zeros_like(inputs[1])) for _ in inputs[1:]),
    )


_OFFSET: Attribute = shape((0, 0))

CROP = register(
    Operator(
        "Crop",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Crop images at offset, or at their center with center_crop.\n\n"
            "The height and width are h_w, or the size of a second array.\n\n"
            "Shapes: data (N, C, H, W), output (N, C, *h_w), in pixels."
        ),
        schema=Schema(
            num_args=integer(low=1), offset=_OFFSET, h_w=_OFFSET, center_crop=boolean(False)
        ),
        variadic="num_args",
    )
)
