"""Transformations of random variables, and registries of those to the set of a constraint."""

from gluonish.gluon.probability.transformation import transformation
from gluonish.gluon.probability.transformation.domain_map import (
    biject_to,
    domain_map,
    transform_to,
)
from gluonish.gluon.probability.transformation.transformation import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    Transformation,
    TransformBlock,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "TransformBlock",
    "Transformation",
    "biject_to",
    "domain_map",
    "transform_to",
    "transformation",
]
