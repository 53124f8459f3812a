import gc
import sys
from collections.abc import Callable
from types import FrameType

# Where an operator of another test has failed, the engine looks at each variable.
_AFTER_FAILURES = ("InlineOperators._is_free", "InlineOperators._end")


def python_calls(function: Callable[[], object]) -> list[str]:
    """The qualified names of the Python functions that a call of `function` calls, without itself.

    No garbage is collected meanwhile: the destructors of what other tests left would count, too.
    """
    names: list[str] = []

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_qualname not in _AFTER_FAILURES:
            names.append(frame.f_code.co_qualname)

    previous = sys.getprofile()
    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(previous)
        if collects:
            gc.enable()
    return names[1:]
