"""Small networks of timm's families, for the script that made timm_networks.npz and for tests."""

from typing import Any

import numpy as np

CLASSES = 5
# Of the units of a stage: kind, count, kernel, stride, expansion, channels, squeeze.
_STAGES = [
    [("separable", 2, 3, 1, 1, 8, 0.25)],
    [("plain", 2, 3, 1, 1, 8)],
    [("fused", 2, 3, 2, 2, 16)],
    [("inverted", 2, 5, 2, 4, 16, 0.25), ("inverted", 1, 3, 1, 2.5, 24)],
]
_PHONE = [
    [("separable", 1, 3, 2, 1, 8, 0.25, "relu")],
    [("inverted", 2, 5, 2, 3.67, 16, 0.25), ("inverted", 1, 3, 1, 2, 16)],
    [("plain", 1, 1, 1, 1, 24, 0.0, None, False)],
]
# Name of a network, arguments in place of its own, and the images.
CASES: dict[str, tuple[str, dict[str, Any], tuple[int, ...]]] = {
    "efficientnet": (
        "efficientnet_b0",
        {"stages": _STAGES, "stem_channels": 8, "head_channels": 32},
        (2, 3, 32, 40),
    ),
    # Of images of an odd size, whose padding differs in rows and columns.
    "tf_efficientnet": (
        "tf_efficientnet_b0",
        {"stages": _STAGES, "stem_channels": 8, "head_channels": 32},
        (2, 3, 37, 32),
    ),
    "mobilenetv3": (
        "mobilenetv3_small_100",
        {"stages": _PHONE, "stem_channels": 8, "head_channels": 32},
        (2, 3, 33, 32),
    ),
    "tf_mobilenetv3": (
        "tf_mobilenetv3_small_100",
        {"stages": _PHONE, "stem_channels": 8, "head_channels": 32},
        (2, 3, 33, 32),
    ),
    "regnetx": (
        "regnetx_002",
        {"channels": (8, 16, 32, 64), "num_layers": (1, 1, 1, 2), "group_channels": (4,) * 4},
        (2, 3, 33, 32),
    ),
    "regnety": (
        "regnety_002",
        {"channels": (8, 16, 32, 64), "num_layers": (1, 1, 1, 2), "group_channels": (4,) * 4},
        (2, 3, 32, 32),
    ),
    "convnext": (
        "convnext_tiny",
        {"channels": (8, 16, 24, 32), "num_layers": (1, 2, 1, 1)},
        (2, 3, 32, 40),
    ),
    "swin": (
        "swin_tiny_patch4_window7_224",
        {
            "image_size": (32, 64),
            "units": 8,
            "num_layers": (2, 2),
            "num_heads": (2, 4),
            "window_size": 4,
        },
        (2, 3, 32, 64),
    ),
    # Of maps that are no whole number of windows, of odd size, and smaller than a window.
    "swin_padded": (
        "swin_tiny_patch4_window7_224",
        {
            "image_size": (36, 52),
            "units": 8,
            "num_layers": (2, 2, 2),
            "num_heads": (2, 4, 2),
            "window_size": 4,
        },
        (2, 3, 36, 52),
    ),
}


def images(shape: tuple[int, ...]) -> Any:
    """Return seeded images, float32."""
    generator = np.random.Generator(np.random.PCG64(5))
    return generator.standard_normal(shape, np.float32)


def pattern(values: Any) -> Any:
    """Return cos(0, 1, 2, ...) in the shape of an array."""
    return np.cos(np.arange(values.size, dtype=np.float64)).reshape(values.shape)


def summary(values: Any) -> list[float]:
    """Return the product of an array with `pattern`, and its norm."""
    values = values.astype(np.float64)
    return [float((values * pattern(values)).sum()), float(np.linalg.norm(values))]
