"""OpenCV, which is optional: Pillow decodes and encodes without it, NumPy resamples."""

from typing import Any

from gluonish.core.optional import IMPORT_FAILURES

__all__ = ["open_cv"]


def open_cv() -> Any:
    """Return the module ``cv2``, or None where it is not installed, or broken."""
    try:
        import cv2  # pyright: ignore[reportMissingImports]  # optional
    except IMPORT_FAILURES:
        return None
    return cv2
