"""Files of optimizer states.

A file is a pickle of a pair ``(states, optimizer)``, or of the states only: a dictionary from
parameter index to None, an array, or tuples of these.

Checks of loaded states against an optimizer's rule.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gluonish.lr_scheduler as lr_scheduler
from gluonish.core.context import cpu
from gluonish.core.dtype import is_floating
from gluonish.core.errors import FileFormatError, NotSupportedError, OperatorError
from gluonish.core.file_kind import HEAD_NBYTES, file_kind
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.array_file import DenseRecord
from gluonish.ndarray.sparse import BaseSparseNDArray
from gluonish.ndarray.sparse.creation import from_record
from gluonish.optimizer.base import Index, Optimizer, State
from gluonish.optimizer.restricted_pickle import (
    ArrayState,
    ForeignObject,
    dump_restricted,
    load_restricted,
)
from gluonish.optimizer.rule_optimizer import RuleOptimizer

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
# A reserved key among the states, which MXNet's Module loads and ignores.
_PROGRESS = "gluonish.progress"


@dataclass(frozen=True, slots=True, eq=False)
class TrainerStates:
    """The content of a states file.

    Args:
        states: Dict from parameter index or name to None, an `ArrayState`, or a tuple of these.
        optimizer: The optimizer, if the file has one.
        progress: The update counts, if the file of a Module has them.
    """

    states: dict[int | str, Any]
    optimizer: ForeignObject | None = None
    progress: dict[str, Any] | None = None


def load_states(data: bytes, name: str = "states") -> TrainerStates:
    """Read a states file of MXNet 1.x, MXNet 2.0 or gluonish, of any pickle protocol.

    Args:
        data: Content of the file.
        name: Name of the file in error messages.

    Raises:
        FileFormatError: The data is not a states file, or refers to a class that is not allowed.
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
    """Raise if progress does not contain valid update counts."""
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
        for element in state:
            _check_state(element, depth - 1)
    elif state is not None and not isinstance(state, ArrayState):
        raise FileFormatError(f"expected None, arrays or tuples, got {type(state).__name__}")


def dump_states(
    states: Mapping[Any, Any],
    optimizer: ForeignObject | None = None,
    progress: Mapping[str, Any] | None = None,
) -> bytes:
    """Write a states file that MXNet 1.9 loads.

    Args:
        states: Dict from parameter index to None, an `ArrayState`, or tuples of these.
        optimizer: The optimizer under MXNet's class name, to write the pair; None writes the states
            only. Loading preserves shared references in its dictionary.
        progress: The update counts as plain data; None to omit them.

    Raises:
        ArgumentTypeError: A value is neither an `ArrayState`, a `ForeignObject` nor plain data.
    """
    content = dict(states)
    if progress is not None:
        content[_PROGRESS] = dict(progress)
    return dump_restricted(content if optimizer is None else (content, optimizer))


_OURS = "gluonish."


def pack_state(state: State) -> Any:
    """Convert the NDArrays of a state to `ArrayState`; wait for their values."""
    if isinstance(state, BaseSparseNDArray):
        return ArrayState(state._record())
    if isinstance(state, NDArray):
        return ArrayState(DenseRecord(state.asnumpy()))
    if isinstance(state, tuple | list):
        return tuple(pack_state(element) for element in state)
    return state


def unpack_state(state: Any) -> State:
    """Convert the `ArrayState`s of a state to NDArrays on the CPU."""
    if isinstance(state, ArrayState):
        if not isinstance(state.record, DenseRecord):
            return from_record(state.record, cpu())
        if state.values is None:
            return None
        return array(state.values, ctx=cpu(), dtype=state.values.dtype)
    if isinstance(state, tuple | list):
        return tuple(unpack_state(element) for element in state)
    return state


def describe_optimizer(optimizer: Optimizer) -> ForeignObject:
    """Return the entry of an optimizer in a states file, under MXNet's class name if it has one."""
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
    """Convert the NDArrays of a setting to `ArrayState`; a setting without arrays is unchanged."""
    if isinstance(value, dict) and any(isinstance(x, NDArray | dict) for x in value.values()):
        packed = {key: pack_setting(x) for key, x in value.items()}
        return packed if any(packed[key] is not x for key, x in value.items()) else value
    return pack_state(value) if isinstance(value, NDArray) else value


def unpack_setting(value: Any) -> Any:
    """Convert the `ArrayState`s of a setting to NDArrays; a setting without arrays is unchanged."""
    if isinstance(value, dict):
        unpacked = {key: unpack_setting(x) for key, x in value.items()}
        return unpacked if any(unpacked[key] is not x for key, x in value.items()) else value
    return unpack_state(value) if isinstance(value, ArrayState) else value


