"""Parameters and values of distributions, of which `make_probability.py` has SciPy's results.

``CASES[name]``: keyword parameters, each a vector or a matrix of which a row belongs to a case, and
values of the same number of rows. ``PAIRS``: parameters of two distributions for a divergence.
"""

from typing import Any

import numpy as np

_LOC = [0.0, 0.5, -1.5, 3.0, 0.0, 10.0]
_SCALE = [1.0, 0.3, 2.5, 0.01, 7.0, 1.0]
_POSITIVE = [0.4, 0.02, 1.7, 0.5, 9.0, 1.3]
_SHAPE = [0.3, 1.0, 2.5, 7.0, 0.9, 40.0]
_PROB = [0.5, 0.1, 0.93, 0.02, 0.7, 0.35]
_COUNT = [0.0, 1.0, 2.0, 5.0, 3.0, 11.0]
_DF = [5.0, 0.8, 1.5, 2.5, 30.0, 100.0]
_SIMPLEX = [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [1 / 3, 1 / 3, 1 / 3]]
_ALPHA = [[1.5, 0.7, 2.0], [1.0, 1.0, 1.0], [20.0, 3.0, 0.5]]
_COV = [[[2.0, 0.3], [0.3, 1.0]], [[0.5, -0.4], [-0.4, 0.5]], [[1.0, 0.0], [0.0, 9.0]]]

PROBABILITIES = [0.5, 0.001, 0.99, 0.2, 0.75, 0.04]

