"""Cells of cells, and the dropout between them."""

from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.rnn.base_cell import Arrays, BaseRNNCell, Info, RNNParams, States, normalized
from gluonish.symbol import Symbol


class _Cells(BaseRNNCell):
    """What cells of several cells share.

    Args:
        params: Weights that the inner cells get, which then have none of their own.
    """

    def __init__(self, params: RNNParams | None) -> None:
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None

    def _take(self, cells: Iterable[BaseRNNCell]) -> None:
        """Have more inner cells, and know their weights."""
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
        """Return states for the first step, those of the inner cells one after another.

        Args:
            func: Makes each; see `BaseRNNCell.begin_state`.
            **kwargs: For ``func``.

        Raises:
            ArgumentError: The cell is modified by another.
        """
        self._check_unmodified()
        return [state for cell in self._cells for state in cell.begin_state(func=func, **kwargs)]

    def unpack_weights(self, args: Arrays) -> Arrays:
        """Return weights with those of the cells' gates apart from one another.

        Args:
            args: Arrays by name; stays as it is.
        """
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        """Return weights as the cells take them.

        Args:
            args: Arrays by name, of `unpack_weights`; stays as it is.
        """
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _states_of(self, states: States) -> list[States]:
        """States in a list for each inner cell."""
        shares = []
        for cell in self._cells:
            count = len(cell.state_info)
            shares.append(states[:count])
            states = states[count:]
        return shares


class SequentialRNNCell(_Cells):
    """Stack of cells: each takes the output of the one below.

    Args:
        params: Weights shared by all cells; None leaves each its own.
    """

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell on top of the stack.

        Args:
            cell: The cell.

        Raises:
            ArgumentError: Both the stack and the cell were given ``params``.
        """
        self._take([cell])

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Compute one time step; see `BaseRNNCell`.

        Raises:
            NotSupportedError: A cell of two directions is among the cells.
        """
        self._counter += 1
        next_states: States = []
        for cell, share in zip(self._cells, self._states_of(states), strict=True):
            if isinstance(cell, BidirectionalCell):
                raise NotSupportedError(
                    "SequentialRNNCell: expected cells that take steps, got a BidirectionalCell; "
                    "use unroll"
                )
            inputs, share = cell(inputs, share)
            next_states += share
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
        shares = self._states_of(states)
        next_states: States = []
        last = len(self._cells) - 1
        for i, (cell, share) in enumerate(zip(self._cells, shares, strict=True)):
            merge = merge_outputs if i == last else None
            inputs, share = cell.unroll(length, inputs, share, layout, merge)
            next_states += share
        return inputs, next_states


class BidirectionalCell(_Cells):
    """Two cells, one of which runs backwards; their outputs are side by side.

    Args:
        l_cell: Runs forwards.
        r_cell: Runs backwards.
        params: Weights that the cells get, which then have none of their own; None for theirs.
        output_prefix: What the names of the outputs begin with.

    Raises:
        ArgumentError: ``params`` and the cells have weights.
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
        self._take([l_cell, r_cell])

    def __call__(self, inputs: Symbol, states: States) -> tuple[Symbol, States]:
        """Not available: the backward cell needs the whole sequence; use `unroll`.

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
        forth, back = self._cells
        left, right = self._states_of(states)
        l_outputs, l_states = forth.unroll(length, steps, left, layout, merge_outputs)
        r_outputs, r_states = back.unroll(
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
            joined = self._side_by_side(l_outputs, list(reversed(r_outputs)))
        return joined, [l_states, r_states]

    def _side_by_side(self, left: Sequence[Symbol], right: Sequence[Symbol]) -> list[Symbol]:
        return [
            sym.Concat(one, other, dim=1, name=f"{self._output_prefix}t{i}")
            for i, (one, other) in enumerate(zip(left, right, strict=True))
        ]


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
