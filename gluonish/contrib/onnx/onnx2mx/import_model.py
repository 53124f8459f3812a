"""`mx.contrib.onnx.onnx2mx.import_model`: an ONNX file as a Symbol, and what it says of itself."""

from gluonish.onnx.importing import get_model_metadata, import_model

__all__ = ["get_model_metadata", "import_model"]
