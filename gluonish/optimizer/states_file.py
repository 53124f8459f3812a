"""Trainer and updater states: the files of ``save_states``, read and written without MXNet.

A file is one pickle of a pair ``(states, optimizer)``, or of the states alone: a dictionary from
parameter index to None, an array, or tuples of these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluonish.core.errors import FileFormatError
from gluonish.core.file_kind import HEAD_NBYTES, file_kind
from gluonish.optimizer.plain_pickle import dump_plain
from gluonish.optimizer.restricted_pickle import ArrayState, ForeignObject, load_restricted

__all__ = ["ArrayState", "ForeignObject", "TrainerStates", "dump_states", "load_states"]

_MAX_DEPTH = 8
# A key of its own among the states, which MXNet's Module reads and never looks at.
_PROGRESS = "gluonish.progress"


@dataclass(frozen=True, slots=True, eq=False)
class TrainerStates:
    """What a states file holds.

    Args:
        states: From parameter index, or name, to None, an `ArrayState`, or a tuple of these.
        optimizer: The optimizer, where the file has one.
        progress: How far updates have come, where the file of a Module has it.
    """

    states: dict[int | str, Any]
    optimizer: ForeignObject | None = None
    progress: dict[str, Any] | None = None


def load_states(data: bytes, name: str = "states") -> TrainerStates:
    """Read a states file of any pickle protocol, MXNet 1.x's and 2.0's, or one of gluonish's.

    Args:
        data: Its content.
        name: What error messages call it.

    Raises:
        FileFormatError: It is no states file, or names a class that states do not need.
    """
    try:
        return _checked(load_restricted(data))
    except FileFormatError as error:
        kind = file_kind(data[:HEAD_NBYTES])
        if kind.advice and not data.startswith(b"\x80"):
            raise FileFormatError(
                f"{name}: expected a pickle of states, as save_states writes, got {kind.what}; "
                f"{kind.advice}"
            ) from error
        raise FileFormatError(f"{name}: {error}") from error


def _checked(content: object) -> TrainerStates:
    states, optimizer = content, None
    if isinstance(content, tuple) and len(content) == 2:
        states, optimizer = content
    if not isinstance(states, dict):
        raise FileFormatError(f"expected a dictionary, got {type(states).__name__}")
    if optimizer is not None and not isinstance(optimizer, ForeignObject):
        raise FileFormatError(f"expected an optimizer, got {type(optimizer).__name__}")
    progress = states.pop(_PROGRESS, None)
    if progress is not None:
        _check_progress(progress)
    for key, state in states.items():
        if not isinstance(key, int | str):
            raise FileFormatError(f"expected parameter indices, got {key!r:.40}")
        _check_state(state, _MAX_DEPTH)
    return TrainerStates(states, optimizer, progress)


def _check_progress(progress: object) -> None:
    """Refuse progress without the counts of updates."""
    found = progress if isinstance(progress, dict) else {}
    weights = found.get("weights")
    fits = isinstance(weights, dict) and all(
        isinstance(key, int | str) and isinstance(of, dict) and isinstance(of.get("count", 0), int)
        for key, of in weights.items()
    )
    if not fits or not all(isinstance(found.get(n), int) for n in ("num_update", "devices")):
        raise FileFormatError(f"expected counts of updates, got {progress!r:.80}")


def _check_state(state: object, depth: int) -> None:
    if isinstance(state, tuple | list) and depth:
        for part in state:
            _check_state(part, depth - 1)
    elif state is not None and not isinstance(state, ArrayState):
        raise FileFormatError(f"expected None, arrays or tuples, got {type(state).__name__}")


def dump_states(
    states: Mapping[Any, Any],
    optimizer: ForeignObject | None = None,
    progress: Mapping[str, Any] | None = None,
) -> bytes:
    """Write a states file that MXNet 1.9 loads.

    Args:
        states: From parameter index to None, an `ArrayState`, or tuples of these.
        optimizer: The optimizer under MXNet's class name, to write the pair; None writes the states
            alone. Objects that its dictionary holds twice are one object again after loading.
        progress: How far updates have come, plain data; None to leave it out.

    Raises:
        ArgumentTypeError: Something is neither an `ArrayState`, a `ForeignObject` nor plain data.
    """
    content = dict(states)
    if progress is not None:
        content[_PROGRESS] = dict(progress)
    return dump_plain(content if optimizer is None else (content, optimizer))