CASES: dict[str, Any] = {
    "Normal": ({"loc": _LOC, "scale": _SCALE}, [0.4, 0.6, -9.0, 3.01, 0.0, 8.0]),
    "Laplace": ({"loc": _LOC, "scale": _SCALE}, [0.4, 0.6, -9.0, 3.01, 0.1, 8.0]),
    "Cauchy": ({"loc": _LOC, "scale": _SCALE}, [0.4, 0.6, -9.0, 3.01, 0.1, 8.0]),
    "Gumbel": ({"loc": _LOC, "scale": _SCALE}, [0.4, 0.6, -5.0, 3.01, 0.1, 9.0]),
    "HalfNormal": ({"scale": _SCALE}, [0.4, 0.6, 9.0, 0.01, 0.1, -8.0]),
    "HalfCauchy": ({"scale": _SCALE}, [0.4, 0.6, 9.0, 0.01, 0.1, -8.0]),
    "Exponential": ({"scale": _SCALE}, [0.4, 0.6, 9.0, 0.01, 0.1, -8.0]),
    "Uniform": (
        {"low": _LOC, "high": [1.0, 0.75, 2.0, 4.0, 9.0, 11.0]},
        [0.4, 0.6, -9.0, 3.01, 10.0, 10.5],
    ),
    "Weibull": (
        {"concentration": [0.5, 1.0, 1.5, 3.0, 0.8, 10.0], "scale": _SCALE},
        [0.4, 0.6, 1.0, 0.01, 3.0, -2.0],
    ),
    "Pareto": (
        {"alpha": [0.5, 1.5, 2.5, 3.0, 7.0, 1.0], "scale": [1.0, 0.3, 2.5, 0.01, 7.0, 1.0]},
        [1.4, 0.6, 9.0, 0.02, 6.0, 30.0],
    ),
    "Gamma": ({"shape": _SHAPE, "scale": _SCALE}, [0.4, 0.02, 5.0, 0.05, -1.0, 45.0]),
    "Chi2": ({"df": _DF}, [0.4, 0.02, 1.7, 0.5, 29.0, 80.0]),
    "Beta": (
        {"alpha": _SHAPE, "beta": [0.6, 2.0, 1.0, 0.4, 5.0, 30.0]},
        [0.4, 0.02, 0.7, 0.97, 0.1, 0.6],
    ),
    "StudentT": ({"df": _DF, "loc": _LOC, "scale": _SCALE}, [0.4, 0.6, -9.0, 3.01, 0.1, 8.0]),
    "FisherSnedecor": (
        {"df1": [1.0, 2.0, 5.0, 10.0, 3.0, 40.0], "df2": [5.0, 0.8, 4.5, 2.5, 30.0, 100.0]},
        [0.4, 0.02, 1.7, 0.5, 9.0, -1.3],
    ),
    "Poisson": ({"rate": [0.1, 2.0, 1.0, 30.0, 4.0, 8.0]}, _COUNT),
    "Geometric": ({"prob": _PROB}, _COUNT),
    "Bernoulli": ({"prob": _PROB}, [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
    "Binomial": ({"n": [1.0, 3.0, 2.0, 50.0, 4.0, 20.0], "prob": _PROB}, _COUNT),
    "NegativeBinomial": ({"n": [1.0, 3.0, 2.5, 0.5, 4.0, 20.0], "prob": _PROB}, _COUNT),
    "Categorical": ({"prob": _SIMPLEX}, [0.0, 2.0, 1.0]),
    "OneHotCategorical": ({"prob": _SIMPLEX}, [[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]]),
    "Multinomial": ({"prob": _SIMPLEX}, [[1.0, 2.0, 2.0], [0.0, 0.0, 5.0], [4.0, 1.0, 0.0]]),
    "Dirichlet": ({"alpha": _ALPHA}, [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.9, 0.06, 0.04]]),
    "MultivariateNormal": (
        {"loc": [[0.0, 0.0], [1.0, -2.0], [0.3, 0.7]], "cov": _COV},
        [[0.5, -0.5], [1.2, -2.5], [0.0, 3.0]],
    ),
}
TRIALS = 5  # of Multinomial
KEYWORDS = {
    "Categorical": {"num_events": 3},
    "OneHotCategorical": {"num_events": 3},
    "Multinomial": {"num_events": 3, "total_count": TRIALS},
}

PAIRS = {
    ("Normal", "Normal"): ({"loc": 0.5, "scale": 1.2}, {"loc": 1.0, "scale": 2.0}),
    ("HalfNormal", "HalfNormal"): ({"scale": 1.2}, {"scale": 2.0}),
    ("Laplace", "Laplace"): ({"loc": 0.5, "scale": 1.2}, {"loc": 1.0, "scale": 2.0}),
    ("Cauchy", "Cauchy"): ({"loc": 0.5, "scale": 1.2}, {"loc": 1.0, "scale": 2.0}),
    ("Gumbel", "Gumbel"): ({"loc": 0.5, "scale": 1.2}, {"loc": 1.0, "scale": 2.0}),
    ("Uniform", "Uniform"): ({"low": 0.5, "high": 1.2}, {"low": 0.0, "high": 2.0}),
    ("Uniform", "Normal"): ({"low": 0.5, "high": 1.2}, {"loc": 0.1, "scale": 2.0}),
    ("Uniform", "Gumbel"): ({"low": 0.5, "high": 1.2}, {"loc": 0.1, "scale": 2.0}),
    ("Exponential", "Exponential"): ({"scale": 0.5}, {"scale": 1.7}),
    ("Exponential", "Normal"): ({"scale": 0.5}, {"loc": 1.0, "scale": 2.0}),
    ("Exponential", "Gumbel"): ({"scale": 0.5}, {"loc": 1.0, "scale": 2.0}),
    ("Exponential", "Gamma"): ({"scale": 0.5}, {"shape": 1.5, "scale": 2.0}),
    ("Gamma", "Gamma"): ({"shape": 2.5, "scale": 0.5}, {"shape": 1.5, "scale": 2.0}),
    ("Chi2", "Gamma"): ({"df": 2.5}, {"shape": 1.5, "scale": 2.0}),
    ("Beta", "Beta"): ({"alpha": 2.5, "beta": 1.5}, {"alpha": 1.5, "beta": 2.0}),
    ("Pareto", "Pareto"): ({"alpha": 2.5, "scale": 1.2}, {"alpha": 1.5, "scale": 1.0}),
    ("Poisson", "Poisson"): ({"rate": 2.5}, {"rate": 1.2}),
    ("Geometric", "Geometric"): ({"prob": 0.3}, {"prob": 0.6}),
    ("Bernoulli", "Bernoulli"): ({"prob": 0.3}, {"prob": 0.6}),
    ("Binomial", "Binomial"): ({"n": 7.0, "prob": 0.3}, {"n": 7.0, "prob": 0.6}),
}


def parameters(name, dtype="float64"):
    """Return the parameters of a distribution as arrays."""
    return {key: np.array(value, dtype) for key, value in CASES[name][0].items()}
