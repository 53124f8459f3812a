"""Checks of values, `mx.check_values`: labels in range, finite outputs and finite gradients.

While the mode has CHECKED, `check_call` receives every eager operator after it ran, and waits for
its results. `gluonish.graph.value_checks` runs the operators of a graph one by one for the same
checks. The backward pass calls `check_gradients` for each node. The results of the program are
those of the usual kernels: checks only read them.
"""

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import FLOAT16, is_floating
from gluonish.core.errors import (
    ArgumentTypeError,
    GluonishError,
    NonFiniteError,
    OperatorError,
    OperatorIndexError,
    public_name,
)
from gluonish.core.hooks import calling_layer
from gluonish.core.program_lines import Line, calling_line, with_line
from gluonish.core.training_step import current_step
from gluonish.core.value_scope import ValueScope
from gluonish.ndarray import recording
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import CHECKED, HOOKED, Checks, Leaf, OperatorNode
from gluonish.ops.index_ranges import index_range
from gluonish.ops.registry import Attrs, Operator

Array = NDArray | None

# No mask of infinities is an input of these.
_PRODUCTS = {"BatchNorm", "Convolution", "Deconvolution", "FullyConnected", "RNN", "dot"}


class Origin(NamedTuple):
    """Where an operator was called.

    Attributes:
        layer: Description of the innermost Block; empty outside Blocks.
        line: The line of the program, or None.
    """

    layer: str
    line: Line | None

    @classmethod
    def of(cls, frame: FrameType | None) -> "Origin":
        """Return the origin of a call that a frame makes."""
        return cls(calling_layer(frame), calling_line(frame))


def calling_origin() -> Origin:
    """Return the layer and the line of the program that the caller works for."""
    return Origin.of(sys._getframe(1))


Locate = Callable[[], Origin]


class _LocatedInputs(list[Any]):
    """The inputs that a node of the tape saved, with the origin of its call.

    An attribute of the node would make every node larger, also without checks.
    """

    __slots__ = ("origin",)

    def __init__(self, inputs: Sequence[Any], origin: Origin) -> None:
        super().__init__(inputs)
        self.origin = origin


class NonFinite(NamedTuple):
    """The NaN and infinite values of an array.

    Attributes:
        nan: Number of NaN.
        infinite: Number of infinities.
        size: Number of values.
        first: Index of the first one, as text.
        kind: ``NaN``, or ``infinity`` with its sign.
    """

    nan: int
    infinite: int
    size: int
    first: str
    kind: str

    def __str__(self) -> str:
        count = self.nan + self.infinite
        of = f"{count} of {self.size} values, the first at {self.first}"
        return f"({of})" if self.size > 1 else "(its only value)"


def non_finite(x: NDArray) -> NonFinite | None:
    """Wait for an array; return its values that are NaN or infinite, or None."""
    if x.stype != "default":
        sparse: Any = x
        return non_finite(sparse.data)
    if not is_floating(x._spec.dtype) or not x._spec.size:
        return None
    x.wait_to_read()
    values = x._data if x._device.is_host else x.asnumpy()
    finite = np.isfinite(values)
    if finite.all():
        return None
    nan, bad = int(np.isnan(values).sum()), ~finite
    first = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    kind = "NaN"
    if not nan:
        kind = "infinity" if values[first] > 0 else "-infinity"
    return NonFinite(nan, int(bad.sum()) - nan, bad.size, str(list(first)), kind)


def value_error(what: str, step: int | None = None) -> NonFiniteError:
    """Return the error for a bad value that no operator of the program computed.

    Args:
        what: The message without step and line.
        step: Number of the training step; None for the current one.
    """
    origin = Origin("", calling_line(sys._getframe(1)))
    error: NonFiniteError = located_error(NonFiniteError, what, origin, step)
    return error


def located_error(
    kind: type[OperatorError], what: str, origin: Origin, step: int | None = None
) -> Any:
    """Return an error whose message has the layer, the training step and the line.

    Args:
        kind: Class of the error.
        what: The message without them.
        origin: Where it happened.
        step: Number of the step; None for the current one.
    """
    step = current_step() if step is None else step
    message = f"{origin.layer}: {what}" if origin.layer else what
    if step is not None:
        message += f"; training step {step}"
    error = kind(with_line(message, origin.line))
    error.located = True
    return error


def check_call(op: Operator, attrs: Attrs, inputs: Sequence[Any], results: Sequence[Any]) -> None:
    """Check an eager call; the observer of CHECKED.

    Args:
        op: The operator.
        attrs: Its attributes.
        inputs: Its inputs.
        results: Its outputs, hidden ones included.

    Raises:
        OperatorIndexError: An index is out of range.
        NonFiniteError: An output is NaN or infinite.
    """
    checks, frame = recording.checks.get(), sys._getframe(1)
    if checks is None:
        return

    def locate() -> Origin:
        return Origin.of(frame)

    check_operator(op, attrs, inputs, results, checks, locate)
    edge = results[0]._edge if results else None
    if checks.values and edge is not None and type(edge[0]) is OperatorNode:
        edge[0].inputs = _LocatedInputs(edge[0].inputs, locate())


