"""Whether NumPy's semantics are in force: of shapes, and of the arrays that Gluon makes.

`set_np_shape` and `set_np_array` set it for the process, or where `follows_mxnet` for the thread
that calls them. A scope overrides it in its own thread (or
task) while it lasts, and setting it inside a scope changes the scope. NumPy's shapes themselves are
there always: an array of ``mx.np`` may have shape () or an axis of extent 0 in any case.
"""

from contextvars import ContextVar
from typing import ClassVar

from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.value_scope import ValueScope


class _Switch:
    """One of the two settings."""

    __slots__ = ("everywhere", "here")

    def __init__(self, name: str) -> None:
        self.everywhere = False
        self.here: ContextVar[bool | None] = ContextVar(name, default=None)

    def get(self) -> bool:
        here = self.here.get()
        return self.everywhere if here is None else here

    def set(self, active: bool) -> bool:
        before = self.get()
        if self.here.get() is None and not follows_mxnet():
            self.everywhere = active
        else:
            self.here.set(active)
        return before


_shape = _Switch("gluonish_np_shape")
_array = _Switch("gluonish_np_array")


def is_np_shape() -> bool:
    """Return whether NumPy's semantics of shapes are in force: 0 is an extent, () a shape."""
    return _shape.get()


def is_np_array() -> bool:
    """Return whether Gluon makes arrays of ``mx.np``: parameters, batches of data."""
    return _array.get()


def set_np_shape(active: bool) -> bool:
    """Put NumPy's semantics of shapes in force or out of it; return what was before."""
    return _shape.set(bool(active))


def set_np_array(active: bool) -> bool:
    """Have Gluon make arrays of ``mx.np``, or of ``mx.nd``; return what was before."""
    return _array.set(bool(active))


def numpy_scope_of_here() -> "NumpyScope":
    """Return a scope with what is in force here, to be entered in a thread that works for it."""
    return NumpyScope(shape=is_np_shape(), array=is_np_array())


class NumpyScope(ValueScope):
    """Scope with or without NumPy's semantics.

    Args:
        shape: Semantics of shapes; None leaves them.
        array: Whether Gluon makes arrays of ``mx.np``; None leaves it.
    """

    __slots__ = ("_settings",)

    _switches: ClassVar[tuple[_Switch, _Switch]] = (_shape, _array)

    def __init__(self, *, shape: bool | None = None, array: bool | None = None) -> None:
        super().__init__()
        self._settings = (shape, array)

    def __enter__(self) -> "NumpyScope":
        for switch, setting in zip(self._switches, self._settings, strict=True):
            if setting is not None:
                self._change(switch.here, bool(setting))
        return self

    def __exit__(self, *exc_info: object) -> None:
        while self._changes:
            self._restore()
