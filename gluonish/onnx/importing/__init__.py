"""Import of ONNX files."""

from gluonish.onnx.importing.api import get_model_metadata, import_model, import_to_gluon

__all__ = ["get_model_metadata", "import_model", "import_to_gluon"]
