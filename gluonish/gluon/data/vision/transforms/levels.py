"""Changes of single pixels as functions of NumPy arrays (height, width, channels).

Images of bytes get exactly the values of Pillow's ``ImageOps`` and ``ImageEnhance``. Floats are in
[0, 1], and are not rounded. A fourth channel (alpha) does not change.
"""

from collections.abc import Callable

import numpy as np

from gluonish.gluon.data.vision.transforms.host import Array
from gluonish.ops.image.resampling import open_cv

_EVERY_BYTE = np.arange(256)
# Pillow's weights of red, green and blue (ITU-R 601-2), in units of 2**-16.
_GRAY_WEIGHTS = (19595, 38470, 7471)
_SMOOTH_SUM = 13  # of the kernel [[1, 1, 1], [1, 5, 1], [1, 1, 1]]


def on_colors(change: Callable[[Array], Array], values: Array) -> Array:
    """Change the color channels of an image; keep a fourth channel."""
    if values.shape[2] < 4:
        return change(values)
    out = values.copy()
    out[..., :3] = change(np.ascontiguousarray(values[..., :3]))
    return out


def inverted(values: Array) -> Array:
    """Return the negative of an image."""
    return (255 if values.dtype == np.uint8 else values.dtype.type(1)) - values


def posterized(values: Array, bits: int) -> Array:
    """Keep the ``bits`` highest bits of each byte; round floats down to ``2**bits`` levels."""
    if values.dtype == np.uint8:
        return values & np.uint8(256 - (1 << (8 - bits)))
    levels = values.dtype.type(1 << bits)
    found: Array = np.minimum(np.floor(values * levels), levels - 1) / levels
    return found


def solarized(values: Array, threshold: float) -> Array:
    """Invert values from a threshold on, which is in units of bytes, [0, 255]."""
    if threshold > 255:
        return values
    if values.dtype == np.uint8:
        above = values >= np.uint8(np.ceil(threshold))
        return values ^ np.negative(above.view(np.uint8))
    return np.where(values >= threshold / 255, 1 - values, values)


def raised(values: Array, amount: float) -> Array:
    """Add an amount, in units of bytes, to values below 128, and limit the sum to 255."""
    if values.dtype == np.uint8:
        levels = np.arange(256)
        table = np.where(levels < 128, np.minimum(levels + int(amount), 255), levels)
        return with_tables(values, [table.astype(np.uint8)])
    one = values.dtype.type(1)
    return np.where(
        values < 128 / 255, np.minimum(values + values.dtype.type(amount / 255), one), values
    )


def with_tables(values: Array, tables: list[Array]) -> Array:
    """Replace each byte by its entry in the table of its channel, or in a common table."""
    if len(tables) == 1:
        found = np.frombuffer(bytearray(values.tobytes().translate(tables[0].tobytes())), np.uint8)
        return found.reshape(values.shape)
    cv2 = open_cv()
    if cv2 is not None:
        mapped_by_cv2: Array = cv2.LUT(values, np.stack(tables, axis=-1)[None])
        return mapped_by_cv2
    out = np.empty(values.shape, np.uint8)
    for channel, table in enumerate(tables):
        mapped = values[..., channel].tobytes().translate(table.tobytes())
        out[..., channel] = np.frombuffer(mapped, np.uint8).reshape(values.shape[:2])
    return out


def _limits(values: Array) -> tuple[Array, Array]:
    """Return the minimum and maximum of each channel."""
    height, width, channels = values.shape
    rows = values.reshape(height, width * channels)
    low = rows.min(0).reshape(width, channels).min(0)
    return low, rows.max(0).reshape(width, channels).max(0)


def contrasted(values: Array) -> Array:
    """Stretch each channel to the whole range; a channel of one value does not change."""
    low, high = _limits(values)
    if values.dtype != np.uint8:
        extent = np.where(high > low, high - low, 1)
        return np.where(high > low, (values - low) / extent, values).astype(values.dtype)
    return with_tables(
        values, [_stretching(int(a), int(b)) for a, b in zip(low, high, strict=True)]
    )


def _stretching(low: int, high: int) -> Array:
    if high <= low:
        return _EVERY_BYTE.astype(np.uint8)
    scale = 255.0 / (high - low)
    found: Array = np.clip(np.trunc(_EVERY_BYTE * scale + -low * scale), 0, 255)
    return found.astype(np.uint8)


