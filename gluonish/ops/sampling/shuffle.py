"""_shuffle: shuffle the slices along axis 0."""

from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Operator, register
from gluonish.ops.support.philox import random_bits
from gluonish.ops.support.shape_rules import same_shape

Key = tuple[int, int]


def _infer(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("shuffle: expected data of at least 1 axis, got ()")
    return (data,)


def _kernel(xp: ModuleType, out: Any, data: Any, *, key: Key) -> None:
    order = xp.argsort(random_bits(xp, key, data.shape[0]), kind="stable")
    out[...] = data[order]


SHUFFLE = register(
    Operator(
        "_shuffle",
        _infer,
        _kernel,
        None,
        doc="Shuffle the slices along axis 0.\n\nShapes: data (N, ...), output the same.",
        aliases=("shuffle", "_npi_shuffle"),
        execution=Execution(random=True),
        shapes=ShapeFacts(rule=same_shape()),
    )
)
