"""Kullback-Leibler divergences: kl_divergence, empirical_kl and register_kl."""

import math
from collections.abc import Callable
from typing import Any

import numpy as official

import gluonish.numpy as np
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.gluon.probability.distributions.bernoulli import Bernoulli
from gluonish.gluon.probability.distributions.beta import Beta
from gluonish.gluon.probability.distributions.binomial import Binomial
from gluonish.gluon.probability.distributions.categorical import Categorical
from gluonish.gluon.probability.distributions.cauchy import Cauchy
from gluonish.gluon.probability.distributions.dirichlet import Dirichlet
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.exponential import Exponential
from gluonish.gluon.probability.distributions.gamma import Gamma
from gluonish.gluon.probability.distributions.geometric import Geometric
from gluonish.gluon.probability.distributions.gumbel import Gumbel
from gluonish.gluon.probability.distributions.half_normal import HalfNormal
from gluonish.gluon.probability.distributions.independent import Independent
from gluonish.gluon.probability.distributions.laplace import Laplace
from gluonish.gluon.probability.distributions.multivariate_normal import MultivariateNormal
from gluonish.gluon.probability.distributions.normal import Normal
from gluonish.gluon.probability.distributions.one_hot_categorical import OneHotCategorical
from gluonish.gluon.probability.distributions.parameters import (
    choose,
    digamma,
    gammaln,
    solve_lower,
    xlogy,
)
from gluonish.gluon.probability.distributions.pareto import Pareto
from gluonish.gluon.probability.distributions.poisson import Poisson
from gluonish.gluon.probability.distributions.uniform import Uniform
from gluonish.gluon.probability.distributions.utils import sum_right_most

__all__ = ["empirical_kl", "kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Any]

_storage: dict[tuple[type, type], Divergence] = {}


def register_kl(typeP: type, typeQ: type) -> Callable[[Divergence], Divergence]:
    """Return a decorator that registers a function (p, q) as the divergence of two classes.

    Args:
        typeP: Class of the first distribution; its subclasses use the function, too.
        typeQ: Class of the second distribution.

    Example:
        >>> from gluonish.gluon import probability as mgp
        >>> @mgp.register_kl(mgp.Weibull, mgp.Weibull)
        ... def weibull_weibull(p, q):
        ...     return mgp.empirical_kl(p, q, 1000)
    """

    def store(function: Divergence) -> Divergence:
        _storage[typeP, typeQ] = function
        return function

    return store


def _find(p: Distribution, q: Distribution) -> Divergence:
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            found = _storage.get((first, second))
            if found is not None:
                return found
    raise NotSupportedError(
        f"kl_divergence: expected a registered pair of distributions, got {type(p).__name__} and "
        f"{type(q).__name__}; see register_kl, or use empirical_kl"
    )


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """Return the Kullback-Leibler divergence E_p[log p(x) - log q(x)], in nats.

    Args:
        p: First distribution.
        q: Second distribution.

    Returns:
        Array of the broadcast batch shape.

    Raises:
        NotSupportedError: No divergence is registered for the two classes.
    """
    return _find(p, q)(p, q)


def empirical_kl(p: Distribution, q: Distribution, n_samples: Any = 1) -> Any:
    """Estimate the Kullback-Leibler divergence by the mean over samples of p.

    Args:
        p: First distribution.
        q: Second distribution.
        n_samples: Number of samples, or a shape of samples.
    """
    size = (n_samples,) if isinstance(n_samples, int) else tuple(n_samples)
    drawn = p.sample_n(size)
    difference = p.log_prob(drawn) - q.log_prob(drawn)
    return np.mean(difference, axis=tuple(range(len(size))))


@register_kl(Normal, Normal)
def _normal_normal(p: Any, q: Any) -> Any:
    ratio = np.square(p.scale / q.scale)
    return 0.5 * (ratio + np.square((p.loc - q.loc) / q.scale) - 1 - np.log(ratio))


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p: Any, q: Any) -> Any:
    ratio = np.square(p.scale / q.scale)
    return 0.5 * (ratio - 1 - np.log(ratio))


@register_kl(Laplace, Laplace)
def _laplace_laplace(p: Any, q: Any) -> Any:
    distance = np.abs(p.loc - q.loc)
    spread = p.scale * np.exp(-distance / p.scale) + distance
    return np.log(q.scale / p.scale) + spread / q.scale - 1


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p: Any, q: Any) -> Any:
    between = np.square(p.scale + q.scale) + np.square(p.loc - q.loc)
    return np.log(between / (4 * p.scale * q.scale))


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    moved = np.exp(-shift + gammaln(1 + ratio))
    return -np.log(ratio) + official.euler_gamma * (ratio - 1) + moved - 1 + shift


