"""Export to ONNX files: arguments, the walk over the graph, and a translator for each operator."""

from gluonish.onnx.exporting.call import translators
from gluonish.onnx.exporting.model import opset_of, write_model

__all__ = ["opset_of", "translators", "write_model"]
