"""Parameters of networks: one weight, a constant, and the dict that a Block keeps them in."""

from gluonish.core.errors import DeferredInitializationError
from gluonish.parameter.arguments import shape_is_known
from gluonish.parameter.parameter import Constant, Parameter, tensor_types
from gluonish.parameter.parameter_dict import ParameterDict
from gluonish.parameter.places import is_placed, note_place, path_of

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
