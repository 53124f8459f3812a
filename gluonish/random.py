"""Random numbers: the seed, and samplers; `mx.random` is this module."""

from gluonish.ndarray.random import (
    exponential,
    gamma,
    multinomial,
    normal,
    randint,
    randn,
    seed,
    shuffle,
    uniform,
)

__all__ = [
    "exponential",
    "gamma",
    "multinomial",
    "normal",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
]
