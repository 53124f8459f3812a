"""`mx.contrib.onnx`: ONNX files, read and written."""

from gluonish.contrib.onnx import onnx2mx
from gluonish.onnx.importing import get_model_metadata, import_model, import_to_gluon
from gluonish.onnx.mx2onnx import export_model

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon", "onnx2mx"]
