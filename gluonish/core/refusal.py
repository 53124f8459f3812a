"""Arguments of a constructor that no call can use: refused by the calls, as in MXNet.

A program may make layers that it never calls, or change them before it does.
"""

from types import TracebackType
from typing import Any

from gluonish.core.errors import ArgumentError

__all__ = ["RefusedAtCall"]

# What calls of a Block, a direct transform, a cell and an augmenter come to.
_COMPUTATIONS = ("forward", "carry", "unroll", "_change")


class _Refusal:
    """What a block that cannot compute has in place of its computation; it can be pickled."""

    __slots__ = ("_error",)

    def __init__(self, error: ArgumentError) -> None:
        self._error = type(error), error.args

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kind, arguments = self._error
        raise kind(*arguments)


class RefusedAtCall:
    """Scope whose ArgumentError the calls of a block or an augmenter raise, not its constructor.

    Args:
        block: The block; ``super().__init__()`` was called.
    """

    __slots__ = ("_block",)

    def __init__(self, block: object) -> None:
        self._block = block

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, ArgumentError):
            return False
        refusal = _Refusal(error.with_traceback(None))
        for name in _COMPUTATIONS:
            if hasattr(type(self._block), name):
                self._block.__dict__[name] = refusal
        return True
