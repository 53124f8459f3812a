"""Parameter, Constant, and the ParameterDict of a Block."""

from gluonish.core.errors import DeferredInitializationError
from gluonish.gluon.parameter.arguments import shape_is_known
from gluonish.gluon.parameter.parameter import Constant, Parameter, tensor_types
from gluonish.gluon.parameter.parameter_dict import ParameterDict
from gluonish.gluon.parameter.paths import is_registered, path_of, register_path

__all__ = [
    "Constant",
    "DeferredInitializationError",
    "Parameter",
    "ParameterDict",
    "is_registered",
    "path_of",
    "register_path",
    "shape_is_known",
    "tensor_types",
]
