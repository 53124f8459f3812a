"""Function: a computation with a gradient of the user's own."""

from collections.abc import Sequence
from typing import Any

from gluonish.autograd.scopes import is_recording, is_training, pause
from gluonish.core.errors import ArgumentError, AutogradError
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import Leaf, Node

__all__ = ["Function"]


class Function:
    """A differentiable function defined by the user; subclasses give ``forward`` and ``backward``.

    ``forward`` computes from NDArrays outside recording; ``backward`` gets the gradients of the
    outputs and returns those of the inputs, one each. An instance is for one call.

    Example:
        >>> class Scale(Function):
        ...     def forward(self, x):
        ...         self.save_for_backward(x)
        ...         return x * 3
        ...     def backward(self, dy):
        ...         return dy * 3
    """

    _saved: tuple[NDArray, ...] = ()
    _used = False

    def save_for_backward(self, *args: NDArray) -> None:
        """Keep arrays of the forward computation for ``saved_tensors`` in ``backward``."""
        self._saved = args

    @property
    def saved_tensors(self) -> tuple[NDArray, ...]:
        """The arrays that `save_for_backward` was given."""
        return self._saved

    def __call__(self, *inputs: NDArray) -> Any:
        """Run ``forward`` and, while recording, remember to run ``backward``.

        Raises:
            AutogradError: if the instance was called before.
        """
        if self._used:
            raise AutogradError(
                f"{type(self).__name__}: expected one call of each instance, got a second; make a new instance"
            )
        self._used = True
        with pause(train_mode=is_training()):
            result = self.forward(*inputs)
        outputs = [result] if isinstance(result, NDArray) else list(result)
        if is_recording() and any(x._link is not None for x in inputs):
            outputs = [y.detach() for y in outputs]
            node = _FunctionNode(self, [x._link for x in inputs], len(outputs))
            for i, output in enumerate(outputs):
                output._link = (node, i)
        return outputs[0] if isinstance(result, NDArray) else outputs

    def forward(self, *inputs: NDArray) -> Any:
        """Compute the outputs."""
        raise NotImplementedError

    def backward(self, *output_grads: NDArray) -> Any:
        """Compute the gradients of the inputs."""
        raise NotImplementedError


class _FunctionNode:
    """The call of one Function on the tape."""

    __slots__ = ("function", "output_count", "parents")

    def __init__(
        self,
        function: Function,
        parents: Sequence[tuple[Node | Leaf, int] | None],
        output_count: int,
    ) -> None:
        self.function: Function | None = function
        self.parents = parents
        self.output_count = output_count

    def backward(self, grads: Sequence[NDArray | None]) -> Sequence[NDArray | None]:
        """Return what the user's ``backward`` gives."""
        if self.function is None:
            raise AutogradError(
                "backward: expected a recorded graph, got one that an earlier backward freed; "
                "pass retain_graph=True to the earlier one"
            )
        name = type(self.function).__name__
        missing = [i for i, gradient in enumerate(grads) if gradient is None]
        if missing:
            raise AutogradError(
                f"{name}: expected gradients of all outputs, got none for outputs {missing}; use every output"
            )
        result = self.function.backward(*[g for g in grads if g is not None])
        found = [result] if isinstance(result, NDArray) or result is None else list(result)
        if len(found) != len(self.parents):
            raise ArgumentError(
                f"{name}: expected backward to return {len(self.parents)} gradients, one for each input, got {len(found)}"
            )
        return found

    def free(self) -> None:
        """Drop the function and what it saved."""
        self.function = None
