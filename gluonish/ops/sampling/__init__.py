"""Random samplers beyond `gluonish.ops.random`, and densities of distributions."""

from gluonish.ops.sampling.bernoulli import BERNOULLI
from gluonish.ops.sampling.choice import CHOICE
from gluonish.ops.sampling.density import DENSITIES
from gluonish.ops.sampling.multinomial import SAMPLE_MULTINOMIAL
from gluonish.ops.sampling.numpy_multinomial import NUMPY_MULTINOMIAL
from gluonish.ops.sampling.numpy_samplers import NUMPY_SAMPLERS
from gluonish.ops.sampling.per_element import SAMPLERS
from gluonish.ops.sampling.shuffle import SHUFFLE
from gluonish.ops.sampling.zipfian import SAMPLE_UNIQUE_ZIPFIAN

__all__ = [
    "BERNOULLI",
    "CHOICE",
    "DENSITIES",
    "NUMPY_MULTINOMIAL",
    "NUMPY_SAMPLERS",
    "SAMPLERS",
    "SAMPLE_MULTINOMIAL",
    "SAMPLE_UNIQUE_ZIPFIAN",
    "SHUFFLE",
]
