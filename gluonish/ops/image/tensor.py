"""_image_to_tensor and _image_normalize: convert uint8 images to network inputs."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, numbers
from gluonish.core.spec import PartialSpec, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.facts import ShapeFacts
from gluonish.ops.image.pixel_math import check_images, store
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.shape.transpose import transpose
from gluonish.ops.support.precision import as_real


def _tensor_infer(data: Spec) -> tuple[Spec]:
    shape = check_images("_image_to_tensor", data).shape
    return (Spec((*shape[:-3], shape[-1], *shape[-3:-1]), FLOAT32),)


def _tensor_kernel(xp: ModuleType, out: Any, data: Any) -> None:
    out[...] = xp.moveaxis(data, -1, -3)
    out /= 255


def _tensor_gradient(g: V, data: Any) -> tuple[Any]:
    axes = (1, 2, 0) if len(data.shape) == 3 else (0, 2, 3, 1)
    return (cast(transpose(g, axes) * (1 / 255), data.dtype),)


def _tensor_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], _attrs: Attrs) -> None:
    outputs[0] = PartialSpec(outputs[0].shape, FLOAT32)


TO_TENSOR = register(
    Operator(
        "_image_to_tensor",
        _tensor_infer,
        _tensor_kernel,
        _tensor_gradient,
        doc=(
            "Convert an image (height, width, channels) with values 0 to 255 to float32\n"
            "(channels, height, width) with values 0 to 1.\n\n"
            "A batch of images is also supported.\n\n"
            "Shapes: data (H, W, C), output (C, H, W); data (N, H, W, C), output (N, C, H, W)."
        ),
        aliases=("_npx__image_to_tensor",),
        shapes=ShapeFacts(complete=_tensor_complete),
    )
)


def _order(shape: tuple[int, ...]) -> str:
    """Return advice for images with the channels last."""
    return (
        "; ToTensor, which moves the channels first, comes before it" if shape[-1] in (1, 3) else ""
    )


def _normalize_infer(data: Spec, *, mean: tuple[float, ...], std: tuple[float, ...]) -> tuple[Spec]:
    check_images("_image_normalize", data)
    channels = data.shape[-3]
    if channels not in (1, 3):
        raise OperatorError(
            "_image_normalize: expected data (channels, height, width) of 1 or 3 channels, "
            f"got {data.shape}{_order(data.shape)}"
        )
    for name, values in (("mean", mean), ("std", std)):
        if len(values) not in (1, channels):
            raise OperatorError(
                f"_image_normalize: expected {name} of 1 or {channels} numbers, got {values}"
            )
    return (data,)


def _column(xp: ModuleType, numbers_: tuple[float, ...], dtype: Any) -> Any:
    return xp.asarray(numbers_, dtype=dtype).reshape(-1, 1, 1)


def _normalize_kernel(
    xp: ModuleType, out: Any, data: Any, *, mean: tuple[float, ...], std: tuple[float, ...]
) -> None:
    real = as_real(xp, data)
    scaled = (real - _column(xp, mean, real.dtype)) / _column(xp, std, real.dtype)
    store(xp, out, scaled)


def _normalize_gradient(
    g: V, data: V, *, mean: tuple[float, ...], std: tuple[float, ...]
) -> tuple[Any]:
    return (apply(NORMALIZE, (g,), {"mean": (0.0,), "std": std}),)


NORMALIZE = register(
    Operator(
        "_image_normalize",
        _normalize_infer,
        _normalize_kernel,
        _normalize_gradient,
        doc=(
            "Compute (data - mean) / std of an image, or of a batch of images.\n\n"
            "mean and std are a single number, or one for each channel.\n\n"
            "Shapes: data and output (C, H, W) or (N, C, H, W)."
        ),
        schema=Schema(
            mean=numbers((0.0, 0.0, 0.0, 0.0)),
            std=numbers((1.0, 1.0, 1.0, 1.0)),
        ),
        aliases=("_npx__image_normalize",),
    )
)
