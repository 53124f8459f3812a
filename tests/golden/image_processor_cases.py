"""Image processors of transformers, for the script that asks them and for the tests."""

from typing import Any

import numpy as np

# Class, and what differs from its settings.
PROCESSORS: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("ViTImageProcessor", {"size": {"height": 16, "width": 16}}),
    "tall": ("ViTImageProcessor", {"size": {"height": 20, "width": 12}, "resample": 1}),
    "deit": (
        "DeiTImageProcessor",
        {"size": {"height": 20, "width": 20}, "crop_size": {"height": 16, "width": 16}},
    ),
    "clip": (
        "CLIPImageProcessor",
        {"size": {"shortest_edge": 16}, "crop_size": {"height": 16, "width": 16}},
    ),
    "dinov2": (
        "BitImageProcessor",
        {"size": {"shortest_edge": 21}, "crop_size": {"height": 16, "width": 16}},
    ),
    "siglip": (
        "SiglipImageProcessor",
        {"size": {"height": 16, "width": 16}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3},
    ),
    "convnext": ("ConvNextImageProcessor", {"size": {"shortest_edge": 18}}),
    "convnext_share": ("ConvNextImageProcessor", {"size": {"shortest_edge": 16}, "crop_pct": 0.7}),
    "plain": (
        "ViTImageProcessor",
        {"size": {"height": 40, "width": 50}, "do_normalize": False, "resample": 0},
    ),
}


def image(height: int = 37, width: int = 53) -> np.ndarray[Any, Any]:
    """Return an image (height, width, 3) of smooth colors and some noise."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / 5 + i) + np.cos(y / 4 - i) for i in range(3)]
    noise = (x * 7919 + y * 104729) % 31
    made = 127 + 55 * np.stack(waves, -1) + noise[..., None] - 15
    return np.clip(made, 0, 255).astype(np.uint8)
