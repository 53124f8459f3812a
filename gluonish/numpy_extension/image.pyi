# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Sequence
from gluonish.numpy.array import ndarray
from gluonish.numpy.views import operator_view as operator_view
from gluonish.numpy_extension.operators import IMAGE_NAMES as IMAGE_NAMES
from gluonish.numpy_extension.operators import make_function as make_function
from gluonish.numpy_extension.random_crops import random_crop as random_crop
from gluonish.numpy_extension.random_crops import random_resized_crop as random_resized_crop

__all__ = [
    "random_crop",
    "random_resized_crop",
]

def adjust_lighting(
    data: ndarray,
    alpha: float | Sequence[float],
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def crop(
    data: ndarray,
    x: int,
    y: int,
    width: int,
    height: int,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def flip_left_right(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Flip an image left to right."""
def flip_top_bottom(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Flip an image top to bottom."""
def normalize(
    data: ndarray,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def random_brightness(
    data: ndarray,
    min_factor: float,
    max_factor: float,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def random_color_jitter(
    data: ndarray,
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def random_contrast(
    data: ndarray,
    min_factor: float,
    max_factor: float,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def random_flip_left_right(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Flip an image left to right with probability 1/2."""
def random_flip_top_bottom(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Flip an image top to bottom with probability 1/2."""
def random_hue(
    data: ndarray,
    min_factor: float,
    max_factor: float,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def random_lighting(
    data: ndarray,
    alpha_std: float = 0.05,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def random_saturation(
    data: ndarray,
    min_factor: float,
    max_factor: float,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def resize(
    data: ndarray,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Resize an image, or each image of a batch."""
def to_tensor(
    data: ndarray,
    *,
    out: ndarray | Sequence[ndarray] | None = None,
    name: str | None = None,
) -> ndarray:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
