"""The optional package onnx, imported where it is first needed."""

from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.optional import IMPORT_FAILURES

__all__ = ["onnx_package"]


def onnx_package(wanted_by: str) -> Any:
    """Return the module `onnx`.

    Args:
        wanted_by: What needs it, to begin the error message with.

    Raises:
        NotSupportedError: It is not installed.
    """
    try:
        import onnx
        import onnx.defs
        import onnx.helper
        import onnx.numpy_helper
    except IMPORT_FAILURES as error:
        raise NotSupportedError(
            f"{wanted_by}: expected the package onnx, got none ({error}); "
            "pip install 'gluonish[onnx]'"
        ) from error
    return onnx
