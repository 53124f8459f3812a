"""ExponentialFamily: the base class of distributions of an exponential family."""

from gluonish.gluon.probability.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base class of distributions whose density is h(x) exp(<eta, t(x)> - A(eta)).

    Args:
        event_dim: Number of axes of one random variable; see `Distribution`.
        validate_args: Whether to check parameters and values.
    """
