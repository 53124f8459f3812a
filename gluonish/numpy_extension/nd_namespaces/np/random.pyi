# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.ndarray.random import seed as seed
from gluonish.numpy import random as random
from gluonish.numpy.random import beta as beta
from gluonish.numpy.random import chisquare as chisquare
from gluonish.numpy.random import choice as choice
from gluonish.numpy.random import exponential as exponential
from gluonish.numpy.random import f as f
from gluonish.numpy.random import gamma as gamma
from gluonish.numpy.random import gumbel as gumbel
from gluonish.numpy.random import laplace as laplace
from gluonish.numpy.random import logistic as logistic
from gluonish.numpy.random import lognormal as lognormal
from gluonish.numpy.random import multinomial as multinomial
from gluonish.numpy.random import multivariate_normal as multivariate_normal
from gluonish.numpy.random import normal as normal
from gluonish.numpy.random import pareto as pareto
from gluonish.numpy.random import power as power
from gluonish.numpy.random import rand as rand
from gluonish.numpy.random import randint as randint
from gluonish.numpy.random import randn as randn
from gluonish.numpy.random import rayleigh as rayleigh
from gluonish.numpy.random import shuffle as shuffle
from gluonish.numpy.random import uniform as uniform
from gluonish.numpy.random import weibull as weibull
from gluonish.numpy.views import module_view as module_view


