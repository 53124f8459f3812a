"""OpenCV, which is optional: Pillow decodes and encodes without it, NumPy resamples."""

from typing import Any

__all__ = ["open_cv"]


def open_cv() -> Any:
    """Return the module ``cv2``, or None where it is not installed."""
    try:
        import cv2  # pyright: ignore[reportMissingImports]  # optional
    except ImportError:
        return None
    return cv2
