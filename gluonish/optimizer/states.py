"""Optimizers and their states as files hold them: NDArrays as records, objects as names."""

import copy
from typing import Any

import gluonish.lr_scheduler as lr_scheduler
from gluonish.core.context import cpu
from gluonish.core.errors import FileFormatError, NotSupportedError
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.array_file import DenseRecord
from gluonish.ndarray.sparse import BaseSparseNDArray
from gluonish.ndarray.sparse.creation import from_record
from gluonish.optimizer.base import Optimizer, State
from gluonish.optimizer.states_file import ArrayState, ForeignObject

__all__ = [
    "describe_optimizer",
    "pack_setting",
    "pack_state",
    "revive_optimizer",
    "unpack_setting",
    "unpack_state",
]

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
