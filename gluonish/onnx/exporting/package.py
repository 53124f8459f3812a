"""What the optional package onnx knows of its operators."""

from functools import cache

from gluonish.core.errors import NotSupportedError
from gluonish.onnx.importing.package import onnx_package

__all__ = ["CannotExportError", "allowed_types", "newest_opset", "onnx_package"]


class CannotExportError(NotSupportedError):
    """One node cannot be written; the message says why, the walk adds which node it is."""


@cache
def newest_opset() -> int:
    """Return the newest opset that the installed package knows."""
    return int(onnx_package("onnx").defs.onnx_opset_version())


@cache
def allowed_types(kind: str, opset: int) -> tuple[frozenset[str], ...]:
    """Return for each input of an operator of ONNX the element types that it takes.

    Args:
        kind: The operator, of the standard domain.
        opset: In which version.

    Returns:
        Names such as ``float`` and ``int64``; the last entry holds for all inputs beyond it where
        the operator takes any number.

    Raises:
        CannotExportError: The version does not have the operator yet.
    """
    defs = onnx_package("onnx").defs
    try:
        schema = defs.get_schema(kind, opset, "")
    except defs.SchemaError:
        since = min(
            schema.since_version
            for schema in defs.get_all_schemas_with_history()
            if schema.name == kind and not schema.domain
        )
        raise CannotExportError(
            f"ONNX has {kind} from opset {since} on; give opset_version={since} or a later one"
        ) from None
    return tuple(
        frozenset(
            word.removeprefix("tensor(").removesuffix(")")
            for word in given.types
            if word.startswith("tensor(")
        )
        for given in schema.inputs
    )
