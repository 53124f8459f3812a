"""NumPy's global generator, which tests of MXNet programs seed with ``np.random.seed``."""

import numpy as np

__all__ = ["normal", "permutation", "rand", "randint", "randn", "uniform"]

normal = np.random.normal
permutation = np.random.permutation
rand = np.random.rand
randint = np.random.randint
randn = np.random.randn
uniform = np.random.uniform
