"""``nd.image``: transformations of images."""

from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.frontend import prefixed

__getattr__, __dir__ = prefixed("_image_", __name__, make_operator_function)
