"""ModifierCell, ResidualCell and ZoneoutCell: cells that modify another cell."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, ClassVar

import gluonish.ndarray as nd
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import DeferErrorToCall, check_numbers
from gluonish.gluon.block import Block
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.rnn.recurrent_cell import HybridRecurrentCell, RecurrentCell
from gluonish.gluon.rnn.sequence import arranged, is_tensor, masked, namespace_of, time_axis
from gluonish.gluon.rnn.sequential_cell import BidirectionalCell
from gluonish.symbol import Symbol


class ModifierCell(HybridRecurrentCell):
    """Base class of cells that modify another cell.

    The modifier owns the base cell's parameters and states; the base cell must no longer be called
    directly.

    Args:
        base_cell: The cell to modify.

    Inputs:
        inputs: the inputs of ``base_cell``.
        states: list of the states of ``base_cell``.

    Outputs:
        output: the output of ``base_cell``, modified.
        states: list of new states, as in the inputs.

    Raises:
        ArgumentTypeError: ``base_cell`` is not a hybrid cell.
        ArgumentError: ``base_cell`` is already part of a modifier.
    """

    def __init__(self, base_cell: Any) -> None:
        if not isinstance(base_cell, HybridRecurrentCell):
            raise ArgumentTypeError(
                f"{type(self).__name__}: expected base_cell to be a HybridRecurrentCell, got "
                f"{type(base_cell).__name__}"
            )
        if base_cell._modified:
            raise ArgumentError(
                f"{type(self).__name__}: expected a base_cell without a modifier, got "
                f"{base_cell.name}; modify its modifier instead"
            )
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> ParameterDict:
        """The base cell's parameters."""
        params: ParameterDict = self.base_cell.params
        return params

    def _unmodified(self) -> "_Unmodified":
        """Return a scope in which the base cell may be called directly."""
        return _Unmodified(self.base_cell)

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Return shape and layout of the base cell's states."""
        info: list[dict[str, Any]] = self.base_cell.state_info(batch_size)
        return info

    def begin_state(  # type: ignore[override]  # the order of MXNet's arguments
        self, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """Return initial states; see `RecurrentCell.begin_state`.

        Args:
            func: Function that creates each state; see `RecurrentCell.begin_state`.
            **kwargs: ``batch_size``, and further arguments of ``func``.
        """
        self._check_unmodified()
        if not callable(func):
            raise ArgumentTypeError(
                f"{self.name}.begin_state: expected func to be a function, got {func!r}; pass "
                "batch_size by keyword"
            )
        with self._unmodified():
            states: list[Any] = self.base_cell.begin_state(func=func, **kwargs)
        return states

    def hybrid_forward(self, F: ModuleType, inputs: Any, states: Any) -> Any:
        """Compute one time step; defined by subclasses.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: Input of the step.
            states: List of the previous states.

        Raises:
            NotSupportedError: The class does not define ``hybrid_forward``.
        """
        return super().hybrid_forward(F, inputs, states)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell!r})"


class _Unmodified:
    """Scope in which a base cell may be called directly."""

    __slots__ = ("_cell",)

    def __init__(self, cell: RecurrentCell) -> None:
        self._cell = cell

    def __enter__(self) -> None:
        self._cell._modified = False

    def __exit__(self, *exc_info: object) -> None:
        self._cell._modified = True


def holds_bidirectional(cell: Any) -> bool:
    """Whether a cell is or contains a `BidirectionalCell`, which cannot compute single steps."""
    inner = cell._children.values() if isinstance(cell, Block) else ()
    return isinstance(cell, BidirectionalCell) or any(map(holds_bidirectional, inner))


def same_kind(one: Any, two: Any) -> bool:
    """Whether both are Symbols or both are NDArrays, so that one operator can combine them."""
    return isinstance(one, Symbol) == isinstance(two, Symbol) and isinstance(
        one, nd.NDArray
    ) == isinstance(two, nd.NDArray)


