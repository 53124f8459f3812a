"""BaseRNNCell, its parameters, and the layout of sequences."""

from collections.abc import Callable, Sequence
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.core.object_repr import arguments_repr, brief, default_repr
from gluonish.ndarray import NDArray
from gluonish.symbol import Symbol, Variable


class RNNParams:
    """Variables of a cell by name, each created on first access.

    Args:
        prefix: Prefix of the variables' names.
    """

    __repr__ = default_repr

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """Return the variable with this name; create it if it does not exist.

        Args:
            name: Name without the prefix.
            **kwargs: Arguments of `sym.Variable`.
        """
        full = self._prefix + name
        if full not in self._params:
            self._params[full] = Variable(full, **kwargs)
        return self._params[full]


def normalized(
    length: int,
    inputs: Any,
    layout: str,
    merge: bool | None,
    in_layout: str | None = None,
) -> tuple[Any, int]:
    """Return a sequence as one Symbol or as a list of steps, and its time axis.

    Args:
        length: Number of steps.
        inputs: One Symbol, or a list of ``length`` Symbols.
        layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
        merge: True for one Symbol, False for a list, None for the form of ``inputs``.
        in_layout: Layout of ``inputs``; ``layout`` by default.

    Raises:
        ArgumentError: The inputs are None, a Symbol with several outputs that cannot be split, or a
            list of the wrong length.
    """
    if inputs is None:
        raise ArgumentError(
            "unroll(inputs=None) has been deprecated. Please create input variables outside unroll."
        )
    axis = layout.find("T")
    in_axis = axis if in_layout is None else in_layout.find("T")
    if isinstance(inputs, Symbol):
        if merge is False:
            inputs = _steps(inputs, length, in_axis)
    else:
        inputs = _as_steps(inputs, length)
        if merge:
            inputs = [sym.expand_dims(x, axis=axis) for x in inputs]
            inputs = sym.Concat(*inputs, dim=axis)
            in_axis = axis
    if isinstance(inputs, Symbol) and axis != in_axis:
        inputs = sym.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return inputs, axis


def _steps(inputs: Symbol, length: int, axis: int) -> list[Symbol]:
    if len(inputs.list_outputs()) != 1:
        raise ArgumentError(
            "unroll: expected one output as inputs, got grouped symbol as input; "
            "Please convert to list with list(inputs) first or let unroll handle splitting."
        )
    return list(sym.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))


def _as_steps(inputs: Sequence[Symbol], length: int) -> Sequence[Symbol]:
    if length is not None and len(inputs) != length:
        raise ArgumentError(f"unroll: expected inputs of {length} steps, got {len(inputs)}")
    return inputs


Arrays = dict[str, NDArray]
Info = dict[str, Any]
States = list[Any]  # Symbols; for a bidirectional cell, one list per direction


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

    def __repr__(self) -> str:
        return arguments_repr(self, *map(brief, self._cells), leave_out=("params",))

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
        raise NotImplementedError(f"{type(self).__name__}: expected a cell with single steps")

    def _next_name(self) -> str:
        """Return the prefix of the next step's nodes."""
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
        raise NotImplementedError(f"{type(self).__name__}: expected a cell with state_info")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """Shape of each state, with 0 for the batch size."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> Sequence[str]:
        """Suffix for each gate, after ``i2h`` or ``h2h``, in the names of unpacked weights."""
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
            func: Function to create a state with: `sym.zeros`, `sym.uniform`, `sym.Variable`, ...
            **kwargs: Arguments of ``func``, in addition to ``name`` and the items of `state_info`.

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
                span = slice(i * rows, (i + 1) * rows)
                args[f"{self._prefix}{group}{gate}_weight"] = weight[span].copy()
                args[f"{self._prefix}{group}{gate}_bias"] = bias[span].copy()
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
                gate_arrays = [args.pop(name) for name in names]
                args[f"{self._prefix}{group}_{kind}"] = nd.concatenate(gate_arrays)
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
                None in whichever form they are computed.

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
        """Apply an activation, a name or a function, to a Symbol."""
        found: Symbol
        if isinstance(activation, str):
            found = sym.Activation(inputs, act_type=activation, **kwargs)
        else:
            found = activation(inputs, **kwargs)
        return found
