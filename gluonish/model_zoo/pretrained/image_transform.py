"""The transform that images of a published network need, of timm's and transformers' settings.

timm has them as ``pretrained_cfg``; transformers' image processors in preprocessor_config.json.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.gluon.data.vision.transforms import CenterCrop, Compose, Normalize, ToTensor
from gluonish.model_zoo.pretrained.image_resize import METHODS, AntialiasedResize

__all__ = ["PREPROCESSOR", "ImageTransform", "of_processor", "of_timm"]

PREPROCESSOR = "preprocessor_config.json"
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
# Settings of image processors without an effect on an image of three channels.
_IGNORED = frozenset({
    *("image_processor_type", "feature_extractor_type", "processor_class", "_processor_class"),
    *("do_convert_rgb", "do_reduce_labels", "default_to_square", "data_format"),
    *("return_tensors", "input_data_format", "disable_grouping", "device", "crop_pct"),
})  # fmt: skip
# Those of ConvNeXt: sides from which images are not cropped, and the share of a side otherwise.
_UNCROPPED = 384
_SHARE = 224 / 256
_SQUARE = ("height", "width")


@dataclass(frozen=True)
class ImageTransform:
    """What is done to images (H, W, 3) of uint8.

    Attributes:
        resize: Height and width, or the length of the shorter side; None to leave the size.
        crop: Height and width of the center that is cut out; None for all.
        method: One of `METHODS`.
        mean: Of each channel, of values up to 1; None for no normalization.
        std: Standard deviation of each channel.
    """

    resize: int | tuple[int, int] | None
    crop: tuple[int, int] | None
    method: str
    mean: tuple[float, ...] | None
    std: tuple[float, ...] | None

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width of the result; None if they are the image's."""
        if self.crop is not None:
            return self.crop
        return self.resize if isinstance(self.resize, tuple) else None

    def sized(self, size: tuple[int, int]) -> "ImageTransform":
        """Return a transform to another height and width, with the same share of each image."""
        if self.size in (None, size):
            return self
        if self.crop is None:
            return replace(self, resize=size)
        share = size[0] / self.crop[0]
        if isinstance(self.resize, int):
            return replace(self, resize=math.floor(self.resize * share), crop=size)
        if self.resize is not None:
            height, width = self.resize
            made = (math.floor(height * share), math.floor(width * size[1] / self.crop[1]))
            return replace(self, resize=made, crop=size)
        return replace(self, crop=size)

    def block(self) -> Compose:
        """Return the transform to inputs (3, height, width) in float32."""
        steps: list[Any] = []
        if self.resize is not None:
            steps.append(AntialiasedResize(self.resize, self.method))
        if self.crop is not None:
            steps.append(CenterCrop(self.crop[::-1]))
        steps.append(ToTensor())
        if self.mean is not None and self.std is not None:
            steps.append(Normalize(self.mean, self.std))
        return Compose(steps)

    def entries(self) -> dict[str, Any]:
        """Return the settings of preprocessor_config.json."""
        sides = isinstance(self.resize, tuple)
        kind = "ViTImageProcessor" if sides and self.crop is None else "CLIPImageProcessor"
        found: dict[str, Any] = {
            "image_processor_type": kind,
            "do_resize": self.resize is not None,
            "do_center_crop": self.crop is not None,
            "do_rescale": True,
            "rescale_factor": 1 / 255,
            "do_normalize": self.mean is not None,
            "resample": METHODS.index(self.method),
        }
        if isinstance(self.resize, tuple):
            found["size"] = dict(zip(_SQUARE, self.resize, strict=True))
        elif self.resize is not None:
            found["size"] = {"shortest_edge": self.resize}
        if self.crop is not None:
            found["crop_size"] = dict(zip(_SQUARE, self.crop, strict=True))
        if self.mean is not None and self.std is not None:
            found |= {"image_mean": list(self.mean), "image_std": list(self.std)}
        return found


def of_timm(cfg: Mapping[str, Any], source: str) -> ImageTransform:
    """Return the transform of timm's settings.

    The shorter side is resized to that of the input over ``crop_pct``; the center is cut out; and
    channels, divided by 255, are normalized by ``mean`` and ``std``. With ``crop_mode``
    ``squash`` both sides are resized.

    Args:
        cfg: The settings ``input_size``, ``crop_pct``, ``crop_mode``, ``interpolation``, ``mean``
            and ``std``; others have no effect.
        source: Name of their file in messages.

    Raises:
        FileFormatError: A setting is of another type or out of range.
        NotSupportedError: A mode or an interpolation is not supported.
    """
    found = {name: cfg.get(name) or default for name, default in _DEFAULTS.items()}
    method = _chosen(found, "interpolation", METHODS[:-1], source)
    mode = _chosen(found, "crop_mode", ("center", "squash"), source)
    channels, height, width = map(int, _numbers(found, "input_size", 3, 1, _MOST, source))
    (part,) = _numbers({"crop_pct": [found["crop_pct"]]}, "crop_pct", 1, 1e-3, 1e3, source)
    mean = _numbers(found, "mean", channels, -1e3, 1e3, source)
    std = _numbers(found, "std", channels, 1e-6, 1e3, source)
    scaled = (math.floor(height / part), math.floor(width / part))
    if mode == "center" and width != height:
        raise NotSupportedError(
            f"{source}: expected 'input_size' of a square with crop_mode 'center', got "
            f"{height}x{width}"
        )
    resize = scaled[0] if mode == "center" else scaled
    return ImageTransform(resize, (height, width), method, mean, std)


