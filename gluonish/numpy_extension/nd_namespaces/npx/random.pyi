# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.numpy.views import module_view as module_view
from gluonish.numpy_extension import random as random
from gluonish.numpy_extension.random import bernoulli as bernoulli
from gluonish.numpy_extension.random import categorical as categorical
from gluonish.numpy_extension.random import normal_n as normal_n
from gluonish.numpy_extension.random import scalar_poisson as scalar_poisson
from gluonish.numpy_extension.random import seed as seed
from gluonish.numpy_extension.random import uniform_n as uniform_n


