"""Cells that modify other cells: ZoneoutCell and ResidualCell."""

from collections.abc import Callable
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.rnn.base_cell import Arrays, BaseRNNCell, Info, RNNParams, States, normalized
from gluonish.rnn.fused_cell import FusedRNNCell
from gluonish.rnn.sequential_cell import BidirectionalCell
from gluonish.symbol import Symbol


class ModifierCell(BaseRNNCell):
    """Base class of cells that modify another cell, with the weights and states of that cell.

    Args:
        base_cell: The cell to modify, which cannot be called directly any more.
    """

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self) -> RNNParams:
        """The weights of the modified cell."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        return self.base_cell.state_info

    def begin_state(  # type: ignore[override]  # `func` goes through `kwargs`, as in MXNet
        self, init_sym: Callable[..., Any] = sym.zeros, **kwargs: Any
    ) -> States:
        """Create the states before the first step.

        Args:
            init_sym: Function that creates a state; see `BaseRNNCell.begin_state`.
            **kwargs: Arguments of ``init_sym``.

        Raises:
            ArgumentError: This cell is modified by another cell.
        """
        self._check_unmodified()
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(func=kwargs.pop("func", init_sym), **kwargs)
        finally:
            self.base_cell._modified = True

    def reset(self) -> None:
        """Restart the numbering of steps and states, before using the cell in another graph."""
        super().reset()
        if hasattr(self, "base_cell"):
            self.base_cell.reset()

    def unpack_weights(self, args: Arrays) -> Arrays:
        """Split the cell's packed weights into one array for each gate.

        Args:
            args: Arrays by name, which are not changed.
        """
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Arrays) -> Arrays:
        """Join the arrays of the cell's gates into packed weights; undoes `unpack_weights`.

        Args:
            args: Arrays by name, which are not changed.
        """
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Zoneout: in training, random elements keep their values from the previous step.

    Args:
        base_cell: The cell to modify.
        zoneout_outputs: Probability that an element of the output keeps its previous value.
        zoneout_states: Probability that an element of a state keeps its previous value.

    Raises:
        ArgumentError: The cell cannot compute single steps: it is fused or bidirectional.

    References:
        D. Krueger and others, "Zoneout: Regularizing RNNs by Randomly Preserving Hidden
        Activations", 2017.
    """

    def __init__(
        self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        if isinstance(base_cell, FusedRNNCell):
            raise ArgumentError("FusedRNNCell doesn't support zoneout. Please unfuse first.")
        inner = getattr(base_cell, "_cells", [])
        if isinstance(base_cell, BidirectionalCell) or any(
            isinstance(cell, BidirectionalCell) for cell in inner
        ):
            raise ArgumentError(
                "BidirectionalCell doesn't support zoneout since it doesn't support step. Please "
                "add ZoneoutCell to the cells underneath instead."
            )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output: Symbol | None = None

    def reset(self) -> None:
        """Restart the numbering of steps and states, and drop the previous output."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        output, next_states = self.base_cell(inputs, states)
        before = sym.zeros((0, 0)) if self.prev_output is None else self.prev_output
        if self.zoneout_outputs:
            output = _zoneout(self.zoneout_outputs, output, before)
        if self.zoneout_states:
            next_states = [
                _zoneout(self.zoneout_states, new, old)
                for new, old in zip(next_states, states, strict=True)
            ]
        self.prev_output = output
        return output, next_states


def _zoneout(probability: float, new: Symbol, old: Symbol) -> Symbol:
    """Return ``new``, with random elements replaced by those of ``old`` in training."""
    mask = sym.Dropout(sym.ones_like(new), p=probability)
    found: Symbol = sym.where(mask, new, old)
    return found


class ResidualCell(ModifierCell):
    """Add the input of a cell to its output, which has the same shape.

    Args:
        base_cell: The cell to modify.

    References:
        Y. Wu and others, "Google's Neural Machine Translation System", 2016.
    """

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`."""
        output, states = self.base_cell(inputs, states)
        return _added(output, inputs), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: States | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll the cell over several time steps, and add the inputs to the outputs.

        Args:
            length: Number of steps.
            inputs: One Symbol (N, T, C), or a list of one Symbol (N, C) per step.
            begin_state: States before the first step; None for zeros.
            layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one Symbol, False a list; None the form in which
                ``base_cell`` returns them.

        Returns:
            The outputs of all steps, and the states after the last one.
        """
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(
                length, inputs, begin_state, layout, merge_outputs
            )
        finally:
            self.base_cell._modified = True
        merge = isinstance(outputs, Symbol) if merge_outputs is None else merge_outputs
        inputs, _ = normalized(length, inputs, layout, merge)
        if merge:
            return _added(outputs, inputs), states
        return [_added(y, x) for y, x in zip(outputs, inputs, strict=True)], states


def _added(output: Symbol, inputs: Symbol) -> Symbol:
    found: Symbol = sym.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")
    return found
