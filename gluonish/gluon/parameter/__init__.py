"""Parameters of networks: one weight, a constant, and the dict that a Block keeps them in."""

from gluonish.core.errors import DeferredInitializationError
from gluonish.gluon.parameter.arguments import shape_is_known
from gluonish.gluon.parameter.parameter import Constant, Parameter, tensor_types
from gluonish.gluon.parameter.parameter_dict import ParameterDict
from gluonish.gluon.parameter.places import is_placed, note_place, path_of

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
