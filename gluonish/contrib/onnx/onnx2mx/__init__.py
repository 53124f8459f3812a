"""`mx.contrib.onnx.onnx2mx`: reading ONNX files, under the names of MXNet's modules."""

from gluonish.contrib.onnx.onnx2mx import import_model, import_onnx, import_to_gluon

__all__ = ["import_model", "import_onnx", "import_to_gluon"]
