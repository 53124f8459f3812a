"""Operator schemas from the optional package onnx."""

from functools import cache

from gluonish.core.errors import NotSupportedError
from gluonish.onnx.importing.package import onnx_package

__all__ = ["CannotExportError", "allowed_types", "newest_opset", "onnx_package"]


class CannotExportError(NotSupportedError):
    """Raised if a node cannot be exported; the message is the reason, and `Walk` adds the node."""


@cache
def newest_opset() -> int:
    """Return the newest opset of the installed package."""
    return int(onnx_package("onnx").defs.onnx_opset_version())


@cache
def allowed_types(kind: str, opset: int) -> tuple[frozenset[str], ...]:
    """Return the element types that an ONNX operator supports, for each input.

    Args:
        kind: Name of the operator, in ONNX's standard domain.
        opset: Version of ONNX's operators.

    Returns:
        Names such as ``float`` and ``int64``; the last entry applies to all further inputs of a
        variadic operator.

    Raises:
        CannotExportError: The operator was added in a later version.
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
    # An input's own `types` cannot be read in onnx 1.20.
    named = {rule.type_param_str: rule.allowed_type_strs for rule in schema.type_constraints}
    return tuple(
        frozenset(
            word.removeprefix("tensor(").removesuffix(")")
            for word in named.get(given.type_str, [given.type_str])
            if word.startswith("tensor(")
        )
        for given in schema.inputs
    )
