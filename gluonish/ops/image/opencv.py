"""OpenCV, which is optional."""

from typing import Any

from gluonish.core.errors import OperatorError

__all__ = ["open_cv"]


def open_cv(name: str, purpose: str) -> Any:
    """Return the module ``cv2``.

    Args:
        name: The operator, for the error.
        purpose: What it is for.

    Raises:
        OperatorError: It is not installed.
    """
    try:
        import cv2  # pyright: ignore[reportMissingImports]  # optional
    except ImportError as error:
        raise OperatorError(
            f"{name}: expected OpenCV for {purpose}, got none; install it with "
            "pip install gluonish[image]"
        ) from error
    return cv2
