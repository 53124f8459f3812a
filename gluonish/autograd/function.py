"""Function: a computation with a custom gradient."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from gluonish.autograd.scopes import is_recording, is_training, pause
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutogradError,
    NotSupportedError,
    UntraceableError,
)
from gluonish.core.object_repr import default_repr
from gluonish.ndarray import zeros
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import Leaf, Node, freed_error, timestamp
from gluonish.numpy.array import as_nd_ndarray, as_np_ndarray, ndarray


class Function:
    """Base class of differentiable functions that define ``forward`` and ``backward``.

    ``forward`` computes on NDArrays and is not recorded; ``backward`` gets the gradients of the
    outputs (zeros for unused ones) and returns one gradient for each input (None for zeros). An
    instance can be called once. A hybridized block that calls one runs imperatively, without a
    graph.

    Example:
        >>> from gluonish import autograd, nd
        >>> class Cube(autograd.Function):
        ...     def forward(self, x):
        ...         self.save_for_backward(x)
        ...         return x * x * x
        ...     def backward(self, dy):
        ...         (x,) = self.saved_tensors
        ...         return dy * 3 * x * x
        >>> x = nd.array([1, 2])
        >>> x.attach_grad()
        >>> with autograd.record():
        ...     y = Cube()(x)
        >>> y.backward()
        >>> x.grad.tolist()
        [3.0, 12.0]
    """

    __repr__ = default_repr

    _saved: tuple[NDArray, ...] = ()
    _used = False

    def save_for_backward(self, *args: NDArray) -> None:
        """Save arrays of ``forward`` for ``backward``, as ``saved_tensors``.

        Args:
            *args: The arrays.
        """
        self._saved = args

    @property
    def saved_tensors(self) -> tuple[NDArray, ...]:
        """The arrays passed to `save_for_backward`."""
        return self._saved

    def __call__(self, *inputs: NDArray) -> Any:
        """Run ``forward``; while recording, ``backward`` becomes its gradient.

        Args:
            *inputs: Arguments of ``forward``.

        Raises:
            ArgumentTypeError: An input is not an NDArray.
            AutogradError: The instance was called before.
            UntraceableError: The instance is called while a block is traced; the block then runs
                imperatively.
        """
        name = type(self).__name__
        for x in inputs:
            if not isinstance(x, NDArray) or x.is_traced:
                _refuse(name, x)
        if self._used:
            raise AutogradError(
                f"{name}: expected one call of each instance, got a second; make a new instance"
            )
        self._used = True
        with pause(train_mode=is_training()):
            result = self.forward(*inputs)
        outputs = _as_list(result, f"{name}.forward")
        if is_recording() and any(x._edge is not None for x in inputs):
            outputs = [y.detach() for y in outputs]
            node = _FunctionNode(self, inputs, outputs)
            for i, output in enumerate(outputs):
                output._edge = (node, i)
        if isinstance(result, NDArray):
            return outputs[0]
        return outputs if isinstance(result, list) else tuple(outputs)

    # Typed so that a subclass may name its arguments: forward(self, x, y).
    def forward(self, *inputs: Any, **_: Any) -> Any:
        """Compute the outputs; a subclass defines it.

        Args:
            *inputs: The NDArrays that the instance was called with.
            **_: Not used.

        Raises:
            NotSupportedError: The subclass does not define it.
        """
        raise _undefined(self, "forward(self, *inputs)")

    def backward(self, *output_grads: Any, **_: Any) -> Any:
        """Compute the gradients of the inputs; a subclass defines it.

        Args:
            *output_grads: Gradient of each output.
            **_: Not used.

        Raises:
            NotSupportedError: The subclass does not define it.
        """
        raise _undefined(self, "backward(self, *output_grads)")


def _refuse(name: str, x: object) -> NoReturn:
    if hasattr(type(x), "__apply__"):
        raise UntraceableError(
            f"{name}: expected NDArrays, got a {type(x).__name__}; a graph cannot contain an "
            "autograd.Function"
        )
    raise ArgumentTypeError(f"{name}: expected NDArrays, got {type(x).__name__}")


def _undefined(function: Function, member: str) -> NotSupportedError:
    return NotSupportedError(
        f"{type(function).__name__}: expected a subclass that defines {member}, got none"
    )


def _as_list(result: Any, what: str) -> list[NDArray]:
    listed = [result] if isinstance(result, NDArray) else result
    if not isinstance(listed, list | tuple) or not all(isinstance(y, NDArray) for y in listed):
        raise ArgumentTypeError(
            f"{what}: expected to return an NDArray or several, got {type(result).__name__}"
        )
    return list(listed)


class _FunctionNode:
    """The tape node of a call of a Function."""

    __slots__ = (
        *("function", "input_shapes", "output_count", "output_converters", "output_specs"),
        *("freed", "made", "parents"),
    )

    ignores_head_gradient = True  # a user's function may be a loss
    writes_gradients: ClassVar[bool] = False

    def __init__(
        self, function: Function, inputs: Sequence[NDArray], outputs: Sequence[NDArray]
    ) -> None:
        self.function: Function | None = function
        self.parents: Sequence[tuple[Node | Leaf, int] | None] = [x._edge for x in inputs]
        self.input_shapes = [x.shape for x in inputs]
        # `backward` gets gradients of the classes of the outputs.
        self.output_converters = [
            as_np_ndarray if isinstance(y, ndarray) else as_nd_ndarray for y in outputs
        ]
        self.output_specs = [(y.shape, y.context, y.dtype) for y in outputs]
        self.output_count = len(outputs)
        self.made = timestamp()
        self.freed: float = math.inf

    def backward(
        self,
        grads: Sequence[NDArray | None],
        targets: Sequence[NDArray | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[NDArray | None]:
        """Return the gradients that the user's ``backward`` computes."""
        if self.function is None:
            raise freed_error()
        name = type(self.function).__name__
        filled = [
            convert(zeros(*spec) if g is None else g)
            for g, spec, convert in zip(
                grads, self.output_specs, self.output_converters, strict=True
            )
        ]
        result = self.function.backward(*filled)
        several = result if isinstance(result, list | tuple) else [result]
        # Returning nothing at all is a mistake.
        _as_list(
            None if result is None else [g for g in several if g is not None], f"{name}.backward"
        )
        shapes = [None if g is None else g.shape for g in several]
        if len(shapes) != len(self.input_shapes) or any(
            shape not in (None, expected)
            for shape, expected in zip(shapes, self.input_shapes, strict=True)
        ):
            raise ArgumentError(
                f"{name}: expected backward to return a gradient for each input, of shapes "
                f"{self.input_shapes}, got {shapes}"
            )
        return [None if g is None else as_nd_ndarray(g) for g in several]

    def free(self) -> None:
        """Drop the function, its saved arrays, and the parents."""
        self.function = None
        self.parents = ()
        self.freed = timestamp()
