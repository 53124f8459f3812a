"""VariationalDropoutCell, LSTMPCell, and unrolling with a loop operator."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.number_check import DeferErrorToCall, check_numbers
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.rnn.modifier_cell import ModifierCell, holds_bidirectional, same_kind
from gluonish.gluon.rnn.recurrent_cell import RecurrentCell, has_memory
from gluonish.gluon.rnn.rnn_cell import LSTMPCell
from gluonish.gluon.rnn.sequence import (
    arranged,
    as_array,
    is_tensor,
    masked,
    namespace_of,
    time_axis,
)
from gluonish.ndarray import NDArray

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]


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

    In a graph the loop is one node, for any number of steps.

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
        ArgumentError: ``layout`` is unknown, or a rate is not in [0, 1].
        ArgumentTypeError: ``inputs`` is not an array.
        NotSupportedError: In a graph: the cell stores arrays between steps.
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
    cell.reset()  # arrays stored by the cell belong to the loop
    if valid_length is not None:
        outputs, *step_states = outputs
        states = [
            F.SequenceLast(x, sequence_length=valid_length, use_sequence_length=True)
            for x in step_states
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
    if not isinstance(inputs, NDArray) and has_memory(cell):
        raise NotSupportedError(
            "dynamic_unroll: expected a stateless cell in a graph, got "
            f"{cell.name}, which stores arrays between steps; use its unroll"
        )


class VariationalDropoutCell(ModifierCell):
    """Applies the same dropout masks to a cell's input, state and output at all steps.

    Masks are drawn at the first step in training mode, and reused until `reset`, which `unroll`
    calls.

    Args:
        base_cell: The cell.
        drop_inputs: Dropout rate of the input.
        drop_states: Dropout rate of the first state, before each step.
        drop_outputs: Dropout rate of the output; states are not affected.

    Inputs:
        inputs: Input of ``base_cell``.
        states: List of the states of ``base_cell``.

    Outputs:
        output: Output of ``base_cell``.
        states: List of new states, as in the inputs.

    Raises:
        ArgumentTypeError: ``base_cell`` is not a hybrid cell.
        ArgumentError: ``base_cell`` is part of another modifier, or is or contains a
            `BidirectionalCell` and ``drop_states`` is not 0; at the call: a rate is not in [0, 1].

    References:
        Y. Gal, Z. Ghahramani, A Theoretically Grounded Application of Dropout in Recurrent Neural
        Networks, 2016.
    """

    _has_memory: ClassVar[bool] = True

    def __init__(
        self,
        base_cell: Any,
        drop_inputs: float = 0.0,
        drop_states: float = 0.0,
        drop_outputs: float = 0.0,
    ) -> None:
        rates = {"drop_inputs": drop_inputs, "drop_states": drop_states}
        check_numbers("VariationalDropoutCell", **rates, drop_outputs=drop_outputs)
        if drop_states and holds_bidirectional(base_cell):
            raise ArgumentError(
                "VariationalDropoutCell: expected a base_cell with single steps for "
                "drop_states, got one with a BidirectionalCell; wrap the cells in it with "
                "VariationalDropoutCell"
            )
        super().__init__(base_cell)
        with DeferErrorToCall(self):
            for rate in (drop_inputs, drop_states, drop_outputs):
                if not 0 <= rate <= 1:
                    raise ArgumentError(
                        f"VariationalDropoutCell: expected probabilities in [0, 1], got {rate}"
                    )
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs
        self.drop_inputs_mask: Any = None
        self.drop_states_mask: Any = None
        self.drop_outputs_mask: Any = None

    _untracked = ModifierCell._untracked | {
        "drop_inputs_mask",
        "drop_outputs_mask",
        "drop_states_mask",
    }

    def _alias(self) -> str:
        return "vardrop"

    def reset(self) -> None:
        """Drop the masks, so that new ones are drawn at the next step."""
        super().reset()
        self.drop_inputs_mask = None
        self.drop_states_mask = None
        self.drop_outputs_mask = None

    def hybrid_forward(
        self, F: ModuleType, inputs: Tensor, states: Sequence[Tensor]
    ) -> tuple[Any, list[Any]]:
        """Compute one time step.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: Input of the step.
            states: List of the previous states.
        """
        if self.drop_states and states:
            first, *others = states
            self.drop_states_mask = _mask(F, self.drop_states_mask, first, self.drop_states)
            states = [first * self.drop_states_mask, *others]
        if self.drop_inputs:
            self.drop_inputs_mask = _mask(F, self.drop_inputs_mask, inputs, self.drop_inputs)
            inputs = inputs * self.drop_inputs_mask
        output, last = self.base_cell(inputs, list(states))
        if self.drop_outputs:
            self.drop_outputs_mask = _mask(F, self.drop_outputs_mask, output, self.drop_outputs)
            output = output * self.drop_outputs_mask
        return output, list(last)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Process whole sequences, with the same dropout masks at all steps.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: States before the first step; None for zeros.
            layout: Order of the axes, ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one array in ``layout``, False a list of T arrays; None for
                an array, or with ``drop_states`` as `RecurrentCell.unroll`.
            valid_length: (N,), length of each sequence; None if all have T steps. Outputs after the
                end of a sequence are 0.

        Returns:
            The outputs, and the list of states after the last step of each sequence.
        """
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.reset()
        axis = time_axis(layout, self.name)
        if self.drop_inputs:
            sequence = as_array(length, inputs, axis, self.name)
            inputs = namespace_of(sequence).Dropout(sequence, p=self.drop_inputs, axes=(axis,))
        with self._unmodified():
            outputs, states = self.base_cell.unroll(
                length, inputs, begin_state, layout, True, valid_length
            )
        if self.drop_outputs:
            outputs = namespace_of(outputs).Dropout(outputs, p=self.drop_outputs, axes=(axis,))
            if valid_length is not None:
                outputs = masked(outputs, valid_length, axis)
        return arranged(length, outputs, axis, merge_outputs, self.name), states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"


def _mask(F: ModuleType, mask: Any, like: Any, p: float) -> Any:
    """Return the existing mask, or draw a new one."""
    if mask is not None and same_kind(mask, like):
        return mask
    return F.Dropout(F.ones_like(like), p=p)
