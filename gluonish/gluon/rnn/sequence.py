"""Input sequences of cells: one array with a time axis, or a list of arrays of single steps."""

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import gluonish.ndarray as nd
import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.ndarray import NDArray
from gluonish.numpy.array import ndarray
from gluonish.symbol import NumpySymbol, Symbol


def is_tensor(value: Any) -> bool:
    """Whether a value is one array: an NDArray or a Symbol."""
    return isinstance(value, NDArray | Symbol)


def namespace_of(value: Any) -> ModuleType:
    """Return the namespace of a value's functions: `gluonish.symbol` or `gluonish.ndarray`."""
    return sym if isinstance(value, Symbol) else nd


def match_array_type(value: Any, like: Any) -> Any:
    """Return ``value`` as an ``mx.np`` array if ``like`` is one."""
    if isinstance(like, ndarray | NumpySymbol):
        return value.as_np_ndarray()
    return value


def time_axis(layout: str, what: str) -> int:
    """Return the index of the time axis in a layout such as ``"NTC"``.

    Raises:
        ArgumentError: The layout does not contain T and N exactly once.
    """
    if layout.count("T") != 1 or layout.count("N") != 1:
        raise ArgumentError(
            f"{what}.unroll: expected a layout with T and N, such as 'NTC' or 'TNC', got {layout!r}"
        )
    return layout.index("T")


def _check(length: int, inputs: Any, axis: int, what: str) -> None:
    if isinstance(inputs, Symbol):
        if len(inputs) != 1:
            raise ArgumentError(
                f"{what}.unroll: expected a Symbol with one output, got {len(inputs)} outputs; "
                "pass list(inputs) to use each output as a step"
            )
        return
    if is_tensor(inputs):
        if axis >= len(inputs.shape) or inputs.shape[axis] != length:
            raise ArgumentError(
                f"{what}.unroll: expected inputs with {length} steps along axis {axis}, got shape "
                f"{inputs.shape}"
            )
        return
    if not isinstance(inputs, list | tuple) or not all(map(is_tensor, inputs)):
        raise ArgumentTypeError(
            f"{what}.unroll: expected inputs to be an array or a list of arrays, got "
            f"{type(inputs).__name__}"
        )
    if len(inputs) != length:
        raise ArgumentError(
            f"{what}.unroll: expected a list of {length} steps, got one of {len(inputs)}"
        )


def as_steps(length: int, inputs: Any, axis: int, what: str) -> list[Any]:
    """Return a sequence as a list of its steps.

    Raises:
        ArgumentError: The number of steps is not ``length``.
        ArgumentTypeError: ``inputs`` is neither an array nor a list.
    """
    _check(length, inputs, axis, what)
    if not is_tensor(inputs):
        return list(inputs)
    steps = namespace_of(inputs).split(inputs, axis=axis, num_outputs=length, squeeze_axis=1)
    return [steps] if length == 1 and is_tensor(steps) else list(steps)


def as_array(length: int, inputs: Any, axis: int, what: str) -> Any:
    """Return a sequence as one array; see `as_steps`."""
    _check(length, inputs, axis, what)
    if is_tensor(inputs):
        return inputs
    return namespace_of(inputs[0]).stack(*inputs, axis=axis)


def arranged(length: int, inputs: Any, axis: int, merge: bool | None, what: str) -> Any:
    """Return a sequence as one array (``merge``), as a list of steps, or unchanged (None)."""
    if merge is None:
        _check(length, inputs, axis, what)
        return inputs
    return (as_array if merge else as_steps)(length, inputs, axis, what)


def batch_size(inputs: Any, layout: str) -> int:
    """Return the batch size N of a sequence; 0 for Symbols, whose shape is unknown."""
    first = inputs if is_tensor(inputs) else inputs[0]
    if isinstance(first, Symbol):
        return 0
    step_layout = layout if is_tensor(inputs) else layout.replace("T", "")
    size: int = first.shape[step_layout.index("N")]
    return size


def zeros_function(inputs: Any, layout: str) -> Callable[..., Any]:
    """Return a function that creates zeros of a shape (N, ...) in a graph, with a sequence's N.

    Operators of ``mx.np`` broadcast, so that an unknown N would stay unknown in their graphs.
    """
    first = inputs if is_tensor(inputs) else inputs[0]
    axis = (layout if is_tensor(inputs) else layout.replace("T", "")).index("N")
    space = namespace_of(first)
    zeros = space.zeros_like(first)
    if axis:
        zeros = space.swapaxes(zeros, dim1=0, dim2=axis)
    column = space.slice_axis(space.reshape(zeros, shape=(0, -1)), axis=1, begin=0, end=1)

    def make(shape: Sequence[int], **_: Any) -> Any:
        wide = space.broadcast_axis(column, axis=1, size=math.prod(shape[1:]))
        return space.reshape(wide, shape=(-1, *shape[1:]))

    return make


def masked(outputs: Any, valid_length: Any, axis: int) -> Any:
    """Zero an array after the end of each sequence, where ``valid_length`` is (N,)."""
    return namespace_of(outputs).SequenceMask(
        outputs, sequence_length=valid_length, use_sequence_length=True, axis=axis
    )


def last_states(steps: Sequence[Sequence[Any]], valid_length: Any) -> list[Any]:
    """Return the states at the end of each sequence, from the states after each step."""
    return [
        namespace_of(states[0]).SequenceLast(
            namespace_of(states[0]).stack(*states, axis=0),
            sequence_length=valid_length,
            use_sequence_length=True,
            axis=0,
        )
        for states in zip(*steps, strict=True)
    ]


def reversed_steps(steps: Sequence[Any], valid_length: Any) -> list[Any]:
    """Return the steps in reverse order; with lengths, reverse the valid steps of each sequence."""
    if valid_length is None:
        return list(reversed(steps))
    space = namespace_of(steps[0])
    flipped = space.SequenceReverse(
        space.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True
    )
    return as_steps(len(steps), flipped, 0, "reversed_steps")
