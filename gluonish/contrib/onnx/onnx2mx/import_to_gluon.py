"""`mx.contrib.onnx.onnx2mx.import_to_gluon`: read an ONNX file as a network."""

from gluonish.contrib.onnx.onnx2mx.import_onnx import GraphProto
from gluonish.onnx.importing import import_to_gluon

__all__ = ["GraphProto", "import_to_gluon"]
