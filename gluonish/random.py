"""Random numbers: the seed, and samplers; `mx.random` is this module."""

from gluonish.ndarray.random import (
    exponential,
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
    "multinomial",
    "normal",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
]
