"""Where the first values of a parameter come from: an initializer, which may wait, or a file."""

from collections.abc import Callable
from typing import Any, NamedTuple

from gluonish.core.context import Context, cpu
from gluonish.core.spec import Shape
from gluonish.initializer import InitDesc, Initializer, create
from gluonish.ndarray import NDArray, zeros
from gluonish.numpy.array import gluon_array

__all__ = ["Deferred", "Init"]

# An initializer, its name or JSON, or any function of a name and an array, as `mx.init.Mixed` is.
Init = Initializer | str | Callable[[str, NDArray], None]


class Deferred(NamedTuple):
    """An initialization that waits for the shape.

    Attributes:
        init: What fills the array.
        contexts: The devices.
        default_init: What the caller asked for; it decides how names in ``init`` are read.
        data: Values that were set in the meantime, in place of what ``init`` gives.
    """

    init: Init
    contexts: list[Context]
    default_init: Init
    data: NDArray | None

    def values(self, name: str, shape: Shape, dtype: Any) -> NDArray:
        """Return what a parameter of this name starts from."""
        if self.data is not None:
            return self.data
        # Initializers fill axes, so that a scalar is filled as an axis of one element.
        filled: NDArray = gluon_array(zeros(shape or (1,), cpu(), dtype))
        if isinstance(self.init, str | Initializer):
            outer = self.default_init
            caller = create(outer if isinstance(outer, str | Initializer) else self.init)
            caller(InitDesc(name, {"__init__": self.init}), filled)
        else:
            self.init(InitDesc(name), filled)
        return filled if shape else filled.reshape(())
