"""DropoutCell: forget elements of a stack's inputs at random while training."""

import numbers
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.refusal import RefusedAtCall
from gluonish.gluon.nn.tensor import Tensor
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.rnn.recurrent_cell import HybridRecurrentCell
from gluonish.gluon.rnn.sequence import arranged, is_tensor, namespace_of, time_axis

__all__ = ["DropoutCell"]


class DropoutCell(HybridRecurrentCell):
    """Zero elements with probability ``rate`` while training, and scale the rest by 1 / (1 - rate).

    The cell has no states.

    Args:
        rate: Probability of zeroing, in [0, 1]; with 1 all elements are 0 while training, and below
            0 none is.
        axes: Axes that share one random decision; () decides for each element.
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.

    Inputs:
        inputs: any shape.
        states: an empty list.

    Outputs:
        output: shape of ``inputs``.
        states: an empty list.

    Raises:
        ArgumentError: At the call: ``rate`` is above 1.
        ArgumentTypeError: It is not a number.
    """

    def __init__(
        self,
        rate: float,
        axes: int | Sequence[int] = (),
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        given: object = rate
        if isinstance(given, bool) or not isinstance(given, numbers.Real):
            raise ArgumentTypeError(f"DropoutCell: expected rate to be a number, got {rate!r}")
        super().__init__(prefix=prefix, params=params)
        with RefusedAtCall(self):
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
            merge_outputs: True returns an array, False a list; None the kind of the inputs.
            valid_length: Ignored: padding is treated like the rest.
        """
        self.reset()
        axis = time_axis(layout, self.name)
        inputs = arranged(length, inputs, axis, merge_outputs, self.name)
        if is_tensor(inputs):
            return self.hybrid_forward(namespace_of(inputs), inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"
