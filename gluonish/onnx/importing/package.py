"""The optional package onnx, imported where it is first needed."""

from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import IMPORT_FAILURES


def onnx_package(caller: str) -> Any:
    """Return the module `onnx`.

    Args:
        caller: The calling function, for the error message.

    Raises:
        NotSupportedError: The package onnx is not installed.
    """
    try:
        import onnx
        import onnx.defs
        import onnx.helper
        import onnx.numpy_helper
    except IMPORT_FAILURES as error:
        raise NotSupportedError(
            f"{caller}: expected the package onnx, got none ({error}); pip install 'gluonish[onnx]'"
        ) from error
    return onnx


def schema_of(kind: str, domain: str, version: int) -> Any:
    """Return ONNX's description of an operator (OpSchema), or None if ONNX has none.

    Args:
        kind: Name of the operator.
        domain: Domain of the operator, "" for ONNX's own.
        version: The version of the domain's operators.
    """
    defs = onnx_package(f"ONNX {kind}").defs
    if not defs.has(kind, domain):
        return None
    try:
        return defs.get_schema(kind, version, domain)
    except defs.SchemaError:
        return None