def check_operator(
    op: Operator,
    attrs: Attrs,
    inputs: Sequence[NDArray],
    results: Sequence[NDArray],
    checks: Checks,
    locate: Locate,
) -> None:
    """Check the indices and the visible outputs of a call; see `check_call`.

    Args:
        op: The operator.
        attrs: Its attributes.
        inputs: Its inputs.
        results: Its outputs.
        checks: What is checked.
        locate: Returns where the operator was called.
    """
    if checks.labels:
        _check_indices(op, attrs, inputs, results, locate)
    if not checks.values:
        return
    for i in range(op.num_visible(attrs)):
        found = non_finite(results[i])
        if found is None:
            continue
        read = _non_finite_inputs(op, attrs, inputs, results)
        spoilt = {name: x for name, x in read.items() if x.nan or op.name in _PRODUCTS}
        is_given = any(x.infinite for x in read.values()) or _has_infinity(attrs)
        if not found.nan and is_given and not spoilt:
            continue  # an infinity that the program wrote, such as in a mask
        where = "its output" if op.num_visible(attrs) == 1 else f"its output {i}"
        if spoilt:
            name, found = next(iter(spoilt.items()))
            where = f"its input {name}"
        hint = _hint(op, attrs, inputs, results[i], found, read, spoilt)
        raise located_error(
            NonFiniteError,
            f"{public_name(op.name)}: expected finite values, got {found.kind} in {where} "
            f"{found}{hint}",
            locate(),
        )


def _non_finite_inputs(
    op: Operator, attrs: Attrs, inputs: Sequence[NDArray], results: Sequence[NDArray]
) -> dict[str, NonFinite]:
    """Return what is not finite in inputs that the call did not overwrite, by their names."""
    written = {y._var for y in results if y.stype == "default"}
    written |= {inputs[i]._var for i in op.mutated_inputs(attrs)}
    found = {}
    for name, x in zip(op.input_names(attrs), inputs, strict=False):
        bad = None if x.stype == "default" and x._var in written else non_finite(x)
        if bad is not None:
            found[name] = bad
    return found


def _has_infinity(attrs: Attrs) -> bool:
    return any(isinstance(x, float) and math.isinf(x) for x in attrs.values())


def _hint(
    op: Operator,
    attrs: Attrs,
    inputs: Sequence[NDArray],
    result: NDArray,
    found: NonFinite,
    read: dict[str, NonFinite],
    spoilt: dict[str, NonFinite],
) -> str:
    """Return where the value may come from, as the end of a message."""
    if spoilt:
        name = next(iter(spoilt))
        x = inputs[list(op.input_names(attrs)).index(name)]
        if x._edge is not None and isinstance(x._edge[0], Leaf):
            return "; it is a parameter: look at its last update and the learning rate"
        return "; no checked operator computed it: look at the data"
    scalars = [k for k, v in attrs.items() if isinstance(v, float) and math.isnan(v)]
    if scalars:
        return f"; its argument {scalars[0]} is NaN"
    infinite = [(name, x) for name, x in read.items() if x.infinite]
    if infinite:
        name, bad = infinite[0]
        return f"; its input {name} holds {bad.kind} {bad}"
    if result._spec.dtype == FLOAT16 and found.infinite:
        return "; float16 holds up to 65504"
    return ""


def drop_failures(arrays: Sequence[NDArray]) -> None:
    """Wait for arrays, and ignore errors: another one says more."""
    for x in arrays:
        with suppress(GluonishError):
            x.wait_to_read()


def _check_indices(
    op: Operator,
    attrs: Attrs,
    inputs: Sequence[NDArray],
    results: Sequence[NDArray],
    locate: Locate,
) -> None:
    if not inputs or any(x.stype != "default" for x in inputs):
        return
    valid = index_range(op, [x._spec for x in inputs], attrs)
    if valid is None or not inputs[valid.position]._spec.size:
        return
    message = out_of_range(inputs[valid.position], valid.extent, valid.ignored)
    if message:
        name = op.input_names(attrs)[valid.position]
        drop_failures(results)
        what = f"{public_name(op.name).lstrip('_')}: expected {name} {message}"
        raise located_error(OperatorIndexError, what, locate())


def out_of_range(x: NDArray, extent: int, ignored: float | None = None) -> str:
    """Wait for an array of indices; return what is wrong with them, or an empty text.

    Args:
        x: Indices of any dtype; fractions are truncated.
        extent: Indices are in [0, extent).
        ignored: An index that is in range, too.
    """
    x.wait_to_read()
    values = x._data if x._device.is_host else x.asnumpy()
    return describe_range(values, extent, ignored)


def describe_range(values: Any, extent: int, ignored: float | None = None) -> str:
    """Return what is wrong with indices in an array of NumPy; see `out_of_range`."""
    bad = ~((values > -1) & (values < extent))  # NaN is out of range
    if ignored is not None:
        bad &= values != ignored
    if not bad.any():
        return ""
    first = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
    count = f"{int(bad.sum())} of {bad.size} are out of range"
    return f"from 0 to {extent - 1}, got {values[first]} at {list(first)} ({count})"


