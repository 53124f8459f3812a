"""`mx.contrib.onnx.onnx2mx`: reading ONNX files, which is not there yet."""

from gluonish.contrib.later import later

__all__ = ["get_model_metadata", "import_model", "import_to_gluon"]

_FILES = "until then read MXNet's own files, with SymbolBlock.imports or sym.load and nd.load"

get_model_metadata = later("contrib.onnx.get_model_metadata", _FILES)
import_model = later("contrib.onnx.import_model", _FILES)
import_to_gluon = later("contrib.onnx.import_to_gluon", _FILES)
