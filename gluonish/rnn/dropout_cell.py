"""DropoutCell: dropout between symbolic cells."""

from numbers import Number
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError
from gluonish.rnn.base_cell import BaseRNNCell, Info, States
from gluonish.rnn.params import RNNParams
from gluonish.rnn.sequences import normalized
from gluonish.symbol import Symbol

__all__ = ["DropoutCell"]


class DropoutCell(BaseRNNCell):
    """Dropout between cells; it has no state.

    Args:
        dropout: Probability of zeroing each element while training.
        prefix: Prefix of the names of its outputs.
        params: Taken as for other cells; it has no weights.

    Raises:
        ArgumentTypeError: ``dropout`` is not a number.
    """

    def __init__(
        self, dropout: float, prefix: str = "dropout_", params: RNNParams | None = None
    ) -> None:
        super().__init__(prefix, params)
        if not isinstance(dropout, Number):
            raise ArgumentTypeError(
                f"DropoutCell: dropout probability must be a number, got {dropout!r}"
            )
        self.dropout = dropout

    @property
    def state_info(self) -> list[Info]:
        """No states."""
        return []

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        if self.dropout > 0:
            inputs = sym.Dropout(inputs, p=self.dropout)
        return inputs, states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: States | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Apply dropout to several steps; to all at once if they are one Symbol.

        Args:
            length: Number of steps.
            inputs: One Symbol (N, T, C), or a list of one Symbol (N, C) per step.
            begin_state: An empty list, or None.
            layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one Symbol, False a list, None the form of ``inputs``.
        """
        self.reset()
        inputs, _ = normalized(length, inputs, layout, merge_outputs)
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)
