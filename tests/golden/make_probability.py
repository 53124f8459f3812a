"""Make probability.npz: results of SciPy for the distributions of `probability_cases.py`.

Run it with a virtual environment that has scipy 1.17, from anywhere:

    scipy/bin/python tests/golden/make_probability.py

``<distribution> <method>`` holds a number for each case: log_prob and cdf of its values, icdf of
`PROBABILITIES`, entropy, mean and variance. ``kl <p> <q>`` is a divergence by quadrature, or by a
sum. ``gammainc`` and ``betainc`` are incomplete functions on a grid, ``gamma slope`` derivatives of
quantiles of the gamma distribution by its shape parameter.
"""

import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.integrate as integrate
import scipy.special as special
import scipy.stats as st

sys.path.insert(0, str(Path(__file__).parent))
from probability_cases import CASES, PAIRS, PROBABILITIES, TRIALS, parameters

FROZEN: dict[str, Any] = {
    "Normal": lambda loc, scale: st.norm(loc, scale),
    "Laplace": lambda loc, scale: st.laplace(loc, scale),
    "Cauchy": lambda loc, scale: st.cauchy(loc, scale),
    "Gumbel": lambda loc, scale: st.gumbel_r(loc, scale),
    "HalfNormal": lambda scale: st.halfnorm(scale=scale),
    "HalfCauchy": lambda scale: st.halfcauchy(scale=scale),
    "Exponential": lambda scale: st.expon(scale=scale),
    "Uniform": lambda low, high: st.uniform(low, high - low),
    "Weibull": lambda concentration, scale: st.weibull_min(concentration, scale=scale),
    "Pareto": lambda alpha, scale: st.pareto(alpha, scale=scale),
    "Gamma": lambda shape, scale: st.gamma(shape, scale=scale),
    "Chi2": lambda df: st.chi2(df),
    "Beta": lambda alpha, beta: st.beta(alpha, beta),
    "StudentT": lambda df, loc, scale: st.t(df, loc, scale),
    "FisherSnedecor": lambda df1, df2: st.f(df1, df2),
    "Poisson": lambda rate: st.poisson(rate),
    "Geometric": lambda prob: st.geom(prob, loc=-1),
    "Bernoulli": lambda prob: st.bernoulli(prob),
    "Binomial": lambda n, prob: st.binom(n, prob),
    "NegativeBinomial": lambda n, prob: st.nbinom(n, prob),
}


def scalar_results(name):
    """Return the results of a distribution of numbers."""
    params, values = parameters(name), np.array(CASES[name][1])
    frozen = FROZEN[name](**params)
    discrete = hasattr(frozen.dist, "logpmf")
    found = {
        "log_prob": frozen.logpmf(values) if discrete else frozen.logpdf(values),
        "cdf": frozen.cdf(values),
        "icdf": frozen.ppf(np.array(PROBABILITIES)),
        "mean": frozen.mean(),
        "variance": frozen.var(),
    }
    cases = [{key: value[i] for key, value in params.items()} for i in range(len(values))]
    entropy = [float(FROZEN[name](**case).entropy()) for case in cases]
    return {**found, "entropy": np.array(entropy)}


def vector_results(name):
    """Return the results of a distribution of vectors or of events."""
    params, values = parameters(name), np.array(CASES[name][1])
    rows = [{key: value[i] for key, value in params.items()} for i in range(len(values))]
    if name in ("Categorical", "OneHotCategorical", "Multinomial"):
        trials = TRIALS if name == "Multinomial" else 1
        frozen = [st.multinomial(trials, row["prob"]) for row in rows]
        hot = values if name != "Categorical" else np.eye(3)[values.astype(int)]
        found = {"log_prob": [f.logpmf(v) for f, v in zip(frozen, hot, strict=True)]}
        if name != "Multinomial":
            found["entropy"] = [float(f.entropy()) for f in frozen]
        if name == "Categorical":
            found["cdf"] = [
                row["prob"][: int(v) + 1].sum() for row, v in zip(rows, values, strict=True)
            ]
        else:
            found["mean"] = [trials * row["prob"] for row in rows]
            found["variance"] = (
                [np.diag(f.cov()) for f in frozen]
                if hasattr(frozen[0], "cov")
                else [trials * row["prob"] * (1 - row["prob"]) for row in rows]
            )
        return found
    if name == "Dirichlet":
        frozen = [st.dirichlet(row["alpha"]) for row in rows]
        means = {"mean": [f.mean() for f in frozen], "variance": [f.var() for f in frozen]}
    else:
        frozen = [st.multivariate_normal(row["loc"], row["cov"]) for row in rows]
        diagonals = [np.diag(row["cov"]) for row in rows]
        means = {"mean": [row["loc"] for row in rows], "variance": diagonals}
    logs = {"log_prob": [f.logpdf(v) for f, v in zip(frozen, values, strict=True)]}
    return {**logs, **means, "entropy": [float(f.entropy()) for f in frozen]}


def divergence(names, params):
    """Integrate, or sum, p (log p - log q)."""
    p, q = (FROZEN[name](**param) for name, param in zip(names, params, strict=True))
    if hasattr(p.dist, "logpmf"):
        k = np.arange(0, 2000)
        k = k[p.pmf(k) > 0]
        return float(np.sum(p.pmf(k) * (p.logpmf(k) - q.logpmf(k))))

    # Over the quantiles of p, in two halves: the integrand is singular at the ends.
    def at(u):
        x = p.ppf(u)
        return p.logpdf(x) - q.logpdf(x)

    edges = [0, 1e-8, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-4, 1 - 1e-8, 1]
    parts = [integrate.quad(at, a, b, limit=400, epsabs=1e-13) for a, b in pairwise(edges)]
    return sum(part[0] for part in parts)


def incomplete():
    """Return incomplete functions on grids, with the quantiles as arguments."""
    probs = np.array([1e-6, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999])
    a, p = (m.ravel() for m in np.meshgrid([0.01, 0.1, 0.5, 0.9, 1, 2, 5, 30, 1000, 1e5], probs))
    x = special.gammaincinv(a, p)
    kept = x > 1e-250
    gamma = np.array([a[kept], x[kept], special.gammainc(a[kept], x[kept])])
    shapes = [0.1, 0.5, 0.9, 1, 2, 5, 30, 1000]
    a, b, p = (m.ravel() for m in np.meshgrid(shapes, shapes, probs))
    x = special.betaincinv(a, b, p)
    kept = (x > 1e-250) & (x < 1 - 1e-9)
    a, b, x = a[kept], b[kept], x[kept]
    beta = np.array([a, b, x, special.betainc(a, b, x)])
    a, p = (m.ravel() for m in np.meshgrid([0.1, 0.5, 1, 2, 5, 30, 1000], [0.01, 0.3, 0.8, 0.99]))
    step = 1e-3 * a
    rule = [(-2, 1), (-1, -8), (1, 8), (2, -1)]
    slope = sum(w * special.gammaincinv(a + k * step, p) for k, w in rule) / (12 * step)
    return {
        "gammainc": gamma,
        "betainc": beta,
        "gamma slope": np.array([a, special.gammaincinv(a, p), slope]),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = incomplete()
    for name in CASES:
        results = scalar_results(name) if name in FROZEN else vector_results(name)
        found.update({f"{name} {method}": np.array(v) for method, v in results.items()})
    for names, params in PAIRS.items():
        found["kl " + " ".join(names)] = np.array(divergence(names, params))
    np.savez_compressed(Path(__file__).with_name("probability.npz"), **found)
