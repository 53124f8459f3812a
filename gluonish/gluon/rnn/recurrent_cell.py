"""RecurrentCell and HybridRecurrentCell: base classes of cells, which compute single steps.

Activations of cells are names, Blocks, or functions.
"""

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.dtype import is_floating, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.core.numpy_mode import is_np_array
from gluonish.gluon.block import Block
from gluonish.gluon.block.block_errors import described_block
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.block.hybrid_graph import Graph, ImperativeCall
from gluonish.gluon.block.protocols import Named
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.rnn.new_state import new_state
from gluonish.gluon.rnn.sequence import (
    arranged,
    as_array,
    as_steps,
    batch_size,
    is_tensor,
    last_states,
    masked,
    match_array_type,
    time_axis,
    zeros_function,
)
from gluonish.symbol import NumpySymbol, Symbol

CellActivation = str | Callable[..., Any]

# Activations with a separate operator, which graphs of MXNet contain.
_OPERATORS = ("relu", "sigmoid", "softsign", "tanh")
_NAMES = (*_OPERATORS, "softrelu")


def check_activation(activation: Any, what: str) -> None:
    """Check the activation of a cell.

    Raises:
        ArgumentError: There is no activation of this name.
        ArgumentTypeError: ``activation`` is neither a name nor callable.
    """
    if isinstance(activation, str):
        if activation not in _NAMES:
            raise ArgumentError(
                f"{what}: expected activation {', '.join(sorted(_NAMES))}, a Block or a function, "
                f"got {activation!r}"
            )
    elif not callable(activation):
        raise ArgumentTypeError(
            f"{what}: expected activation to be a name, a Block or a function, got {activation!r}"
        )


def activated(F: ModuleType, x: Any, activation: CellActivation, **kwargs: Any) -> Any:
    """Apply an activation; ``kwargs`` may hold the ``name`` of the node."""
    if not isinstance(activation, str):
        return activation(x)
    if activation in _OPERATORS:
        return getattr(F, activation)(x, **kwargs)
    return F.Activation(x, act_type=activation, **kwargs)


Info = list[dict[str, Any]]


NO_STATES: Any = object()  # the states of a call without any


def no_states_error(cell: Named) -> ArgumentTypeError:
    """Return the error for a step of a cell without states."""
    return ArgumentTypeError(
        f"{described_block(cell)}: expected inputs and states, got no states; pass "
        "cell.begin_state(batch_size=len(inputs)), or call cell.unroll for a sequence"
    )


