"""BaseRNNCell: one step of a recurrent network as Symbols, and unrolling it."""

from collections.abc import Callable, Sequence
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.ndarray import NDArray
from gluonish.rnn.params import RNNParams
from gluonish.rnn.sequences import normalized
from gluonish.symbol import Symbol

__all__ = ["Arrays", "BaseRNNCell", "Info", "States"]

Arrays = dict[str, NDArray]
Info = dict[str, Any]
States = list[Any]  # of Symbols; what unrolls in two directions gives a list for each


class BaseRNNCell:
    """Base class of symbolic recurrent cells; calling a cell computes one time step.

    Args:
        prefix: Prefix of the names of its weights and outputs.
        params: Weights to share with other cells, an `RNNParams`; None creates new ones.
    """

    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self._cells: list[BaseRNNCell] = []
        self.reset()

    def reset(self) -> None:
        """Restart the numbering of steps and states, before using the cell in another graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._cells:
            cell.reset()

    def __call__(self, inputs: Symbol, states: States) -> tuple[Any, States]:
        """Compute one time step.

        Args:
            inputs: (N, C), the input of this step.
            states: The states after the previous step; see `begin_state`.

        Returns:
            The output, (N, C), and the new states.
        """
        raise NotImplementedError(f"{type(self).__name__}: expected a cell that takes steps")

    def _next_name(self) -> str:
        """The beginning of the names of the next step's nodes."""
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    @property
    def params(self) -> RNNParams:
        """The cell's weights."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[Info]:
        """Shape and layout of each state, with 0 for the batch size."""
        raise NotImplementedError(f"{type(self).__name__}: expected a cell that has state_info")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """Shape of each state; the batch is 0."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> Sequence[str]:
        """What follows ``i2h`` and ``h2h`` in the names of single gates' weights."""
        return ()

    def _check_unmodified(self) -> None:
        if self._modified:
            raise ArgumentError(
                "begin_state: expected the cell that modifies this one, got this one; "
                "After applying modifier cells (e.g. DropoutCell) the base cell cannot be called "
                "directly. Call the modifier cell instead."
            )

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> States:
        """Create the states before the first step.

        Args:
            func: Function that creates each, such as `sym.zeros`, `sym.uniform` or `sym.Variable`.
            **kwargs: Further arguments of ``func``; ``name`` and those of `state_info` are passed
                anyway.

        Raises:
            ArgumentError: The cell is wrapped by a modifier, such as `ZoneoutCell`.
        """
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(name=name, **{**kwargs, **info}))
        return states

    def unpack_weights(self, args: Arrays) -> Arrays:
        """Split this cell's packed weights into one array for each gate.

        Args:
            args: Arrays by name, which are not changed.

        Returns:
            A new dict of arrays by name.

        Raises:
            KeyError: An array of this cell is missing.
        """
        args = dict(args)
        gates = self._gate_names
        if not gates:
            return args
        for group in ("i2h", "h2h"):
            weight = args.pop(f"{self._prefix}{group}_weight")
            bias = args.pop(f"{self._prefix}{group}_bias")
            rows = weight.shape[0] // len(gates)
            for i, gate in enumerate(gates):
                part = slice(i * rows, (i + 1) * rows)
                args[f"{self._prefix}{group}{gate}_weight"] = weight[part].copy()
                args[f"{self._prefix}{group}{gate}_bias"] = bias[part].copy()
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        """Join the arrays of this cell's gates into packed weights; undoes `unpack_weights`.

        Args:
            args: Arrays by name, which are not changed.

        Returns:
            A new dict of arrays by name.

        Raises:
            KeyError: An array of this cell is missing.
        """
        args = dict(args)
        gates = self._gate_names
        if not gates:
            return args
        for group in ("i2h", "h2h"):
            for kind in ("weight", "bias"):
                names = [f"{self._prefix}{group}{gate}_{kind}" for gate in gates]
                parts = [args.pop(name) for name in names]
                args[f"{self._prefix}{group}_{kind}"] = nd.concatenate(parts)
        return args

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: States | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, States]:
        """Unroll the cell over several time steps.

        Args:
            length: Number of steps.
            inputs: One Symbol (N, T, C), or a list of one Symbol (N, C) per step.
            begin_state: States before the first step; None for zeros.
            layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns the outputs as one Symbol in ``layout``, False as a list;
                None in the form in which they are computed.

        Returns:
            The outputs of all steps, and the states after the last one.

        Raises:
            ArgumentError: The inputs are None, a Symbol with several outputs, or a list of another
                length.
        """
        self.reset()
        steps, _ = normalized(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for i in range(length):
            output, states = self(steps[i], states)
            outputs.append(output)
        merged, _ = normalized(length, outputs, layout, merge_outputs)
        return merged, states

    def _get_activation(self, inputs: Symbol, activation: Any, **kwargs: Any) -> Symbol:
        """Return an activation of a Symbol: by name, or by a function of it."""
        found: Symbol
        if isinstance(activation, str):
            found = sym.Activation(inputs, act_type=activation, **kwargs)
        else:
            found = activation(inputs, **kwargs)
        return found
