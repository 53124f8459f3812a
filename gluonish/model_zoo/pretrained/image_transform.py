"""The transform of images that a network of timm was trained with, by its ``pretrained_cfg``."""

import math
from collections.abc import Mapping
from typing import Any

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.gluon.data.vision.transforms import (
    CenterCrop,
    Compose,
    Normalize,
    Resize,
    ToTensor,
)

__all__ = ["image_transform"]

_METHODS = {"nearest": 0, "bilinear": 1, "bicubic": 2, "box": 3, "lanczos": 4}
_MOST = 1 << 14  # pixels of a side
# What timm takes where settings are missing.
_DEFAULTS: Mapping[str, Any] = {
    "input_size": (3, 224, 224),
    "crop_pct": 0.875,
    "crop_mode": "center",
    "interpolation": "bicubic",
    "mean": (0.485, 0.456, 0.406),
    "std": (0.229, 0.224, 0.225),
}


def image_transform(cfg: Mapping[str, Any], source: str) -> Compose:
    """Return the transform from images (H, W, 3) of uint8 to inputs (3, height, width).

    The shorter side is resized to that of the input over ``crop_pct``; the center is cut out; and
    channels, divided by 255, are normalized by ``mean`` and ``std``. With ``crop_mode``
    ``squash`` both sides are resized. Where images shrink, `Resize` takes fewer pixels into account
    than Pillow, which timm uses, so that values differ somewhat.

    Args:
        cfg: The settings ``input_size``, ``crop_pct``, ``crop_mode``, ``interpolation``, ``mean``
            and ``std``; others have no effect.
        source: Name of their file in messages.

    Raises:
        FileFormatError: A setting is of another type or out of range.
        NotSupportedError: A mode or an interpolation is not supported.
    """
    found = {name: cfg.get(name) or default for name, default in _DEFAULTS.items()}
    method = _chosen(found, "interpolation", _METHODS, source)
    mode = _chosen(found, "crop_mode", {"center": "center", "squash": "squash"}, source)
    channels, height, width = _numbers(found, "input_size", 3, 1, _MOST, source)
    (part,) = _numbers({"crop_pct": [found["crop_pct"]]}, "crop_pct", 1, 1e-3, 1e3, source)
    mean = _numbers(found, "mean", int(channels), -1e3, 1e3, source)
    std = _numbers(found, "std", int(channels), 1e-6, 1e3, source)
    scaled = (math.floor(width / part), math.floor(height / part))
    if mode == "center" and width == height:
        resize = Resize(scaled[0], keep_ratio=True, interpolation=method)
    elif mode == "squash":
        resize = Resize(scaled, interpolation=method)
    else:
        raise NotSupportedError(
            f"{source}: expected 'input_size' of a square with crop_mode 'center', got "
            f"{height}x{width}"
        )
    crop = CenterCrop((int(width), int(height)), interpolation=method)
    return Compose([resize, crop, ToTensor(), Normalize(mean, std)])


def _chosen(found: Mapping[str, Any], name: str, known: Mapping[str, Any], source: str) -> Any:
    value = found[name]
    if not isinstance(value, str) or value not in known:
        raise NotSupportedError(
            f"{source}: expected {name!r} among {', '.join(known)}, got {value!r:.60}"
        )
    return known[value]


def _numbers(
    found: Mapping[str, Any], name: str, count: int, least: float, most: float, source: str
) -> tuple[Any, ...]:
    values = found[name]
    good = isinstance(values, list | tuple) and len(values) == count
    if not good or not all(
        isinstance(x, int | float) and not isinstance(x, bool) and least <= x <= most
        for x in values
    ):
        raise FileFormatError(
            f"{source}: expected {name!r} to be {count} numbers from {least} to {most}, got "
            f"{values!r:.60}"
        )
    return tuple(values)
