# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.numpy.views import operator_view as operator_view
from gluonish.numpy_extension.operators import IMAGE_NAMES as IMAGE_NAMES
from gluonish.symbol.numpy_symbol import NumpySymbol
from gluonish.symbol.numpy_symbol import make_np_function as make_np_function


def adjust_lighting(
    data: NumpySymbol | None = None,
    alpha: float | Sequence[float] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def crop(
    data: NumpySymbol | None = None,
    x: int = ...,
    y: int = ...,
    width: int = ...,
    height: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def flip_left_right(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Flip an image left to right."""
def flip_top_bottom(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Flip an image top to bottom."""
def normalize(
    data: NumpySymbol | None = None,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def random_brightness(
    data: NumpySymbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def random_color_jitter(
    data: NumpySymbol | None = None,
    brightness: float = ...,
    contrast: float = ...,
    saturation: float = ...,
    hue: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def random_contrast(
    data: NumpySymbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def random_flip_left_right(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Flip an image left to right with probability 1/2."""
def random_flip_top_bottom(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Flip an image top to bottom with probability 1/2."""
def random_hue(
    data: NumpySymbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def random_lighting(
    data: NumpySymbol | None = None,
    alpha_std: float = 0.05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def random_saturation(
    data: NumpySymbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def resize(
    data: NumpySymbol | None = None,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Resize an image, or each image of a batch."""
def to_tensor(
    data: NumpySymbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> NumpySymbol:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
