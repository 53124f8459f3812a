"""``nd.np.random``: ``mx.np.random``."""

from gluonish.numpy import random
from gluonish.numpy.views import module_view

__getattr__, __dir__ = module_view(random, __name__)