@register_kl(Uniform, Uniform)
def _uniform_uniform(p: Any, q: Any) -> Any:
    inside = (q.low <= p.low) & (p.high <= q.high)
    ratio = (q.high - q.low) / (p.high - p.low)
    return choose(inside, np.log(ratio), math.inf)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    shift = (p.high + p.low) / 2 - q.loc
    spread = (np.square(width) / 12 + np.square(shift)) / (2 * np.square(q.scale))
    return np.log(q.scale / width) + (0.5 * math.log(2 * math.pi)) + spread


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    width = p.high - p.low
    low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    power = q.scale / width * (np.exp(-low) - np.exp(-high))
    return np.log(q.scale / width) + (low + high) / 2 + power


@register_kl(Exponential, Exponential)
def _exponential_exponential(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    return ratio - 1 - np.log(ratio)


@register_kl(Exponential, Normal)
def _exponential_normal(p: Any, q: Any) -> Any:
    spread = np.square(p.scale) + np.square(p.scale - q.loc)
    logs = np.log(q.scale / p.scale) + (0.5 * math.log(2 * math.pi) - 1)
    return logs + spread / (2 * np.square(q.scale))


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    ratio, shift = p.scale / q.scale, q.loc / q.scale
    return -np.log(ratio) - 1 + ratio - shift + np.exp(shift) / (1 + ratio)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    growth = q.shape * np.log(ratio) - official.euler_gamma * (q.shape - 1)
    return -growth + ratio - 1 + gammaln(q.shape)


@register_kl(Gamma, Gamma)
def _gamma_gamma(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    difference = (p.shape - q.shape) * digamma(p.shape) - gammaln(p.shape) + gammaln(q.shape)
    return difference - q.shape * np.log(ratio) + p.shape * (ratio - 1)


@register_kl(Pareto, Pareto)
def _pareto_pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    divergence = q.alpha * np.log(p.scale / q.scale) - np.log(ratio) + ratio - 1
    return choose(p.scale >= q.scale, divergence, math.inf)


@register_kl(Beta, Beta)
def _beta_beta(p: Any, q: Any) -> Any:
    sums = p.alpha + p.beta, q.alpha + q.beta
    return (
        q._log_beta()
        - p._log_beta()
        + (p.alpha - q.alpha) * digamma(p.alpha)
        + (p.beta - q.beta) * digamma(p.beta)
        + (sums[1] - sums[0]) * digamma(sums[0])
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p: Any, q: Any) -> Any:
    total = np.sum(p.alpha, axis=-1, keepdims=True)
    terms = (p.alpha - q.alpha) * (digamma(p.alpha) - digamma(total))
    return q._log_beta() - p._log_beta() + np.sum(terms, axis=-1)


@register_kl(Poisson, Poisson)
def _poisson_poisson(p: Any, q: Any) -> Any:
    return p.rate * np.log(p.rate / q.rate) - (p.rate - q.rate)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p: Any, q: Any) -> Any:
    prob, failure = p.prob, p._failure
    return p._log_outcomes(prob, failure) - q._log_outcomes(prob, failure)


@register_kl(Binomial, Binomial)
def _binomial_binomial(p: Any, q: Any) -> Any:
    # No closed form exists where q has more trials; where p has more, it is infinite.
    divergence = choose(p.n < q.n, math.nan, p.n * _bernoulli_bernoulli(p, q))
    return choose(p.n > q.n, math.inf, divergence)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p: Any, q: Any) -> Any:
    return _bernoulli_bernoulli(p, q) / p.prob


def _events(p: Any, q: Any) -> Any:
    if p._has_prob and q._has_prob:
        return np.sum(xlogy(p.prob, p.prob) - xlogy(p.prob, q.prob), axis=-1)
    return np.sum(p.prob * (p._log_events - q._log_events), axis=-1)


register_kl(Categorical, Categorical)(_events)
register_kl(OneHotCategorical, OneHotCategorical)(_events)


@register_kl(MultivariateNormal, MultivariateNormal)
def _normals(p: Any, q: Any) -> Any:
    size = p.loc.shape[-1]
    shift = np.squeeze(solve_lower(q.scale_tril, np.expand_dims(q.loc - p.loc, -1)), -1)
    root = solve_lower(q.scale_tril, p.scale_tril)
    squares = np.sum(np.square(shift), axis=-1) + np.sum(np.square(root), axis=(-2, -1))
    return q._log_determinant - p._log_determinant + 0.5 * (squares - size)


@register_kl(Independent, Independent)
def _independent_independent(p: Any, q: Any) -> Any:
    count = p.reinterpreted_batch_ndims
    if count != q.reinterpreted_batch_ndims:
        raise ArgumentError(
            f"kl_divergence: expected Independent distributions of as many reinterpreted axes, "
            f"got {count} and {q.reinterpreted_batch_ndims}"
        )
    return sum_right_most(kl_divergence(p.base_dist, q.base_dist), count)
