"""Probability distributions, their constraints and divergences."""

from gluonish.gluon.probability.distributions import constraint, divergence, utils
from gluonish.gluon.probability.distributions.bernoulli import Bernoulli
from gluonish.gluon.probability.distributions.beta import Beta
from gluonish.gluon.probability.distributions.binomial import Binomial
from gluonish.gluon.probability.distributions.categorical import Categorical
from gluonish.gluon.probability.distributions.cauchy import Cauchy
from gluonish.gluon.probability.distributions.chi2 import Chi2
from gluonish.gluon.probability.distributions.dirichlet import Dirichlet
from gluonish.gluon.probability.distributions.distribution import Distribution
from gluonish.gluon.probability.distributions.divergence import (
    empirical_kl,
    kl_divergence,
    register_kl,
)
from gluonish.gluon.probability.distributions.exp_family import ExponentialFamily
from gluonish.gluon.probability.distributions.exponential import Exponential
from gluonish.gluon.probability.distributions.fishersnedecor import FisherSnedecor
from gluonish.gluon.probability.distributions.gamma import Gamma
from gluonish.gluon.probability.distributions.geometric import Geometric
from gluonish.gluon.probability.distributions.gumbel import Gumbel
from gluonish.gluon.probability.distributions.half_cauchy import HalfCauchy
from gluonish.gluon.probability.distributions.half_normal import HalfNormal
from gluonish.gluon.probability.distributions.independent import Independent
from gluonish.gluon.probability.distributions.laplace import Laplace
from gluonish.gluon.probability.distributions.multinomial import Multinomial
from gluonish.gluon.probability.distributions.multivariate_normal import MultivariateNormal
from gluonish.gluon.probability.distributions.negative_binomial import NegativeBinomial
from gluonish.gluon.probability.distributions.normal import Normal
from gluonish.gluon.probability.distributions.one_hot_categorical import OneHotCategorical
from gluonish.gluon.probability.distributions.pareto import Pareto
from gluonish.gluon.probability.distributions.poisson import Poisson
from gluonish.gluon.probability.distributions.relaxed_bernoulli import RelaxedBernoulli
from gluonish.gluon.probability.distributions.relaxed_one_hot_categorical import (
    RelaxedOneHotCategorical,
)
from gluonish.gluon.probability.distributions.studentT import StudentT
from gluonish.gluon.probability.distributions.transformed_distribution import (
    TransformedDistribution,
)
from gluonish.gluon.probability.distributions.uniform import Uniform
from gluonish.gluon.probability.distributions.utils import (
    cached_property,
    constraint_check,
    digamma,
    erf,
    erfinv,
    gammaln,
    logit2prob,
    prob2logit,
    sample_n_shape_converter,
)
from gluonish.gluon.probability.distributions.weibull import Weibull

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "Laplace",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "cached_property",
    "constraint",
    "constraint_check",
    "digamma",
    "divergence",
    "empirical_kl",
    "erf",
    "erfinv",
    "gammaln",
    "kl_divergence",
    "logit2prob",
    "prob2logit",
    "register_kl",
    "sample_n_shape_converter",
    "utils",
]
