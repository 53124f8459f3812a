"""`mx.contrib.onnx.onnx2mx.import_model`: read an ONNX file as a Symbol, or its metadata."""

from gluonish.onnx.importing import get_model_metadata, import_model

__all__ = ["get_model_metadata", "import_model"]
