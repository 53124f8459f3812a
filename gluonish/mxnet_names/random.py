"""`mx.random`: the seed, and samplers."""

from gluonish.ndarray.random import (
    binomial,
    categorical,
    exponential,
    gamma,
    generalized_negative_binomial,
    multinomial,
    negative_binomial,
    normal,
    poisson,
    randint,
    randn,
    seed,
    seed_everything,
    shuffle,
    uniform,
)

__all__ = [
    "binomial",
    "categorical",
    "exponential",
    "gamma",
    "generalized_negative_binomial",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "seed",
    "seed_everything",
    "shuffle",
    "uniform",
]
