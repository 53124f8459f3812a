"""Helpers of `mx.gluon.rnn.rnn_cell` for programs with their own recurrent cells."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.gluon.rnn import sequence
from gluonish.gluon.rnn.recurrent_cell import RecurrentCell, joined_info, joined_states
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
    """Convert a sequence to the requested form, for unrolling a cell.

    Args:
        length: Number of steps; None to infer it from ``inputs``.
        inputs: An array or Symbol with a time axis, or a list with an item for each step.
        layout: Layout of the result, such as ``"NTC"``.
        merge: True for one array, False for a list of steps, None to keep the form.
        in_layout: Layout of ``inputs``, if it differs.

    Returns:
        The sequence, its time axis, the module of functions (``mx.nd`` or ``mx.sym``), and the
        batch size (0 for Symbols).

    Raises:
        ArgumentError: There are no inputs, the number of steps differs, or a Symbol has several
            outputs.
    """
    if inputs is None:
        raise ArgumentError(
            "unroll(inputs=None) has been deprecated. Please create input variables outside unroll."
        )
    axis = sequence.time_axis(layout, _WHAT)
    in_axis = axis if in_layout is None else sequence.time_axis(in_layout, _WHAT)
    is_array = sequence.is_tensor(inputs)
    first = inputs if is_array else inputs[0]
    space = sequence.namespace_of(first)
    count = sequence.batch_size(inputs, layout)
    steps: int = length if length is not None else 0
    if length is None:
        steps = inputs.shape[in_axis] if is_array else len(inputs)
    if is_array and merge is False:
        return sequence.as_steps(steps, inputs, in_axis, _WHAT), axis, space, count
    if is_array:
        swapped = inputs if axis == in_axis else space.swapaxes(inputs, dim1=axis, dim2=in_axis)
        return swapped, axis, space, count
    return sequence.arranged(steps, inputs, axis, merge, _WHAT), axis, space, count


def mask_sequence_variable_length(
    F: ModuleType, data: Any, length: int, valid_length: Any, time_axis: int, merge: bool | None
) -> Any:
    """Set the steps after the end of each sample to zero.

    Args:
        F: Module of functions; ignored.
        data: An array with a time axis, or a list with an array for each step.
        length: Number of steps.
        valid_length: (N,), number of valid steps of each sample.
        time_axis: Index of the time axis.
        merge: Whether to return one array; if not, a list.
    """
    merged = sequence.as_array(length, data, time_axis, _WHAT)
    masked = sequence.masked(merged, valid_length, time_axis)
    return masked if merge else sequence.as_steps(length, masked, time_axis, _WHAT)


def reverse_sequences(
    sequences: Sequence[Any], unroll_step: int, valid_length: Any = None
) -> list[Any]:
    """Reverse the order of the steps; with ``valid_length`` only of the valid steps.

    Args:
        sequences: List with an array (N, ...) for each step.
        unroll_step: Number of steps.
        valid_length: (N,), number of valid steps of each sample.

    Raises:
        ArgumentError: The number of steps differs.
    """
    if len(sequences) != unroll_step:
        raise ArgumentError(
            f"reverse_sequences: expected {unroll_step} steps, got {len(sequences)}"
        )
    return sequence.reversed_steps(sequences, valid_length)


def begin_state(
    cell: RecurrentCell, F: ModuleType, begin_state: Any, inputs: Any, batch_size: int
) -> Any:
    """Return ``begin_state``, or zeros that fit a sequence if it is None.

    Args:
        cell: The cell.
        F: Module of functions that creates the zeros.
        begin_state: The states; None for zeros.
        inputs: The sequence, which determines the device.
        batch_size: Batch size N.
    """
    if begin_state is not None:
        return begin_state
    first = inputs if sequence.is_tensor(inputs) else inputs[0]
    where = {} if F is sym else {"ctx": first.context}
    return cell.begin_state(batch_size=batch_size, func=F.zeros, **where)


def state_infos(cells: Iterable[RecurrentCell], batch_size: int) -> list[dict[str, Any]]:
    """Return shape and layout of every state of several cells, concatenated.

    Args:
        cells: The cells.
        batch_size: Batch size N.
    """
    return joined_info(cells, batch_size)


def begin_states(
    cells: Iterable[RecurrentCell], batch_size: int = 0, func: Any = nd.zeros, **kwargs: Any
) -> list[Any]:
    """Return the initial states of several cells; see `RecurrentCell.begin_state`."""
    return joined_states(cells, batch_size, func, kwargs)


def state_shapes(cells: Iterable[BaseRNNCell]) -> list[tuple[int, ...]]:
    """Return the shape of every state of symbolic cells."""
    return [shape for cell in cells for shape in cell.state_shape]


def symbolic_state_infos(cells: Iterable[BaseRNNCell]) -> list[dict[str, Any]]:
    """Return shape and layout of every state of symbolic cells."""
    return [info for cell in cells for info in cell.state_info]


def symbolic_begin_states(cells: Iterable[BaseRNNCell], **kwargs: Any) -> list[Any]:
    """Return the initial states of symbolic cells."""
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


def unpacked_weights(cells: Iterable[BaseRNNCell], args: dict[str, Any]) -> dict[str, Any]:
    """Split the weights of symbolic cells into gates; return all arrays by name."""
    for cell in cells:
        args = cell.unpack_weights(args)
    return args


def packed_weights(cells: Iterable[BaseRNNCell], args: dict[str, Any]) -> dict[str, Any]:
    """Join the gates' weights of symbolic cells; return all arrays by name."""
    for cell in cells:
        args = cell.pack_weights(args)
    return args
