"""``sym.image``: transformations of images."""

from gluonish.ops.frontend import prefixed
from gluonish.symbol.namespace import make_operator_function

__getattr__, __dir__ = prefixed("_image_", __name__, make_operator_function)
