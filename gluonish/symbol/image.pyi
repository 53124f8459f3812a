# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.ops.frontend import prefixed as prefixed
from gluonish.symbol.namespace import make_operator_function as make_operator_function
from gluonish.symbol.symbol import Symbol


def adjust_lighting(
    data: Symbol | None = None,
    alpha: float | Sequence[float] = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add light to an image: alpha of each principal color component of ImageNet (PCA lighting)."""
def crop(
    data: Symbol | None = None,
    x: int = ...,
    y: int = ...,
    width: int = ...,
    height: int = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Crop an image, or each image of a batch, to width and height, with the upper left corner at
    column x and row y."""
def flip_left_right(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image left to right."""
def flip_top_bottom(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image top to bottom."""
def normalize(
    data: Symbol | None = None,
    mean: float | Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    std: float | Sequence[float] = (1.0, 1.0, 1.0, 1.0),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute (data - mean) / std of an image, or of a batch of images."""
def random_brightness(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the brightness of an image: multiply it by a random factor from min_factor to
    max_factor."""
def random_color_jitter(
    data: Symbol | None = None,
    brightness: float = ...,
    contrast: float = ...,
    saturation: float = ...,
    hue: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the brightness, contrast, saturation and hue of an image by at most these amounts, in
    random order."""
def random_contrast(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the contrast of an image: multiply its difference from its mean gray by a random
    factor from min_factor to max_factor."""
def random_flip_left_right(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image left to right with probability 1/2."""
def random_flip_top_bottom(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Flip an image top to bottom with probability 1/2."""
def random_hue(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the hue of an image: add to it, as a fraction of the color circle, a random number
    from min_factor to max_factor."""
def random_lighting(
    data: Symbol | None = None,
    alpha_std: float = 0.05,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Add random light to an image, along the principal color components of ImageNet (PCA
    lighting)."""
def random_saturation(
    data: Symbol | None = None,
    min_factor: float = ...,
    max_factor: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Change the saturation of an image: multiply its difference from gray by a random factor from
    min_factor to max_factor."""
def resize(
    data: Symbol | None = None,
    size: int | Sequence[int] = (),
    keep_ratio: bool | int = False,
    interp: int = 1,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Resize an image, or each image of a batch."""
def to_tensor(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert an image (height, width, channels) with values 0 to 255 to float32 (channels, height,
    width) with values 0 to 1."""