def of_processor(entries: Mapping[str, Any], source: str) -> ImageTransform:
    """Return the transform of the settings of an image processor of transformers.

    Args:
        entries: The settings.
        source: Name of their file in messages.

    Raises:
        FileFormatError: A setting is missing, of another type or out of range.
        NotSupportedError: A setting, or its value, is not supported.
    """
    kind = str(entries.get("image_processor_type") or entries.get("feature_extractor_type") or "")
    left = {name: x for name, x in entries.items() if x is not None and name not in _IGNORED}
    crops = _flag(left, "do_center_crop", kind.startswith(("CLIP", "Bit", "DeiT")), source)
    resizes = _flag(left, "do_resize", True, source)
    factor = left.pop("rescale_factor", 1 / 255)
    is_usual = isinstance(factor, int | float) and abs(factor * 255 - 1) < 1e-6
    if not _flag(left, "do_rescale", True, source) or not is_usual:
        raise NotSupportedError(
            f"{source}: expected 'do_rescale' with 'rescale_factor' 1/255, got {factor!r:.60}"
        )
    number = left.pop("resample", 2 if kind.startswith("ViT") else 3)
    if type(number) is not int or not 0 <= number < len(METHODS):
        raise NotSupportedError(
            f"{source}: expected 'resample' from 0 to {len(METHODS) - 1}, got {number!r:.60}"
        )
    is_short = kind.startswith(("CLIP", "Bit", "ConvNext"))
    resize, crop = left.pop("size", None), left.pop("crop_size", None)
    size = _extents(resize, "size", is_short, source) if resizes else None
    center = _extents(crop, "crop_size", False, source) if crops else None
    if kind.startswith("ConvNext") and isinstance(size, int):
        size, center = _of_convnext(size, entries.get("crop_pct"), source)
    assert center is None or isinstance(center, tuple)
    shortest = min(size) if isinstance(size, tuple) else size
    if center is not None and shortest is not None and max(center) > shortest:
        raise NotSupportedError(
            f"{source}: expected a 'crop_size' within 'size' {resize}, got {crop}; no images are "
            "padded"
        )
    mean = std = None
    means, stds = left.pop("image_mean", None), left.pop("image_std", None)
    if _flag(left, "do_normalize", True, source):
        mean = _numbers({"image_mean": means}, "image_mean", 3, -1e3, 1e3, source)
        std = _numbers({"image_std": stds}, "image_std", 3, 1e-6, 1e3, source)
    others = [name for name, value in left.items() if value is not False]
    if others:
        raise NotSupportedError(
            f"{source}: expected settings of an image processor that are known here, got "
            f"{others[0]!r}; remove it, if it does not matter"
        )
    return ImageTransform(size, center, METHODS[number], mean, std)


def _of_convnext(size: int, share: Any, source: str) -> tuple[Any, tuple[int, int] | None]:
    """Return what ConvNeXt's image processor resizes to, and the center that it cuts out."""
    if size >= _UNCROPPED:
        return (size, size), None
    given = {"crop_pct": [_SHARE if share is None else share]}
    (part,) = _numbers(given, "crop_pct", 1, 1e-3, 1, source)
    return int(size / part), (size, size)


def _flag(left: dict[str, Any], name: str, default: bool, source: str) -> bool:
    value = left.pop(name, default)
    if not isinstance(value, bool):
        raise FileFormatError(f"{source}: expected {name!r} of type bool, got {value!r:.60}")
    return value


def _extents(given: Any, name: str, is_short: bool, source: str) -> int | tuple[int, int]:
    """Return height and width, or the length of the shorter side.

    Raises:
        FileFormatError: They are neither.
    """
    values: list[Any] = [given]
    if isinstance(given, Mapping):
        known = {key: value for key, value in given.items() if value is not None}
        is_short = known.keys() == {"shortest_edge"}
        values = [known.get(key) for key in (("shortest_edge",) if is_short else _SQUARE)]
        if not is_short and known.keys() != set(_SQUARE):
            values = []
    if not values or not all(type(x) is int and 1 <= x <= _MOST for x in values):
        raise FileFormatError(
            f"{source}: expected {name!r} with height and width, or shortest_edge, from 1 to "
            f"{_MOST}, got {given!r:.60}"
        )
    if is_short and name == "crop_size":
        is_short = False  # a square
    return values[0] if is_short else (values[0], values[-1])


def _chosen(found: Mapping[str, Any], name: str, known: Any, source: str) -> Any:
    value = found[name]
    if not isinstance(value, str) or value not in known:
        raise NotSupportedError(
            f"{source}: expected {name!r} among {', '.join(known)}, got {value!r:.60}"
        )
    return value


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
