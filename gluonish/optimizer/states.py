"""States of optimizers in files.

A file is one pickle of a pair ``(states, optimizer)``, or of the states alone: a dictionary from
parameter index to None, an array, or tuples of these.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gluonish.lr_scheduler as lr_scheduler
from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.core.file_kind import HEAD_NBYTES, file_kind
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.array_file import DenseRecord
from gluonish.ndarray.sparse import BaseSparseNDArray
from gluonish.ndarray.sparse.creation import from_record
from gluonish.optimizer.base import Optimizer, State
from gluonish.optimizer.restricted_pickle import (
    ArrayState,
    ForeignObject,
    dump_plain,
    load_restricted,
)

__all__ = [
    "ArrayState",
    "ForeignObject",
    "TrainerStates",
    "describe_optimizer",
    "dump_states",
    "load_states",
    "pack_setting",
    "pack_state",
    "revive_optimizer",
    "unpack_setting",
    "unpack_state",
]

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


_OURS = "gluonish."


def pack_state(state: State) -> Any:
    """Return a state with its NDArrays as `ArrayState`, waiting for their values."""
    if isinstance(state, BaseSparseNDArray):
        return ArrayState(state._record())
    if isinstance(state, NDArray):
        return ArrayState(DenseRecord(state.asnumpy()))
    if isinstance(state, tuple | list):
        return tuple(pack_state(part) for part in state)
    return state


def unpack_state(state: Any) -> State:
    """Return a state from a file with NDArrays on the CPU."""
    if isinstance(state, ArrayState):
        if not isinstance(state.record, DenseRecord):
            return from_record(state.record, cpu())
        if state.values is None:
            return None
        return array(state.values, ctx=cpu(), dtype=state.values.dtype)
    if isinstance(state, tuple | list):
        return tuple(unpack_state(part) for part in state)
    return state


def describe_optimizer(optimizer: Optimizer) -> ForeignObject:
    """Return an optimizer as a states file tells it: under MXNet's name where MXNet has it."""
    state = {key: pack_setting(value) for key, value in optimizer.__getstate__().items()}
    scheduler = state.get("lr_scheduler")
    if scheduler is not None:
        name = _written_name(scheduler, "mxnet.lr_scheduler", "gluonish.lr_scheduler")
        state["lr_scheduler"] = ForeignObject(name, dict(vars(scheduler)))
    in_contrib = type(optimizer).__module__ == "gluonish.optimizer.contrib"
    module = "mxnet.optimizer.contrib" if in_contrib else "mxnet.optimizer.optimizer"
    name = _written_name(optimizer, module, "gluonish.optimizer")
    return ForeignObject(name, state)


def pack_setting(value: Any) -> Any:
    """Return a setting with its NDArrays as `ArrayState`; one that has none is itself."""
    if isinstance(value, dict) and any(isinstance(x, NDArray | dict) for x in value.values()):
        packed = {key: pack_setting(x) for key, x in value.items()}
        return packed if any(packed[key] is not x for key, x in value.items()) else value
    return pack_state(value) if isinstance(value, NDArray) else value


def unpack_setting(value: Any) -> Any:
    """Return a setting from a file with its arrays as NDArrays; one that has none is itself."""
    if isinstance(value, dict):
        unpacked = {key: unpack_setting(x) for key, x in value.items()}
        return unpacked if any(unpacked[key] is not x for key, x in value.items()) else value
    return unpack_state(value) if isinstance(value, ArrayState) else value


def _written_name(value: object, module: str, own_module: str) -> str:
    kind = type(value)
    return f"{module if kind.__module__.startswith(_OURS) else own_module}.{kind.__name__}"


def revive_optimizer(told: ForeignObject, current: Optimizer) -> Optimizer:
    """Return an optimizer with the settings and counts that a file tells.

    Args:
        told: What the file tells.
        current: The optimizer in use. If it has the same class, the file's settings go over a copy
            of it, which serves classes of the user; so does its scheduler.

    Raises:
        FileFormatError: A setting would hide a method.
        NotSupportedError: Optimizer or scheduler are of an unknown class.
    """
    state = dict(told.state)
    _check_counts(state)
    scheduler = state.get("lr_scheduler")
    if scheduler is not None:
        state["lr_scheduler"] = _revive_scheduler(scheduler, current.lr_scheduler)
    name = _short_name(told)
    if type(current).__name__ == name:
        revived = copy.copy(current)
    elif name.lower() in Optimizer.opt_registry:
        revived = Optimizer.create_optimizer(name)
    else:
        raise NotSupportedError(
            f"states: expected one of {', '.join(sorted(Optimizer.opt_registry))},"
            f" got an optimizer {name}; register its class first"
        )
    _set_state(revived, state)
    revived._continue_on_any_device()
    revived._set_current_context(0)
    revived.param_dict = {}
    return revived


def _check_counts(state: dict[str, Any]) -> None:
    """Refuse counts that are none; where only those of one device are told, take them for all."""
    single = state.get("_index_update_count", {})
    counts = state.setdefault("_all_index_update_counts", {0: single})
    per_device = list(counts.values()) if isinstance(counts, dict) else [counts]
    for device_counts in per_device:
        fits = isinstance(device_counts, dict) and all(
            isinstance(count, int) for count in device_counts.values()
        )
        if not fits:
            raise FileFormatError(f"states: expected counts of updates, got {counts!r:.80}")


def _revive_scheduler(told: object, current: Any) -> Any:
    if not isinstance(told, ForeignObject):
        raise FileFormatError(f"states: expected a scheduler, got {type(told).__name__}")
    name = _short_name(told)
    known = getattr(lr_scheduler, name, None) if name in lr_scheduler.__all__ else None
    if type(current).__name__ == name:
        revived = copy.copy(current) if hasattr(current, "__dict__") else current
    elif known is not None:
        revived = object.__new__(known)
    else:
        raise NotSupportedError(
            f"states: expected one of {', '.join(lr_scheduler.__all__)}, got a scheduler {name}; "
            "give the trainer a scheduler of this class before loading"
        )
    _set_state(revived, told.state)
    return revived


def _set_state(value: Any, state: dict[str, Any]) -> None:
    """Set instance attributes as unpickling would, but none that hides what the class defines."""
    kind = type(value)
    for key, setting in state.items():
        hidden = getattr(kind, key, None)
        bad = callable(hidden) or isinstance(hidden, property)
        if bad or isinstance(setting, ForeignObject | ArrayState):
            raise FileFormatError(
                f"states: expected the settings of {kind.__name__}, got {key} = {setting!r:.40}"
            )
    unpacked = {key: unpack_setting(setting) for key, setting in state.items()}
    if isinstance(value, Optimizer):
        value.__setstate__(unpacked)
    else:
        value.__dict__.update(unpacked)


def _short_name(told: ForeignObject) -> str:
    return told.class_name.rpartition(".")[2]
