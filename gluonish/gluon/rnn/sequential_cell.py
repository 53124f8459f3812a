"""Containers of cells: in sequence or in both directions; and dropout between cells."""

import numbers
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.number_check import DeferErrorToCall
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.rnn.recurrent_cell import (
    NO_STATES,
    HybridRecurrentCell,
    RecurrentCell,
    check_states,
    joined_info,
    joined_states,
    no_states_error,
)
from gluonish.gluon.rnn.sequence import (
    arranged,
    as_array,
    as_steps,
    is_tensor,
    namespace_of,
    reversed_steps,
    time_axis,
)


class BidirectionalCell(HybridRecurrentCell):
    """Run one cell forward and another one backward, and concatenate their outputs.

    The cell processes full sequences by `unroll`, and cannot be called for a single step.

    Args:
        l_cell: The cell that runs forward, from the first step.
        r_cell: The cell that runs backward, from the last step.
        output_prefix: Prefix of the names of the concatenated outputs.

    Inputs:
        inputs: of `unroll`: (N, T, C).
        states: list of the states of ``l_cell``, then those of ``r_cell``.

    Outputs:
        output: (N, T, features of both cells).
        states: list of new states, as in the inputs.

    Raises:
        ArgumentTypeError: A cell is not hybrid.
        NotSupportedError: The cell is called for a single step.

    References:
        M. Schuster, K. Paliwal, Bidirectional Recurrent Neural Networks, 1997.
    """

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        for cell in (l_cell, r_cell):
            if not isinstance(cell, HybridRecurrentCell):
                raise ArgumentTypeError(
                    f"BidirectionalCell: expected HybridRecurrentCells, got {type(cell).__name__}"
                )
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    @property
    def _cells(self) -> list[Any]:
        return list(self._children.values())

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Not available: the backward cell needs the full sequence; use `unroll`.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            "BidirectionalCell: expected full sequences, got a single step; call unroll"
        )

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of the states of both cells."""
        return joined_info(self._cells, batch_size)

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """Return initial states of both cells; see `RecurrentCell.begin_state`."""
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
        """Process full sequences in both directions.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: Initial states of the forward cell, then of the backward cell; None for
                zeros.
            layout: Order of the axes, ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one array in ``layout``, False a list of T arrays; None a
                list, or an array with ``valid_length``.
            valid_length: (N,), length of each sequence, from whose end the backward cell starts;
                None if all have T steps. Outputs after the end of a sequence are 0.

        Returns:
            The outputs of both cells, concatenated along the features, and the list of states after
            each cell's last step.
        """
        self.reset()
        axis = time_axis(layout, self.name)
        steps = as_steps(length, inputs, axis, self.name)
        states = self._first_states(begin_state, inputs, layout)
        check_states("BidirectionalCell", states, len(self.state_info(0)))
        l_cell, r_cell = self._cells
        count = len(l_cell.state_info(0))
        options = (layout, False, valid_length)
        l_outputs, l_states = l_cell.unroll(length, steps, states[:count], *options)
        flipped = reversed_steps(steps, valid_length)
        r_outputs, r_states = r_cell.unroll(length, flipped, states[count:], *options)
        r_outputs = reversed_steps(r_outputs, valid_length)
        if merge_outputs is None:
            merge_outputs = valid_length is not None
        joined: Any
        if merge_outputs:
            sides = [as_array(length, x, axis, self.name) for x in (l_outputs, r_outputs)]
            joined = namespace_of(sides[0]).concat(*sides, dim=2, name=f"{self._output_prefix}out")
        else:
            joined = [
                namespace_of(left).concat(left, right, dim=1, name=f"{self._output_prefix}t{t}")
                for t, (left, right) in enumerate(zip(l_outputs, r_outputs, strict=True))
            ]
        return joined, [*l_states, *r_states]

    def __repr__(self) -> str:
        l_cell, r_cell = self._cells
        return f"{type(self).__name__}(forward={l_cell!r}, backward={r_cell!r})"


class _Stack(RecurrentCell):
    """Base class of containers: a list of cells."""

    _in_summary = False

    @property
    def _cells(self) -> list[Any]:
        return list(self._children.values())

    def add(self, cell: RecurrentCell) -> None:
        """Append a cell on top of the stack.

        Raises:
            ArgumentTypeError: ``cell`` is not a RecurrentCell.
        """
        if not isinstance(cell, RecurrentCell):
            raise ArgumentTypeError(
                f"{type(self).__name__}.add: expected a RecurrentCell, got {type(cell).__name__}"
            )
        self.register_child(cell)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of the states of all cells, from the bottom."""
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
        """Process full sequences: each cell runs over all steps before the next cell does.

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
            begin = states[at : at + count]
            inputs, after = cell.unroll(length, inputs, begin, layout, merge, valid_length)
            at += count
            last += after
        return inputs, last

    def _step(self, inputs: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        check_states(self.name, states, len(self.state_info(0)))
        last: list[Any] = []
        for cell in self._cells:
            if isinstance(cell, BidirectionalCell):
                raise ArgumentError(
                    f"{self.name}: expected cells that compute single steps, got "
                    "BidirectionalCell; call unroll"
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
    """Stack cells: each runs on the output of the cell below.

    Args:
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        inputs: the inputs of the first cell.
        states: list of the states of all cells, from the bottom.

    Outputs:
        output: the output of the last cell.
        states: list of new states, as in the inputs.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def __call__(self, inputs: Any, states: Any = NO_STATES) -> Any:
        """Compute one time step of all cells.

        Raises:
            ArgumentTypeError: There are no states.
        """
        if states is NO_STATES:
            raise no_states_error(self)
        return super().__call__(inputs, states)

    def forward(self, inputs: Any, states: Any = NO_STATES) -> Any:
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
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            "SequentialRNNCell: expected a call, got hybrid_forward; use HybridSequentialRNNCell"
        )


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Stack hybrid cells: each runs on the output of the cell below.

    Args:
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: the inputs of the first cell.
        states: list of the states of all cells, from the bottom.

    Outputs:
        output: the output of the last cell.
        states: list of new states, as in the inputs.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def __call__(self, inputs: Any, states: Any = NO_STATES) -> Any:
        """Compute one time step of all cells.

        Raises:
            ArgumentTypeError: There are no states.
        """
        if states is NO_STATES:
            raise no_states_error(self)
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