class ResidualCell(ModifierCell):
    """Add the input to another cell's output.

    Args:
        base_cell: The cell to modify; its output has the shape of its input.

    Inputs:
        inputs: (N, H).
        states: list of the states of ``base_cell``.

    Outputs:
        output: (N, H).
        states: list of new states, as in the inputs.

    Raises:
        ArgumentTypeError: ``base_cell`` is not a hybrid cell.
        ArgumentError: ``base_cell`` is already part of a modifier.

    References:
        Y. Wu et al., Google's Neural Machine Translation System, 2016.
    """

    def __init__(self, base_cell: Any) -> None:
        super().__init__(base_cell)

    def hybrid_forward(
        self, F: ModuleType, inputs: Tensor, states: Sequence[Tensor]
    ) -> tuple[Any, list[Any]]:
        """Compute one time step, and add the input to the output.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: Input of the step.
            states: List of the previous states.
        """
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), list(states)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Any] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Process full sequences, and add the inputs to the outputs.

        Args:
            length: Number T of time steps.
            inputs: An array in ``layout``, or a list of T arrays, one per step.
            begin_state: States before the first step; None for zeros.
            layout: Order of the axes, ``"NTC"`` or ``"TNC"``.
            merge_outputs: True returns one array in ``layout``, False a list of T arrays; None the
                form that ``base_cell`` returns.
            valid_length: (N,), length of each sequence; None if all have T steps. Outputs after the
                end of a sequence are 0.

        Returns:
            The outputs, and the list of states after the last step of each sequence.
        """
        self.reset()
        axis = time_axis(layout, self.name)
        with self._unmodified():
            outputs, states = self.base_cell.unroll(
                length, inputs, begin_state, layout, merge_outputs, valid_length
            )
        merged = is_tensor(outputs)
        if valid_length is not None:
            inputs = masked(arranged(length, inputs, axis, True, self.name), valid_length, axis)
        inputs = arranged(length, inputs, axis, merged, self.name)
        if merged:
            return namespace_of(outputs).elemwise_add(outputs, inputs), states
        pairs = zip(outputs, inputs, strict=True)
        return [namespace_of(y).elemwise_add(y, x) for y, x in pairs], states


class ZoneoutCell(ModifierCell):
    """Zoneout: in training, keep random elements of the previous step.

    Args:
        base_cell: The cell to modify; it must support single steps.
        zoneout_outputs: Probability that an element of the output keeps its previous value, which
            is 0 in the first step.
        zoneout_states: Probability that an element of a state keeps its previous value.

    Inputs:
        inputs: the inputs of ``base_cell``.
        states: list of the states of ``base_cell``.

    Outputs:
        output: the output of ``base_cell``, modified.
        states: list of new states, as in the inputs.

    Raises:
        ArgumentTypeError: ``base_cell`` is not a hybrid cell.
        ArgumentError: ``base_cell`` is already part of a modifier, or is or contains a
            `BidirectionalCell`; in the call, if a probability is not in [0, 1].

    References:
        D. Krueger et al., Zoneout: Regularizing RNNs by Randomly Preserving Hidden Activations,
        2016.
    """

    _has_memory: ClassVar[bool] = True

    def __init__(
        self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        if holds_bidirectional(base_cell):
            raise ArgumentError(
                "ZoneoutCell: expected a base_cell that computes single steps, got one with a "
                "BidirectionalCell; wrap its inner cells in ZoneoutCell"
            )
        check_numbers("ZoneoutCell", zoneout_outputs=zoneout_outputs, zoneout_states=zoneout_states)
        super().__init__(base_cell)
        with DeferErrorToCall(self):
            for rate in (zoneout_outputs, zoneout_states):
                if not 0 <= rate <= 1:
                    raise ArgumentError(
                        f"ZoneoutCell: expected probabilities in [0, 1], got {rate}"
                    )
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._prev_output: Any = None

    _untracked = ModifierCell._untracked | {"_prev_output"}

    def _alias(self) -> str:
        return "zoneout"

    def reset(self) -> None:
        """Clear the previous output."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(
        self, F: ModuleType, inputs: Tensor, states: Sequence[Tensor]
    ) -> tuple[Any, list[Any]]:
        """Compute one time step, in which random elements keep their previous values.

        Args:
            F: ``mx.nd`` or ``mx.sym``, passed in by `HybridBlock`.
            inputs: Input of the step.
            states: List of the previous states.
        """
        output, last = self.base_cell(inputs, states)
        if self.zoneout_outputs:
            mask = _mask(F, output, self.zoneout_outputs)
            previous = self._prev_output
            if previous is None or not same_kind(previous, output):
                previous = F.zeros_like(output)
            output = F.where(mask, output, previous)
        if self.zoneout_states:
            last = [
                F.where(_mask(F, new, self.zoneout_states), new, old)
                for new, old in zip(last, states, strict=True)
            ]
        self._prev_output = output
        return output, list(last)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, "
            f"{self.base_cell!r})"
        )


def _mask(F: ModuleType, like: Any, p: float) -> Any:
    """Return a mask of elements that are 0 with probability ``p`` in training, else nonzero."""
    return F.Dropout(F.ones_like(like), p=p)
