"""Cells composed of other cells, and DropoutCell."""

from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.rnn.base_cell import Arrays, BaseRNNCell, Info, RNNParams, States, normalized
from gluonish.symbol import Symbol


class _Cells(BaseRNNCell):
    """Base class of cells composed of several cells.

    Args:
        params: Weights shared by the inner cells; None if they have their own.
    """

    def __init__(self, params: RNNParams | None) -> None:
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None

    def _add_cells(self, cells: Iterable[BaseRNNCell]) -> None:
        """Add inner cells and their weights."""
        for cell in cells:
            self._cells.append(cell)
            if self._override_cell_params:
                if not cell._own_params:
                    raise ArgumentError(
                        f"Either specify params for {type(self).__name__} or child cells, not both."
                    )
                cell.params._params.update(self.params._params)
            self.params._params.update(cell.params._params)

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> States:
        """Create the states of all inner cells before the first step.

        Args:
            func: Function that creates a state; see `BaseRNNCell.begin_state`.
            **kwargs: Arguments of ``func``.

        Raises:
            ArgumentError: The cell is modified by another cell.
        """
        self._check_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(func=func, **kwargs)]

    def unpack_weights(self, args: Arrays) -> Arrays:
        """Split the cells' packed weights into one array for each gate.

        Args:
            args: Arrays by name, which are not changed.
        """
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        """Join the arrays of the cells' gates into packed weights; undoes `unpack_weights`.

        Args:
            args: Arrays by name, which are not changed.
        """
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _states_of(self, states: States) -> list[States]:
        """Split states into one list per inner cell."""
        groups = []
        for cell in self._cells:
            count = len(cell.state_info)
            groups.append(states[:count])
            states = states[count:]
        return groups


class SequentialRNNCell(_Cells):
    """Stack of cells; each reads the output of the cell below.

    Args:
        params: Weights shared by all cells; None if they have their own.
    """

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Add a cell on top of the stack.

        Args:
            cell: The cell.

        Raises:
            ArgumentError: Both the stack and the cell have ``params``.
        """
        self._add_cells([cell])

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`.

        Raises:
            NotSupportedError: One of the cells is bidirectional.
        """
        self._counter += 1
        next_states: States = []
        for cell, cell_states in zip(self._cells, self._states_of(states), strict=True):
            if isinstance(cell, BidirectionalCell):
                raise NotSupportedError(
                    "SequentialRNNCell: expected cells with single steps, got a BidirectionalCell; "
                    "use unroll"
                )
            inputs, new_states = cell(inputs, cell_states)
            next_states += new_states
        return inputs, next_states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: States | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll the cells over several time steps, one cell after the other.

        Args:
            length: Number of steps.
            inputs: One Symbol (N, T, C), or a list of one Symbol (N, C) per step.
            begin_state: States of all cells before the first step; None for zeros.
            layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one Symbol, False a list, None the form in which the last
                cell returns them.

        Returns:
            The outputs of all steps, and the states of all cells after the last one.
        """
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        groups = self._states_of(states)
        next_states: States = []
        last = len(self._cells) - 1
        for i, (cell, cell_states) in enumerate(zip(self._cells, groups, strict=True)):
            merge = merge_outputs if i == last else None
            inputs, new_states = cell.unroll(length, inputs, cell_states, layout, merge)
            next_states += new_states
        return inputs, next_states


class BidirectionalCell(_Cells):
    """Two cells that run forwards and backwards; their outputs are concatenated.

    Args:
        l_cell: Cell that runs forwards.
        r_cell: Cell that runs backwards.
        params: Weights shared by the cells; None if they have their own.
        output_prefix: Prefix of the names of the outputs.

    Raises:
        ArgumentError: Both ``params`` and the cells have weights.
    """

    def __init__(
        self,
        l_cell: BaseRNNCell,
        r_cell: BaseRNNCell,
        params: RNNParams | None = None,
        output_prefix: str = "bi_",
    ) -> None:
        super().__init__(params)
        self._output_prefix = output_prefix
        self._add_cells([l_cell, r_cell])

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Not supported: the backward cell needs the complete sequence; use `unroll`.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: States | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll both cells over several time steps, and concatenate their outputs.

        Args:
            length: Number of steps.
            inputs: One Symbol (N, T, C), or a list of one Symbol (N, C) per step.
            begin_state: States of both directions before their first steps; None for zeros.
            layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one Symbol, False a list; None one Symbol if both cells
                return one.

        Returns:
            The outputs of all steps, and a list with the states of each direction.
        """
        self.reset()
        steps, axis = normalized(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        l_cell, r_cell = self._cells
        left, right = self._states_of(states)
        l_outputs, l_states = l_cell.unroll(length, steps, left, layout, merge_outputs)
        r_outputs, r_states = r_cell.unroll(
            length, list(reversed(steps)), right, layout, merge_outputs
        )
        if merge_outputs is None:
            merge_outputs = isinstance(l_outputs, Symbol) and isinstance(r_outputs, Symbol)
        l_outputs, _ = normalized(length, l_outputs, layout, merge_outputs)
        r_outputs, _ = normalized(length, r_outputs, layout, merge_outputs)
        joined: Any
        if merge_outputs:
            r_outputs = sym.reverse(r_outputs, axis=axis)
            joined = sym.Concat(l_outputs, r_outputs, dim=2, name=f"{self._output_prefix}out")
        else:
            pairs = zip(l_outputs, reversed(r_outputs), strict=True)
            joined = [
                sym.Concat(l_output, r_output, dim=1, name=f"{self._output_prefix}t{i}")
                for i, (l_output, r_output) in enumerate(pairs)
            ]
        return joined, [l_states, r_states]


class DropoutCell(BaseRNNCell):
    """Dropout between cells; it has no state.

    Args:
        dropout: Probability of zeroing each element while training.
        prefix: Prefix of the names of its outputs.
        params: As for other cells; unused, as it has no weights.

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
        """An empty list: the cell has no states."""
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
        """Apply dropout to several steps, in one operation if they are one Symbol.

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
