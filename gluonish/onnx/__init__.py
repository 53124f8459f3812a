"""`mx.onnx`: ONNX files."""

from gluonish.onnx import mx2onnx
from gluonish.onnx.mx2onnx import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support", "mx2onnx"]
