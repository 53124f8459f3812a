"""Parameters of networks: one weight, a constant, and the dict that a Block keeps them in."""

from gluonish.core.errors import DeferredInitializationError
from gluonish.parameter.constant import Constant
from gluonish.parameter.parameter import Parameter, tensor_types
from gluonish.parameter.parameter_dict import ParameterDict
from gluonish.parameter.places import is_placed, note_place, path_of
from gluonish.parameter.shapes import shape_is_known

__all__ = [
    "Constant",
    "DeferredInitializationError",
    "Parameter",
    "ParameterDict",
    "is_placed",
    "note_place",
    "path_of",
    "shape_is_known",
    "tensor_types",
]
