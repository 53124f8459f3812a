"""_image_resize and _cvimresize: resize images."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.image.pixel_math import check_image, check_images
from gluonish.ops.image.resampling import check_resampling, resample
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.dtype_rules import complete_same_dtype


def _new_size(shape: Shape, size: Shape, keep_ratio: bool) -> tuple[int, int]:
    """Return the new height and width."""
    if len(size) not in (1, 2) or min(size) < 1:
        raise OperatorError(
            f"_image_resize: expected a size of 1 or 2 numbers of at least 1, got {size}"
        )
    if len(size) == 2:
        return size[1], size[0]
    if not keep_ratio:
        return size[0], size[0]
    tall, wide = shape[-3:-1]
    if not tall or not wide:
        raise OperatorError(f"_image_resize: expected a nonempty image, got {shape}")
    return (tall * size[0] // wide, size[0]) if tall > wide else (size[0], wide * size[0] // tall)


def _infer(data: Spec, *, size: Shape, keep_ratio: bool, interp: int) -> tuple[Spec]:
    check_images("_image_resize", data)
    height, width = _new_size(data.shape, size, keep_ratio)
    check_resampling("_image_resize", data, height, width, interp)
    return (Spec((*data.shape[:-3], height, width, data.shape[-1]), data.dtype),)


def _kernel(
    xp: ModuleType, out: Any, data: Any, *, size: Shape, keep_ratio: bool, interp: int
) -> None:
    if data.ndim == 3:
        resample(xp, out, data, interp)
        return
    for resized, image in zip(out, data, strict=True):
        resample(xp, resized, image, interp)


RESIZE = register(
    Operator(
        "_image_resize",
        _infer,
        _kernel,
        None,
        doc=(
            "Resize an image, or each image of a batch.\n\n"
            "size is (width, height), or one number for both; with keep_ratio one number is the\n"
            "length of the shorter side. interp is 0 for nearest neighbor, 1 bilinear, 2\n"
            "bicubic, 3 area (the mean of the pixels), 4 Lanczos.\n\n"
            "Shapes: data (H, W, C) or (N, H, W, C), output with H and W from size, in pixels."
        ),
        schema=Schema(size=shape_attr(()), keep_ratio=boolean(False), interp=integer(1)),
        aliases=("_npx__image_resize",),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=complete_same_dtype),
    )
)


def _cv_infer(src: Spec, *, w: int, h: int, interp: int) -> tuple[Spec]:
    check_image("_cvimresize", src)
    check_resampling("_cvimresize", src, h, w, interp)
    return (Spec((h, w, src.shape[2]), src.dtype),)


def _cv_kernel(xp: ModuleType, out: Any, src: Any, *, w: int, h: int, interp: int) -> None:
    resample(xp, out, src, interp)


CV_RESIZE = register(
    Operator(
        "_cvimresize",
        _cv_infer,
        _cv_kernel,
        None,
        doc=(
            "Resize an image to width w and height h; interp is as in _image_resize.\n\n"
            "Shapes: src (height, width, channels), output (h, w, channels), in pixels."
        ),
        inputs=("src",),
        schema=Schema(w=integer(), h=integer(), interp=integer(1)),
        aliases=("_npi_cvimresize",),
        execution=Execution(heavy=True),
        shapes=ShapeFacts(complete=complete_same_dtype),
    )
)
