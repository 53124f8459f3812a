"""NumPy semantics: of shapes, of the arrays that Gluon creates, and of the default dtype.

`set_np_shape`, `set_np_array` and `set_np_default_dtype` set them for the process, or, if
`follows_mxnet`, for the calling thread. A scope overrides them in its thread (or task), and a
setter inside a scope changes the scope. An array of ``mx.np`` may have shape () or an axis of
extent 0 in any case.
"""

from contextvars import ContextVar
from typing import ClassVar

from gluonish.core.mode_reads import mode_reads
from gluonish.core.mxnet_rules import follows_mxnet
from gluonish.core.object_repr import object_repr
from gluonish.core.value_scope import ValueScope


class _Setting:
    """One of the settings: its process-wide value, and its value inside a scope."""

    __slots__ = ("process_wide", "scoped")

    def __init__(self, name: str) -> None:
        self.process_wide = False
        self.scoped: ContextVar[bool | None] = ContextVar(name, default=None)

    def get(self) -> bool:
        mode_reads()
        scoped = self.scoped.get()
        return self.process_wide if scoped is None else scoped

    def set(self, active: bool) -> bool:
        before = self.get()
        if self.scoped.get() is None and not follows_mxnet():
            self.process_wide = active
        else:
            self.scoped.set(active)
        return before


_shape = _Setting("gluonish_np_shape")
_array = _Setting("gluonish_np_array")
_dtype = _Setting("gluonish_np_default_dtype")


def is_np_shape() -> bool:
    """Return whether shapes follow NumPy: sizes may be 0, and () is a scalar."""
    return _shape.get()


def is_np_array() -> bool:
    """Return whether Gluon creates arrays of ``mx.np``: parameters, batches of data."""
    return _array.get()


def set_np_shape(active: bool) -> bool:
    """Switch NumPy's semantics of shapes on or off; return the previous setting."""
    return _shape.set(bool(active))


def set_np_array(active: bool) -> bool:
    """Let Gluon create arrays of ``mx.np``, or of ``mx.nd``; return the previous setting."""
    return _array.set(bool(active))


def is_np_default_dtype() -> bool:
    """Return whether arrays of ``mx.np`` are float64 by default, as in NumPy; if not, float32."""
    return _dtype.get()


def set_np_default_dtype(is_np_default_dtype: bool = True) -> bool:
    """Switch NumPy's default dtype on or off; return the previous setting.

    Args:
        is_np_default_dtype: Whether arrays of ``mx.np`` are float64 by default; if not, float32.
    """
    return _dtype.set(bool(is_np_default_dtype))


def current_numpy_scope() -> "NumpyScope":
    """Return a scope with the current settings, to be entered in another thread."""
    return NumpyScope(shape=is_np_shape(), array=is_np_array(), dtype=is_np_default_dtype())


class NumpyScope(ValueScope):
    """Scope with or without NumPy's semantics.

    Args:
        shape: Semantics of shapes; None: unchanged.
        array: Whether Gluon creates arrays of ``mx.np``; None: unchanged.
        dtype: Whether arrays of ``mx.np`` are float64 by default; None: unchanged.
    """

    __slots__ = ("_settings",)

    _switches: ClassVar[tuple[_Setting, ...]] = (_shape, _array, _dtype)

    def __init__(
        self,
        *,
        shape: bool | None = None,
        array: bool | None = None,
        dtype: bool | None = None,
    ) -> None:
        super().__init__()
        self._settings = (shape, array, dtype)

    def __repr__(self) -> str:
        shape, array, dtype = self._settings
        given = {} if dtype is None else {"dtype": dtype}
        return object_repr(self, shape=shape, array=array, **given)

    def __enter__(self) -> "NumpyScope":
        for switch, setting in zip(self._switches, self._settings, strict=True):
            if setting is not None:
                self._change(switch.scoped, bool(setting))
        return self

    def __exit__(self, *exc_info: object) -> None:
        while self._changes:
            self._restore()
