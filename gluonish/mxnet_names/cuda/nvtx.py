"""`mx.cuda.nvtx`: named, coloured ranges in the timeline of a CUDA profiler."""

from types import TracebackType
from typing import Self

from gluonish.core.object_repr import default_repr
from gluonish.mxnet_names.cuda.cupy_runtime import cupy_cuda

__all__ = [
    "BLUE",
    "BLUE1",
    "CYAN",
    "GREEN",
    "GREEN1",
    "MAGENTA",
    "ORANGE",
    "RED",
    "RED1",
    "VIOLET",
    "YELLOW",
    "range",
    "range_pop",
    "range_push",
]

# Colours: red, green and blue, 8 bits each.
RED = 0xFF0000
GREEN = 0x00FF00
BLUE = 0x0000FF
YELLOW = 0xB58900
ORANGE = 0xCB4B16
RED1 = 0xDC322F
MAGENTA = 0xD33682
VIOLET = 0x6C71C4
BLUE1 = 0x268BD2
CYAN = 0x2AA198
GREEN1 = 0x859900


def range_push(name: str, color: int = ORANGE) -> None:
    """Begin a range, which `range_pop` ends; without a GPU do nothing.

    Args:
        name: Its name in the timeline.
        color: Its colour, as 0xRRGGBB.
    """
    cuda = cupy_cuda()
    if cuda is not None:
        cuda.nvtx.RangePushC(name, 0xFF000000 | color)


def range_pop() -> None:
    """End the innermost range; without a GPU do nothing."""
    cuda = cupy_cuda()
    if cuda is not None:
        cuda.nvtx.RangePop()


class range:  # noqa: A001  # MXNet's name
    """A range, as a context manager.

    Args:
        name: Its name in the timeline.
        color: Its colour, as 0xRRGGBB.
    """

    def __init__(self, name: str, color: int = ORANGE) -> None:
        self._name = name
        self._color = color

    __repr__ = default_repr

    def __enter__(self) -> Self:
        range_push(self._name, self._color)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        range_pop()
