"""BidirectionalCell: one cell forward, another one backward through the same sequences."""

from collections.abc import Callable, Sequence
from typing import Any

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentTypeError, NotSupportedError
from gluonish.gluon.rnn.recurrent_cell import (
    HybridRecurrentCell,
    check_states,
    joined_info,
    joined_states,
)
from gluonish.gluon.rnn.sequence import as_array, as_steps, namespace_of, reversed_steps, time_axis

__all__ = ["BidirectionalCell"]


class BidirectionalCell(HybridRecurrentCell):
    """Run one cell forward and another one backward, and concatenate their outputs.

    It processes whole sequences by `unroll`, and cannot be called for a single step.

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
        ArgumentTypeError: One of them is not a hybrid cell.
        NotSupportedError: It is called for a single step.

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
        """Not available: the backward cell needs the whole sequence; use `unroll`.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(
            "BidirectionalCell: expected whole sequences, got a single step; call unroll"
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
        """Process whole sequences in both directions.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: Initial states of the forward cell, then of the backward cell; None for
                zeros.
            layout: Order of the axes, ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one array in ``layout``, False a list of T arrays; None a
                list, or an array if ``valid_length`` is given.
            valid_length: (N,), length of each sequence, at whose end the backward cell starts; None
                if all have T steps. Outputs after the end of a sequence are 0.

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
        rest = (layout, False, valid_length)
        l_outputs, l_states = l_cell.unroll(length, steps, states[:count], *rest)
        turned = reversed_steps(steps, valid_length)
        r_outputs, r_states = r_cell.unroll(length, turned, states[count:], *rest)
        r_outputs = reversed_steps(r_outputs, valid_length)
        if merge_outputs is None:
            merge_outputs = valid_length is not None
        joined: Any
        if merge_outputs:
            parts = [as_array(length, x, axis, self.name) for x in (l_outputs, r_outputs)]
            joined = namespace_of(parts[0]).concat(*parts, dim=2, name=f"{self._output_prefix}out")
        else:
            joined = [
                namespace_of(left).concat(left, right, dim=1, name=f"{self._output_prefix}t{t}")
                for t, (left, right) in enumerate(zip(l_outputs, r_outputs, strict=True))
            ]
        return joined, [*l_states, *r_states]

    def __repr__(self) -> str:
        l_cell, r_cell = self._cells
        return f"{type(self).__name__}(forward={l_cell!r}, backward={r_cell!r})"