def equalized(values: Array) -> Array:
    """Equalize the histogram of each channel; floats are rounded to 256 levels first."""
    if values.dtype != np.uint8:
        levels: Array = np.rint(values * 255)
        found: Array = equalized(levels.astype(np.uint8)).astype(values.dtype)
        found /= values.dtype.type(255)
        return found
    return with_tables(values, [_equalizing(counts) for counts in _histograms(values)])


def _histograms(values: Array) -> Array:
    """Return how often each byte occurs in each of 1 or 3 channels, (channels, 256)."""
    from PIL import Image

    height, width, channels = values.shape
    image = Image.frombytes("L" if channels == 1 else "RGB", (width, height), values.tobytes())
    return np.array(image.histogram()).reshape(channels, 256)


def _equalizing(counts: Array) -> Array:
    used = counts[counts > 0]
    step = int(used.sum() - used[-1]) // 255
    if len(used) <= 1 or step == 0:
        return _EVERY_BYTE.astype(np.uint8)
    before = np.cumsum(counts) - counts
    found: Array = np.minimum((before + step // 2) // step, 255)
    return found.astype(np.uint8)


def blended(first: Array, second: Array, factor: float) -> Array:
    """Return ``first + factor (second - first)``, clipped; bytes are rounded toward zero."""
    if second.dtype != np.uint8:
        found: Array = np.clip(first + second.dtype.type(factor) * (second - first), 0, 1)
        return found
    start = first.astype(np.float32)
    mixed = np.subtract(second, start, dtype=np.float32)
    mixed *= np.float32(factor)
    mixed += start
    if not 0 <= factor <= 1:
        np.clip(mixed, 0, 255, out=mixed)
    return mixed.astype(np.uint8)


def gray_of(values: Array) -> Array:
    """Return the gray values, (height, width, 1)."""
    if values.shape[2] == 1:
        return values
    if values.dtype != np.uint8:
        red, green, blue = (values[..., channel] for channel in range(3))
        parts = [weight / 65536 for weight in _GRAY_WEIGHTS]
        return (parts[0] * red + parts[1] * green + parts[2] * blue)[..., None]
    # Below 2**24, so that float32 is exact.
    total = values.astype(np.float32) @ np.array(_GRAY_WEIGHTS, np.float32)
    total += 0x8000
    total *= np.float32(2**-16)
    return total.astype(np.uint8)[..., None]


def _blended_with_value(level: float, values: Array, factor: float) -> Array:
    if values.dtype != np.uint8:
        return blended(np.full((1, 1, 1), level, values.dtype), values, factor)
    every = _EVERY_BYTE.astype(np.uint8)
    return with_tables(values, [blended(np.array([int(level)], np.uint8), every, factor)])


def with_brightness(values: Array, factor: float) -> Array:
    """Multiply an image by a factor: 0 is black, 1 the image itself."""
    return _blended_with_value(0, values, factor)


def with_contrast(values: Array, factor: float) -> Array:
    """Scale the distance of each pixel from the mean gray level."""
    gray = gray_of(values)
    if values.dtype == np.uint8:
        return _blended_with_value(int(gray.mean(dtype=np.float64) + 0.5), values, factor)
    return _blended_with_value(float(gray.mean(dtype=np.float64)), values, factor)


def with_saturation(values: Array, factor: float) -> Array:
    """Scale the distance of each pixel from its gray value."""
    return values if values.shape[2] == 1 else blended(gray_of(values), values, factor)


def with_sharpness(values: Array, factor: float) -> Array:
    """Scale the distance of each pixel from a smoothed image: 0 is smooth, 2 sharper."""
    return blended(_smoothed(values), values, factor)


def _smoothed(values: Array) -> Array:
    """Return the weighted mean of each pixel and its 8 neighbors; pixels at the border stay."""
    height, width, channels = values.shape
    out = values.copy()
    if height < 3 or width < 3:
        return out
    whole = values.dtype == np.uint8
    rows = values.reshape(height, width * channels).astype(np.uint16 if whole else values.dtype)
    columns = rows[:-2] + rows[2:]
    columns += rows[1:-1]
    total = columns[:, : -2 * channels] + columns[:, 2 * channels :]
    total += columns[:, channels:-channels]
    total += rows[1:-1, channels:-channels] * rows.dtype.type(4)
    if whole:
        total *= np.uint16(2)
        total += np.uint16(_SMOOTH_SUM)
        total //= np.uint16(2 * _SMOOTH_SUM)
    else:
        total /= rows.dtype.type(_SMOOTH_SUM)
    out[1:-1, 1:-1] = total.reshape(height - 2, width - 2, channels)
    return out
