"""How many elements an array may have whose size follows from attributes.

A slip in one would ask for all the memory there is.
"""

import math

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Shape

__all__ = ["limited"]

_MOST_ELEMENTS = 2**31 - 1  # of one array in MXNet


def limited(operator: str, shape: Shape, what: str = "an output") -> Shape:
    """Return a shape.

    Args:
        operator: For the message.
        shape: Of an output, or of what is needed to compute it.
        what: What has the shape, for the message.

    Raises:
        OperatorError: It has more than 2**31 - 1 elements, or would have with one along its axes
            of extent 0.
    """
    if math.prod(extent or 1 for extent in shape) > _MOST_ELEMENTS:
        raise OperatorError(
            f"{operator}: expected {what} of at most {_MOST_ELEMENTS} elements, got {shape}"
        )
    return shape