def check_gradients(node: Any, received: Sequence[Array], found: Sequence[Array]) -> None:
    """Check the gradients that a node of the tape computed; an observer of the backward pass.

    Args:
        node: The node.
        received: Gradients of its outputs.
        found: Gradients of its inputs.

    Raises:
        NonFiniteError: A gradient is NaN or infinite.
    """
    checks = recording.checks.get()
    if checks is None or not checks.values:
        return
    check = getattr(node, "check_gradients", None)  # a graph checks its operators itself
    if check is not None:
        check(received, found)
        return
    op = getattr(node, "op", None)
    if op is None:
        function = getattr(node, "function", None)
        name = type(node).__name__ if function is None else type(function).__name__
        check_rule(name, [f"{i}" for i in range(len(found))], received, (), found, Origin("", None))
        return
    origin = getattr(node.inputs, "origin", Origin("", None))
    names = op.input_names(node.attrs)
    check_rule(public_name(op.name), names, received, node.inputs, found, origin)


def check_rule(
    operator: str,
    names: Sequence[str],
    received: Sequence[Array],
    inputs: Sequence[NDArray],
    found: Sequence[Array],
    origin: Origin,
) -> None:
    """Check the gradients of an operator's inputs.

    Args:
        operator: Name of the operator.
        names: Names of its inputs.
        received: Gradients of its outputs.
        inputs: Its inputs.
        found: Gradients of its inputs.
        origin: Where it was called.
    """
    for name, gradient in zip(names, found, strict=False):
        bad = None if gradient is None else non_finite(gradient)
        if bad is None:
            continue
        heads = [x for x in map(_maybe_non_finite, received) if x is not None]
        if not bad.nan and (
            any(x.infinite for x in heads)
            or any(x is not None and x.infinite for x in map(non_finite, inputs))
        ):
            continue
        spoilt = [x for x in heads if x.nan]
        where = f"the gradient of its input {name}"
        if spoilt:
            where, bad = "the gradient of its output", spoilt[0]
        raise located_error(
            NonFiniteError,
            f"{operator}: expected finite gradients, got {bad.kind} in {where} {bad}",
            origin,
        )


def pause_values() -> "CheckScope":
    """Return a scope in which values may be infinite, such as gradients of a scaled loss."""
    checks = recording.checks.get()
    return CheckScope(Checks(*(False,) * 3) if checks is None else checks._replace(values=False))


def _maybe_non_finite(x: Array) -> NonFinite | None:
    return None if x is None else non_finite(x)


class CheckScope(ValueScope):
    """The scope of `check_values`."""

    __slots__ = ("_asked",)

    def __init__(self, asked: Checks) -> None:
        super().__init__()
        self._asked = asked

    def __enter__(self) -> "CheckScope":
        before = recording.mode.get()
        on = CHECKED if any(self._asked) else 0
        if on and not before & HOOKED:  # a hook calls the checks itself
            self._change(recording.observer, check_call)
        else:
            self._change(recording.observer, recording.observer.get())
        self._change(recording.checks, self._asked if on else None)
        self._change(recording.mode, before & ~CHECKED | on)
        return self

    def __exit__(self, *exc_info: object) -> None:
        for _ in range(3):
            self._restore()


def check_values(values: bool = True, labels: bool = True, gradients: bool = True) -> CheckScope:
    """Return a context manager that checks the values of all operators in its thread.

    The first operator with a bad value raises an error that names the operator, the layer by its
    place in the network (``net[6]``), the line of the program, the training step, and the value:
    which array, how many values, and the first index. Hybridized networks run as usual, and once
    more operator by operator, so that results keep their bits; each operator is waited for.
    ``MXNET_CHECK_VALUES=1`` checks a whole program.

    Infinity is an error where an operator computes it from finite values: masks may hold it.

    Args:
        values: Whether outputs of operators, gradients and updated parameters must be finite.
        labels: Whether labels and ids must be in range; else operators clip them.
        gradients: Whether `Trainer.step` refuses parameters without a new gradient, and warns of
            weights whose gradients stay 0.

    Raises:
        ArgumentTypeError: An argument is not a bool.

    Example:
        >>> import gluonish as mx
        >>> x = mx.nd.array([1, 0])
        >>> with mx.check_values():
        ...     try:
        ...         mx.nd.log(x)
        ...     except FloatingPointError as error:
        ...         print(str(error).partition(";")[0])
        log: expected finite values, got -infinity in its output (1 of 2 values, the first at [1])
    """
    asked = Checks(values, labels, gradients)
    for name, value in zip(Checks._fields, asked, strict=True):
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"check_values: expected {name} to be a bool, got {value!r}")
    return CheckScope(asked)


def start() -> None:
    """Check all values in this thread from now on, for ``MXNET_CHECK_VALUES``."""
    if recording.checks.get() is None:
        recording.checks.set(Checks())
        recording.mode.set(recording.mode.get() | CHECKED)
