"""Constant: an array that travels with a network and is never trained."""

import warnings
from typing import Any

from gluonish.initializer import Constant as ConstantInitializer
from gluonish.ndarray import NDArray, array
from gluonish.parameter.parameter import Parameter

__all__ = ["Constant"]


class Constant(Parameter):
    """A parameter with a fixed value and no gradient.

    Args:
        name: Full name, which exported files and symbols use.
        value: The value: NDArray, or what `nd.array` takes (which becomes float32).
    """

    def __init__(self, name: str, value: Any) -> None:
        self.value = value if isinstance(value, NDArray) else array(value)
        super().__init__(
            name,
            grad_req="null",
            shape=self.value.shape,
            dtype=self.value.dtype,
            init=ConstantInitializer(self.value),
            differentiable=False,
        )

    @property
    def grad_req(self) -> str:
        """Always ``"null"``."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(
                f"Constant {self.name}: expected grad_req 'null', got {req!r}, which was ignored; "
                "use a Parameter for what has a gradient",
                UserWarning,
                stacklevel=2,
            )