def _written_name(value: object, module: str, user_module: str) -> str:
    """Return a class name in ``module``, or in ``user_module`` for user-defined classes."""
    kind = type(value)
    return f"{module if kind.__module__.startswith(_OURS) else user_module}.{kind.__name__}"


def revive_optimizer(saved: ForeignObject, current: Optimizer) -> Optimizer:
    """Return an optimizer with the settings and counts of a file.

    Args:
        saved: The file's optimizer.
        current: The optimizer in use. If it has the same class, the file's settings are set on a
            copy of it, so that classes of the user work; likewise for its scheduler.

    Raises:
        FileFormatError: A setting would hide a method.
        NotSupportedError: The class of the optimizer or scheduler is unknown.
    """
    state = dict(saved.state)
    _check_counts(state)
    scheduler = state.get("lr_scheduler")
    if scheduler is not None:
        state["lr_scheduler"] = _revive_scheduler(scheduler, current.lr_scheduler)
    name = _short_name(saved)
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
    """Check the update counts; use the counts of one device for all if the file has only those."""
    single = state.get("_index_update_count", {})
    counts = state.setdefault("_all_index_update_counts", {0: single})
    per_device = list(counts.values()) if isinstance(counts, dict) else [counts]
    for device_counts in per_device:
        fits = isinstance(device_counts, dict) and all(
            isinstance(count, int) for count in device_counts.values()
        )
        if not fits:
            raise FileFormatError(f"states: expected counts of updates, got {counts!r:.80}")


def _revive_scheduler(saved: object, current: Any) -> Any:
    if not isinstance(saved, ForeignObject):
        raise FileFormatError(f"states: expected a scheduler, got {type(saved).__name__}")
    name = _short_name(saved)
    known = getattr(lr_scheduler, name, None) if name in lr_scheduler.__all__ else None
    if type(current).__name__ == name:
        revived = copy.copy(current) if hasattr(current, "__dict__") else current
    elif known is not None:
        revived = object.__new__(known)
    else:
        raise NotSupportedError(
            f"states: expected one of {', '.join(lr_scheduler.__all__)}, got a scheduler {name}; "
            "set a scheduler of this class on the optimizer before loading"
        )
    _set_state(revived, saved.state)
    return revived


def _set_state(value: Any, state: dict[str, Any]) -> None:
    """Set instance attributes as unpickling would, but raise if one hides a method or property."""
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


def _short_name(saved: ForeignObject) -> str:
    return saved.class_name.rpartition(".")[2]


def check_states(
    optimizer: Optimizer, states: Mapping[Index, State], weights: Mapping[Any, NDArray], name: str
) -> None:
    """Reject states with which the next step would fail.

    Optimizers without a rule, such as user-defined ones, accept any states. Dtypes and the presence
    of float32 weights are not compared with the weights, which may be cast later.

    Args:
        optimizer: The optimizer that will use the states.
        states: Dict from index to state.
        weights: Dict from index to weight, as far as known.
        name: Name of the file in the error message.

    Raises:
        FileFormatError: A state has a wrong number of arrays, or arrays that are not floating or
            not of their weight's shape.
    """
    if not isinstance(optimizer, RuleOptimizer) or not optimizer.supports_apply:
        return
    for index, state in states.items():
        try:
            arrays = _arrays(optimizer, state)
        except OperatorError as error:
            raise FileFormatError(f"{name}: {error}, for weight {index!r}") from error
        weight = weights.get(index)
        rule = optimizer._rule()
        shapes = (*rule.shapes_of(weight.shape), weight.shape) if weight is not None else None
        for i, state_array in enumerate(arrays if rule.states else ()):
            if not is_floating(state_array._spec.dtype):
                raise FileFormatError(
                    f"{name}: expected floating states of weight {index!r}, got {state_array.dtype}"
                )
            if shapes is not None and state_array.shape != shapes[i]:
                raise FileFormatError(
                    f"{name}: expected states of the shape {shapes[i]} of weight {index!r}, "
                    f"got {state_array.shape}; they belong to another network"
                )


def _arrays(optimizer: RuleOptimizer, state: State) -> tuple[NDArray, ...]:
    """Return a state's arrays, with or without a float32 weight."""
    try:
        return optimizer.arrays_of(state, mixed=False)
    except OperatorError:
        if not optimizer.multi_precision:
            raise
        return optimizer.arrays_of(state, mixed=True)
