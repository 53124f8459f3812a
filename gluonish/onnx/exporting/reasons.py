"""Why an operator has no translation, and what to do instead."""

from gluonish.onnx.exporting.inexpressible import REASONS

__all__ = ["reason_for"]


def reason_for(op: str) -> str:
    """Return why an operator cannot be written, to be read after its name."""
    found = REASONS.get(op)
    return found or "ONNX has no operator for it; compute it outside of the exported network"