class DropoutCell(HybridRecurrentCell):
    """Zero elements with probability ``rate`` in training, and scale the others by 1 / (1 - rate).

    The cell has no states.

    Args:
        rate: Probability of zeroing, at most 1; 0 or less disables dropout.
        axes: Axes that share one random decision; () is for independent elements.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: any shape.
        states: an empty list.

    Outputs:
        output: shape of ``inputs``.
        states: an empty list.

    Raises:
        ArgumentError: In the call, if ``rate`` is above 1.
        ArgumentTypeError: ``rate`` is not a number.
    """

    def __init__(
        self,
        rate: float,
        axes: int | Sequence[int] = (),
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        number: object = rate
        if isinstance(number, bool) or not isinstance(number, numbers.Real):
            raise ArgumentTypeError(f"DropoutCell: expected rate to be a number, got {rate!r}")
        super().__init__(prefix=prefix, params=params)
        with DeferErrorToCall(self):
            if not rate <= 1:
                raise ArgumentError(f"DropoutCell: expected rate in [0, 1], got {rate}")
        self._rate = rate
        self._axes = (axes,) if isinstance(axes, int) else tuple(axes)

    def _alias(self) -> str:
        return "dropout"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return an empty list."""
        return []

    def hybrid_forward(
        self, F: ModuleType, inputs: Tensor, states: Sequence[Tensor]
    ) -> tuple[Any, Sequence[Any]]:
        """Zero random elements in training mode; return the input otherwise.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: Any shape.
            states: An empty list, which is returned.
        """
        if self._rate > 0:
            name = f"t{self._counter}_fwd"
            inputs = F.Dropout(inputs, p=self._rate, axes=self._axes, name=name)
        return inputs, states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, Any]:
        """Apply dropout to all steps: to an array at once, to a list step by step.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: None or an empty list.
            layout: Order of the axes.
            merge_outputs: True returns an array, False a list; None the form of the inputs.
            valid_length: Ignored: dropout applies to padding, too.
        """
        self.reset()
        axis = time_axis(layout, self.name)
        inputs = arranged(length, inputs, axis, merge_outputs, self.name)
        if is_tensor(inputs):
            return self.hybrid_forward(namespace_of(inputs), inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"
