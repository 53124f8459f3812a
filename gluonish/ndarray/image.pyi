# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.ndarray.namespace import make_operator_function as make_operator_function
from gluonish.ndarray.ndarray import NDArray
from gluonish.ops.frontend import prefixed as prefixed


def adjust_lighting(
    data: NDArray,
    alpha: float | Sequence[float],
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def crop(
    data: NDArray,
    x: int,
    y: int,
    width: int,
    height: int,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def flip_left_right(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image left to right."""
def flip_top_bottom(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image top to bottom."""
def normalize(
    data: NDArray,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def random_brightness(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def random_color_jitter(
    data: NDArray,
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def random_contrast(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def random_flip_left_right(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image left to right with probability 1/2."""
def random_flip_top_bottom(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Flip an image top to bottom with probability 1/2."""
def random_hue(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def random_lighting(
    data: NDArray,
    alpha_std: float = 0.05,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def random_saturation(
    data: NDArray,
    min_factor: float,
    max_factor: float,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def resize(
    data: NDArray,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Resize an image, or each image of a batch."""
def to_tensor(
    data: NDArray,
    *,
    out: NDArray | Sequence[NDArray] | None = None,
    name: str | None = None,
) -> NDArray:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
