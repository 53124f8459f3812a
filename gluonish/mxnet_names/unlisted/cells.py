"""What programs with their own recurrent cells take from `mx.gluon.rnn.rnn_cell`."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.recurrent import sequence
from gluonish.recurrent.recurrent_cell import RecurrentCell, joined_info, joined_states
from gluonish.rnn.base_cell import BaseRNNCell

__all__ = [
    "begin_state",
    "begin_states",
    "format_sequence",
    "mask_sequence_variable_length",
    "packed_weights",
    "reverse_sequences",
    "state_infos",
    "state_shapes",
    "symbolic_begin_states",
    "symbolic_state_infos",
    "unpacked_weights",
]

_WHAT = "format_sequence"


def format_sequence(
    length: int | None, inputs: Any, layout: str, merge: bool | None, in_layout: str | None = None
) -> tuple[Any, int, ModuleType, int]:
    """Return a sequence in the wanted form, and what a cell needs to unroll over it.

    Args:
        length: Number of steps; None for as many as there are.
        inputs: An array or Symbol with an axis of time, or a list with one for each step.
        layout: Order of the axes of the result, such as ``"NTC"``.
        merge: True for one array, False for a list of steps, None for the form that it has.
        in_layout: Order of the axes of ``inputs``, if another.

    Returns:
        The sequence, its axis of time, the module of its functions, and N (0 of Symbols).

    Raises:
        ArgumentError: for no inputs, another number of steps, or a Symbol with several outputs.
    """
    if inputs is None:
        raise ArgumentError(
            "unroll(inputs=None) has been deprecated. Please create input variables outside unroll."
        )
    axis = sequence.time_axis(layout, _WHAT)
    in_axis = axis if in_layout is None else sequence.time_axis(in_layout, _WHAT)
    whole = sequence.is_tensor(inputs)
    first = inputs if whole else inputs[0]
    space = sequence.namespace_of(first)
    count = sequence.batch_size(inputs, layout)
    steps: int = length if length is not None else 0
    if length is None:
        steps = inputs.shape[in_axis] if whole else len(inputs)
    if whole and merge is False:
        return sequence.as_steps(steps, inputs, in_axis, _WHAT), axis, space, count
    if whole:
        turned = inputs if axis == in_axis else space.swapaxes(inputs, dim1=axis, dim2=in_axis)
        return turned, axis, space, count
    return sequence.arranged(steps, inputs, axis, merge, _WHAT), axis, space, count


def mask_sequence_variable_length(
    F: ModuleType, data: Any, length: int, valid_length: Any, time_axis: int, merge: bool | None
) -> Any:
    """Return a sequence with 0 behind the end of each of its parts.

    Args:
        F: The module of functions; that of ``data`` is taken.
        data: An array with an axis of time, or a list with one for each step.
        length: Number of steps.
        valid_length: (N,), steps of each part.
        time_axis: Where time is in an array.
        merge: True for one array, else a list.
    """
    whole = sequence.as_array(length, data, time_axis, _WHAT)
    masked = sequence.masked(whole, valid_length, time_axis)
    return masked if merge else sequence.as_steps(length, masked, time_axis, _WHAT)


def reverse_sequences(
    sequences: Sequence[Any], unroll_step: int, valid_length: Any = None
) -> list[Any]:
    """Return steps from the last to the first, of each part up to its length if that is given.

    Args:
        sequences: A list with an array (N, ...) for each step.
        unroll_step: Number of steps.
        valid_length: (N,), steps of each part.

    Raises:
        ArgumentError: for another number of steps.
    """
    if len(sequences) != unroll_step:
        raise ArgumentError(
            f"reverse_sequences: expected {unroll_step} steps, got {len(sequences)}"
        )
    return sequence.reversed_steps(sequences, valid_length)


def begin_state(
    cell: RecurrentCell, F: ModuleType, begin_state: Any, inputs: Any, batch_size: int
) -> Any:
    """Return the states given, or new zeros for a sequence.

    Args:
        cell: Whose states.
        F: The module of functions that makes them.
        begin_state: The states; None for zeros.
        inputs: The sequence, which says on which device they are made.
        batch_size: N.
    """
    if begin_state is not None:
        return begin_state
    first = inputs if sequence.is_tensor(inputs) else inputs[0]
    where = {} if F is sym else {"ctx": first.context}
    return cell.begin_state(batch_size=batch_size, func=F.zeros, **where)


def state_infos(cells: Iterable[RecurrentCell], batch_size: int) -> list[dict[str, Any]]:
    """Return shape and layout of every state of cells, one after the other."""
    return joined_info(cells, batch_size)


def begin_states(
    cells: Iterable[RecurrentCell], batch_size: int = 0, func: Any = nd.zeros, **kwargs: Any
) -> list[Any]:
    """Return the first states of cells; the arguments are those of `RecurrentCell.begin_state`."""
    return joined_states(cells, batch_size, func, kwargs)


def state_shapes(cells: Iterable[BaseRNNCell]) -> list[tuple[int, ...]]:
    """Return the shape of every state of symbolic cells."""
    return [shape for cell in cells for shape in cell.state_shape]


def symbolic_state_infos(cells: Iterable[BaseRNNCell]) -> list[dict[str, Any]]:
    """Return shape and layout of every state of symbolic cells."""
    return [info for cell in cells for info in cell.state_info]


def symbolic_begin_states(cells: Iterable[BaseRNNCell], **kwargs: Any) -> list[Any]:
    """Return the first states of symbolic cells."""
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


def unpacked_weights(cells: Iterable[BaseRNNCell], args: dict[str, Any]) -> dict[str, Any]:
    """Return arrays by name with the weights of symbolic cells split by gates."""
    for cell in cells:
        args = cell.unpack_weights(args)
    return args


def packed_weights(cells: Iterable[BaseRNNCell], args: dict[str, Any]) -> dict[str, Any]:
    """Return arrays by name with the weights of symbolic cells joined, as they run with them."""
    for cell in cells:
        args = cell.pack_weights(args)
    return args