class RecurrentCell(Block):
    """Base class of recurrent cells.

    A cell is called with the input of one time step and the previous states, and returns the output
    and the new states. A subclass defines ``forward(inputs, states)`` and `state_info`.

    Args:
        prefix: See `Block`.
        params: See `Block`.

    Inputs:
        inputs: (N, features) of one time step.
        states: list of states, as `state_info` describes them.

    Outputs:
        output: (N, features).
        states: list of new states, as in the inputs.
    """

    # Counters of steps, which `reset` clears before each sequence.
    _untracked = Block._untracked | {"_counter", "_init_counter"}

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self._init_counter = -1
        self._counter = -1
        self.reset()

    def reset(self) -> None:
        """Clear the counters and arrays of earlier steps; call this before a new sequence."""
        self._init_counter = -1
        self._counter = -1
        for child in self._children.values():
            if isinstance(child, RecurrentCell):
                child.reset()

    def state_info(self, batch_size: int = 0) -> Info:
        """Return shape and layout of every state.

        Args:
            batch_size: Number N of sequences; 0 if unknown.

        Raises:
            NotSupportedError: The class does not define ``state_info``.
        """
        raise NotSupportedError(
            f"{type(self).__name__}: expected a class that defines state_info(batch_size), got none"
        )

    def _get_activation(self, F: ModuleType, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        """Apply an activation; user-defined cells call this."""
        return activated(F, inputs, activation, **kwargs)

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """Return initial states, by default zeros.

        Args:
            batch_size: Number N of sequences.
            func: Function that creates each state: `nd.zeros`, `nd.ones` or another function of
                shape, layout and name; `sym.zeros` or `sym.var` for Symbols.
            **kwargs: Further arguments of ``func``; they override shape, dtype, layout and name.

        Raises:
            ArgumentError: The cell is part of a modifier such as `ZoneoutCell`; call the modifier's
                method instead.
        """
        self._check_unmodified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(new_state(func, name, {**info, **kwargs}))
        if func is nd.zeros and is_np_array():
            return [state.as_np_ndarray() for state in states]
        return states

    def _check_unmodified(self) -> None:
        if self._modified:
            raise ArgumentError(
                f"{self.name}: expected a cell that no modifier wraps, got one that is wrapped; "
                "call the modifier's begin_state"
            )

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Process full sequences step by step.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: States before the first step; None for zeros.
            layout: Order of the axes, ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one array in ``layout``, False a list of T arrays; None a
                list, or an array with ``valid_length``.
            valid_length: (N,), length of each sequence; None if all have T steps. Outputs after the
                end of a sequence are 0.

        Returns:
            The outputs, and the list of states after the last step of each sequence.

        Raises:
            ArgumentError: The inputs have another number of steps, or the layout has no T or N.
            ArgumentTypeError: The inputs are neither an array nor a list.
        """
        self.reset()
        axis = time_axis(layout, self.name)
        steps = as_steps(length, inputs, axis, self.name)
        states = self._first_states(begin_state, inputs, layout)
        outputs, history = [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            history.append(states)
        if valid_length is None:
            return arranged(length, outputs, axis, merge_outputs, self.name), states
        merged = masked(as_array(length, outputs, axis, self.name), valid_length, axis)
        states = last_states(history, valid_length)
        return arranged(length, merged, axis, merge_outputs, self.name), states

    def _first_states(self, begin_state: Sequence[Any] | None, inputs: Any, layout: str) -> Any:
        """Return the initial states of `unroll`: ``begin_state``, or zeros matching the inputs."""
        if begin_state is not None:
            return begin_state
        first = inputs if is_tensor(inputs) else inputs[0]
        options: dict[str, Any]
        if isinstance(first, NumpySymbol):
            options = {"func": zeros_function(inputs, layout)}
        elif isinstance(first, Symbol):
            options = {"func": sym.zeros, "dtype": self._parameter_dtype()}
        else:
            dtype = normalize_dtype(first.dtype)
            options = {"ctx": first.context}
            if is_floating(dtype):
                options["dtype"] = dtype.type
        states = self.begin_state(batch_size=batch_size(inputs, layout), **options)
        return [match_array_type(state, first) for state in states]

    def _parameter_dtype(self) -> str:
        parameters = self.collect_params().values()
        return np.dtype(next((p.dtype for p in parameters), "float32")).name

    if TYPE_CHECKING:  # so that a subclass need not have a default

        def forward(self, inputs: Any, states: Any) -> Any:
            """Compute one time step."""

    else:

        def forward(self, inputs: Any, states: Any = NO_STATES) -> Any:
            """Compute one time step.

            Args:
                inputs: (N, features).
                states: List of the previous states.

            Raises:
                ArgumentTypeError: There are no states.
            """
            if states is NO_STATES:
                raise no_states_error(self)
            self._counter += 1
            return super().forward(inputs, states)


class HybridRecurrentCell(  # pyright: ignore[reportIncompatibleMethodOverride]  # MXNet's names
    RecurrentCell, HybridBlock
):
    """Base class of cells that can be hybridized; see `RecurrentCell`.

    A subclass defines ``hybrid_forward(self, F, inputs, states, **params)``, or
    ``forward(self, inputs, states)`` in the style of 2.0, and `state_info`.

    Args:
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: (N, features) of one time step.
        states: list of states, as `state_info` describes them.

    Outputs:
        output: (N, features).
        states: list of new states, as in the inputs.
    """

    # Whether the class stores arrays from one step for the next, which a graph of one step cannot.
    _has_memory: ClassVar[bool] = False
    has_hybrid_forward: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        declared = cls.__dict__.get("has_hybrid_forward")
        super().__init_subclass__(**kwargs)
        if declared is None:
            cls.has_hybrid_forward = cls.forward is HybridRecurrentCell.forward

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybridize(self, active: bool = True, *args: Any, **kwargs: Any) -> None:
        """Hybridize the cell: run its time steps as graphs; see `HybridBlock.hybridize`.

        A cell that stores arrays from step to step runs imperatively, and only its children run as
        graphs. A hybridized block that unrolls a cell has the full sequence in one graph.
        """
        super().hybridize(active, *args, **kwargs)
        if has_memory(self):
            self._active = False

    def _trace(self, key: Any, pytree: Any, arrays: list[nd.NDArray]) -> Graph:
        if has_memory(self):  # such a cell was added after `hybridize`
            return ImperativeCall(self, pytree, "it stores arrays from one step for the next")
        return super()._trace(key, pytree, arrays)

    def hybrid_forward(self, F: ModuleType, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute one time step; defined by a subclass (or else ``forward``).

        Args:
            F: Namespace of the functions to use, ``nd`` or ``sym``.
            x: The input.
            *args: The states.
            **kwargs: The cell's parameters.

        Raises:
            NotSupportedError: The class does not define ``hybrid_forward``.
        """
        return super().hybrid_forward(F, x, *args, **kwargs)


def has_memory(block: Block) -> bool:
    """Whether a cell, or a cell in it, stores arrays from one step for the next."""
    if isinstance(block, HybridRecurrentCell) and block._has_memory:
        return True
    return any(has_memory(child) for child in block._children.values())


def check_states(name: str, states: Any, count: int) -> None:
    """Raise an error if the states of a step are not a list of ``count`` elements.

    Raises:
        ArgumentTypeError: ``states`` is not a list.
        ArgumentError: The number of states differs.
    """
    if not isinstance(states, list | tuple):
        found = "one array" if is_tensor(states) else type(states).__name__
        raise ArgumentTypeError(f"{name}: expected a list of {count} states, got {found}")
    if len(states) != count:
        raise ArgumentError(f"{name}: expected {count} states, got {len(states)}")


def joined_info(cells: Iterable[RecurrentCell], batch_size: int) -> Info:
    """Return the concatenated `RecurrentCell.state_info` of several cells."""
    return [info for cell in cells for info in cell.state_info(batch_size)]


def joined_states(
    cells: Iterable[RecurrentCell], batch_size: int, func: Callable[..., Any], kwargs: Any
) -> list[Any]:
    """Return the concatenated `RecurrentCell.begin_state` of several cells."""
    return [
        state
        for cell in cells
        for state in cell.begin_state(batch_size=batch_size, func=func, **kwargs)
    ]
