"""``nd.np.linalg``: ``mx.np.linalg``."""

from gluonish.numpy import linalg
from gluonish.numpy.views import module_view

__getattr__, __dir__ = module_view(linalg, __name__)
