"""Writing ONNX files: the arguments, the walk over the graph, a translator for each operator."""

from gluonish.onnx.exporting.call import translators
from gluonish.onnx.exporting.model import opset_of, write_model

__all__ = ["opset_of", "translators", "write_model"]
