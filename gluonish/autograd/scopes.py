"""Scopes for recording and training mode, and recorded computations as Symbols."""

from typing import Any

from gluonish.core.errors import ArgumentTypeError, AutogradError
from gluonish.core.hooks import symbol_of
from gluonish.core.object_repr import object_repr
from gluonish.core.value_scope import ValueScope
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import RECORDING, TRAINING, mode
from gluonish.ops.autocast import switch_off


class ModeScope(ValueScope):
    """Reusable scope that sets the bits of the current mode in ``mask`` to ``value``."""

    __slots__ = ("_mask", "_value")

    def __init__(self, mask: int, value: int) -> None:
        super().__init__()
        self._mask = mask
        self._value = value

    def __repr__(self) -> str:
        flags = {"recording": RECORDING, "training": TRAINING}
        changed = {name: flag for name, flag in flags.items() if self._mask & flag}
        return object_repr(self, **{n: bool(self._value & flag) for n, flag in changed.items()})

    def __enter__(self) -> "ModeScope":
        self._change(mode, mode.get() & ~self._mask | self._value)
        return self


class GradientMode(ValueScope):
    """Scope of a backward pass; operators are recorded with ``create_graph``."""

    __slots__ = ("_flags",)

    def __init__(self, *, create_graph: bool, train_mode: bool) -> None:
        super().__init__()
        self._flags = RECORDING * create_graph + TRAINING * train_mode

    def __enter__(self) -> None:
        self._change(mode, self._flags)
        switch_off(self._change)  # the gradients of casts are casts

    def __exit__(self, *exc_info: object) -> None:
        while len(self._changes) > 1:
            self._restore()
        super().__exit__()


def record(train_mode: bool = True) -> ModeScope:
    """Return a context manager inside which operators are recorded for `backward`.

    Args:
        train_mode: Whether operators run in training mode, as Dropout and BatchNorm need it.
    """
    return ModeScope(RECORDING | TRAINING, RECORDING | (TRAINING if train_mode else 0))


def pause(train_mode: bool = False) -> ModeScope:
    """Return a context manager inside which nothing is recorded.

    Args:
        train_mode: Whether operators run in training mode.
    """
    return ModeScope(RECORDING | TRAINING, TRAINING if train_mode else 0)


def train_mode() -> ModeScope:
    """Return a context manager for training mode: dropout, BatchNorm uses the batch statistics."""
    return ModeScope(TRAINING, TRAINING)


def predict_mode() -> ModeScope:
    """Return a context manager for prediction mode: no dropout, BatchNorm's running statistics."""
    return ModeScope(TRAINING, 0)


def is_recording() -> bool:
    """Return whether operators are being recorded."""
    return bool(mode.get() & RECORDING)


def is_training() -> bool:
    """Return whether operators run in training mode."""
    return bool(mode.get() & TRAINING)


def _set(bit: int, on: bool) -> bool:
    before = mode.get()
    mode.set(before | bit if on else before & ~bit)
    return bool(before & bit)


def set_recording(is_recording: bool) -> bool:
    """Switch recording on or off.

    Args:
        is_recording: Whether to record from now on.

    Returns:
        The previous setting.
    """
    return _set(RECORDING, is_recording)


def set_training(train_mode: bool) -> bool:
    """Switch training mode on or off.

    Args:
        train_mode: Whether to run in training mode from now on.

    Returns:
        The previous setting.
    """
    return _set(TRAINING, train_mode)


def get_symbol(x: NDArray) -> Any:
    """Return the recorded computation of an array as a Symbol.

    Arrays with ``attach_grad`` become variables ``var0``, ``var1``, ..., all others ``null2``, ...;
    one counter numbers both, in the order in which the computation reads them. A call of a
    hybridized block appears as its operators, or as one ``_CachedOp`` if they are more than its
    ``inline_limit``.

    Args:
        x: Array computed inside ``autograd.record()``.

    Raises:
        ArgumentTypeError: ``x`` is not an NDArray.
        AutogradError: The array was not recorded, or a backward pass has freed the record.
        NotSupportedError: The computation used an `autograd.Function`; a Symbol cannot contain one.
    """
    if not isinstance(x, NDArray):
        raise ArgumentTypeError(f"get_symbol: expected an NDArray, got {type(x).__name__}")
    if x._edge is None:
        raise AutogradError(
            f"get_symbol: expected an array that autograd recorded, got one of shape {x.shape} "
            "that was not; compute it inside autograd.record() from arrays with attach_grad"
        )
    return symbol_of(x._edge)
