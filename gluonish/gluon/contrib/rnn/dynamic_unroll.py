"""dynamic_unroll: a cell over a sequence whose length a graph need not know."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.rnn.recurrent_cell import RecurrentCell, remembers
from gluonish.gluon.rnn.sequence import is_tensor, masked, namespace_of
from gluonish.ndarray import NDArray

__all__ = ["dynamic_unroll"]


def dynamic_unroll(
    cell: RecurrentCell,
    inputs: Any,
    begin_state: Sequence[Any],
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> tuple[Any, list[Any]]:
    """Process whole sequences with a loop operator, `contrib.foreach`.

    In a graph the loop is one node, however many steps there are.

    Args:
        cell: The cell.
        inputs: (T, N, C), or (N, T, C) with layout NTC.
        begin_state: List of the states before the first step.
        drop_inputs: Dropout rate of the inputs, with the same mask at all steps.
        drop_outputs: Dropout rate of the outputs, with the same mask at all steps.
        layout: ``"TNC"`` or ``"NTC"``.
        valid_length: (N,), length of each sequence; None if all have T steps. Outputs after the end
            of a sequence are 0.

    Returns:
        The outputs in ``layout``, and the list of states after the last step of each sequence.

    Raises:
        ArgumentError: ``layout`` is neither of these, or a rate is not in [0, 1].
        ArgumentTypeError: ``inputs`` is not an array.
        NotSupportedError: In a graph: the cell keeps arrays from one step for the next.
    """
    _check(cell, inputs, drop_inputs, drop_outputs, layout)
    F, axis = namespace_of(inputs), layout.index("T")
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(axis,))
    if axis == 1:
        inputs = F.swapaxes(inputs, dim1=0, dim2=1)

    def step(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        output, last = cell(x, states)
        return ([output, *last] if valid_length is not None else output), list(last)

    cell.reset()
    outputs, states = F.contrib.foreach(step, inputs, list(begin_state))
    cell.reset()  # what the cell kept belongs to the loop
    if valid_length is not None:
        outputs, *kept = outputs
        states = [
            F.SequenceLast(x, sequence_length=valid_length, use_sequence_length=True) for x in kept
        ]
    if axis == 1:
        outputs = F.swapaxes(outputs, dim1=0, dim2=1)
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(axis,))
    if valid_length is not None:
        outputs = masked(outputs, valid_length, axis)
    return outputs, list(states)


def _check(
    cell: RecurrentCell, inputs: Any, drop_inputs: float, drop_outputs: float, layout: str
) -> None:
    if layout not in ("TNC", "NTC"):
        raise ArgumentError(f"dynamic_unroll: expected layout TNC or NTC, got {layout!r}")
    if not is_tensor(inputs):
        raise ArgumentTypeError(
            f"dynamic_unroll: expected inputs to be an array, got {type(inputs).__name__}"
        )
    for rate in (drop_inputs, drop_outputs):
        if not 0 <= rate <= 1:
            raise ArgumentError(f"dynamic_unroll: expected probabilities in [0, 1], got {rate}")
    if not isinstance(inputs, NDArray) and remembers(cell):
        raise NotSupportedError(
            "dynamic_unroll: expected, in a graph, a cell that keeps no arrays between steps, got "
            f"{cell.name}; call its unroll"
        )
