"""``nd.npx.random``: the samplers of ``mx.npx.random``."""

from gluonish.numpy.views import module_view
from gluonish.numpy_extension import random

__getattr__, __dir__ = module_view(random, __name__)
