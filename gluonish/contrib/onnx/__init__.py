"""`mx.contrib.onnx`: ONNX files, read and written. Each function also has MXNet's second name."""

from gluonish.contrib.onnx import onnx2mx
from gluonish.onnx.importing import get_model_metadata, import_model, import_to_gluon
from gluonish.onnx.importing import get_model_metadata as get_model_metadata_
from gluonish.onnx.importing import import_model as import_model_
from gluonish.onnx.importing import import_to_gluon as import_to_gluon_
from gluonish.onnx.mx2onnx import export_model
from gluonish.onnx.mx2onnx import export_model as export_model_

__all__ = [
    "export_model",
    "export_model_",
    "get_model_metadata",
    "get_model_metadata_",
    "import_model",
    "import_model_",
    "import_to_gluon",
    "import_to_gluon_",
    "onnx2mx",
]
