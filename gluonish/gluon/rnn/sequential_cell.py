"""SequentialRNNCell and HybridSequentialRNNCell: cells stacked on one another."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.rnn.bidirectional_cell import BidirectionalCell
from gluonish.gluon.rnn.recurrent_cell import (
    HybridRecurrentCell,
    RecurrentCell,
    check_states,
    joined_info,
    joined_states,
)
from gluonish.gluon.rnn.sequence import arranged, time_axis

__all__ = ["HybridSequentialRNNCell", "SequentialRNNCell"]


class _Stack(RecurrentCell):
    """What both containers share: a list of cells."""

    _in_summary = False

    @property
    def _cells(self) -> list[Any]:
        return list(self._children.values())

    def add(self, cell: RecurrentCell) -> None:
        """Put a cell on top.

        Raises:
            ArgumentTypeError: It is no cell.
        """
        if not isinstance(cell, RecurrentCell):
            raise ArgumentTypeError(
                f"{type(self).__name__}.add: expected a RecurrentCell, got {type(cell).__name__}"
            )
        self.register_child(cell)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of the states of all cells, from the lowest."""
        return joined_info(self._cells, batch_size)

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """Return initial states of all cells; see `RecurrentCell.begin_state`."""
        self._check_unmodified()
        return joined_states(self._cells, batch_size, func, kwargs)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Process whole sequences: each cell runs over all steps before the next cell does.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: Initial states of all cells, in one list; None for zeros.
            layout: Order of the axes, ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one array in ``layout``, False a list of T arrays; None the
                form that the last cell returns.
            valid_length: (N,), length of each sequence; None if all have T steps. Outputs after the
                end of a sequence are 0.

        Returns:
            The outputs of the last cell, and the list of all cells' states after the last step of
            each sequence.
        """
        self.reset()
        inputs = arranged(length, inputs, time_axis(layout, self.name), None, self.name)
        states = self._first_states(begin_state, inputs, layout)
        check_states(self.name, states, len(self.state_info(0)))
        cells, last, at = self._cells, [], 0
        for i, cell in enumerate(cells):
            count = len(cell.state_info(0))
            merge = merge_outputs if i + 1 == len(cells) else None
            own = states[at : at + count]
            inputs, after = cell.unroll(length, inputs, own, layout, merge, valid_length)
            at += count
            last += after
        return inputs, last

    def _step(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        check_states(self.name, states, len(self.state_info(0)))
        last: list[Any] = []
        for cell in self._cells:
            if isinstance(cell, BidirectionalCell):
                raise ArgumentError(
                    f"{self.name}: expected cells that take single steps, got BidirectionalCell; "
                    "call unroll"
                )
            at, count = len(last), len(cell.state_info(0))
            inputs, after = cell(inputs, states[at : at + count])
            last += after
        return inputs, last

    def __getitem__(self, i: int) -> Any:
        return self._cells[i]

    def __len__(self) -> int:
        return len(self._children)

    def __repr__(self) -> str:
        lines = "\n".join(f"({name}): {cell!r}" for name, cell in self._children.items())
        return f"{type(self).__name__}(\n{lines}\n)"


class SequentialRNNCell(_Stack):
    """Stack cells: each takes the output of the one below.

    Args:
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        inputs: the inputs of the first cell.
        states: list of the states of all cells, from the lowest.

    Outputs:
        output: the output of the last cell.
        states: list of new states, as in the inputs.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Compute one time step of all cells."""
        return super().__call__(inputs, states)

    def forward(self, inputs: Any, states: Any) -> Any:
        """Compute one time step of all cells.

        Args:
            inputs: Input of the first cell.
            states: List of the previous states of all cells.
        """
        self._counter += 1
        return self._step(inputs, states)

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Not available: the cells need not be hybrid.

        Args:
            *args: Anything.
            **kwargs: Anything.

        Raises:
            NotSupportedError: always.
        """
        raise NotSupportedError(
            "SequentialRNNCell: expected a call, got hybrid_forward; use HybridSequentialRNNCell"
        )


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Stack hybrid cells: each takes the output of the one below.

    Args:
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: the inputs of the first cell.
        states: list of the states of all cells, from the lowest.

    Outputs:
        output: the output of the last cell.
        states: list of new states, as in the inputs.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Compute one time step of all cells."""
        return super().__call__(inputs, states)

    def hybrid_forward(
        self, F: ModuleType, inputs: Tensor, states: Sequence[Tensor]
    ) -> tuple[Any, list[Any]]:
        """Compute one time step of all cells.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: Input of the first cell.
            states: List of the previous states of all cells.
        """
        return self._step(inputs, states)
