"""Errors in worker processes of a DataLoader, sent to the main process."""

import pickle
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

from gluonish.core.errors import GluonishError
from gluonish.gluon.data.sent_classes import dumps_reply


class WorkerError(GluonishError, RuntimeError):
    """A worker process of a DataLoader ended, or raised an error that cannot be sent."""


class WorkerTimeoutError(WorkerError, TimeoutError):
    """A batch of a DataLoader did not arrive in time."""


class Failed(NamedTuple):
    """The error of a batch; without a number, of the worker's start."""

    number: int | None
    error: bytes | None
    text: str


def describe_error(number: int | None, error: Exception) -> Failed:
    """Pickle an error, with its traceback as text.

    Args:
        number: Number of the batch; None for the worker's start.
        error: The error. It is pickled directly if unpickling restores an equal error; else as its
            type, arguments and attributes; and if that fails, as text.
    """
    text = "".join(traceback.format_exception(error))
    attempts: tuple[Callable[[Exception], bytes], ...] = (dumps_reply, _dumps_state)
    for attempt in attempts:
        try:
            pickled = attempt(error)
            again = pickle.loads(pickled)
            if type(again) is type(error) and str(again) == str(error):
                return Failed(number, pickled, text)
        except Exception:  # an error's own methods may raise anything
            continue
    return Failed(number, None, text)


def _dumps_state(error: Exception) -> bytes:
    arguments = tuple(item if _can_be_sent(item) else repr(item) for item in error.args)
    attributes = {name: item for name, item in vars(error).items() if _can_be_sent(item)}
    return dumps_reply(_ErrorState(type(error), arguments, attributes))


def _can_be_sent(item: Any) -> bool:
    try:
        pickle.loads(dumps_reply(item))
    except Exception:  # its own methods may raise anything
        return False
    return True


class _ErrorState:
    """Pickles as a call that rebuilds an error without its ``__init__``."""

    def __init__(
        self, kind: type[Exception], arguments: tuple[Any, ...], attributes: dict[str, Any]
    ) -> None:
        self._state = (kind, arguments, attributes)

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild_error, self._state


def rebuild_error(
    kind: type[Exception], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> Exception:
    """Create an error without calling its ``__init__``, which may need other arguments."""
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


def make_error(failed: Failed, where: str) -> Exception:
    """Return the error to raise, with the worker's traceback as a note."""
    if failed.error is None:
        return WorkerError(f"DataLoader: {where} raised an error:\n{failed.text}")
    error: Exception = pickle.loads(failed.error)
    error.add_note(f"DataLoader: in {where}:\n{failed.text}")
    return error
