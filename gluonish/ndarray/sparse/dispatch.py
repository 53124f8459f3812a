"""Dispatch of operators on sparse arrays: implementations by storage types of the inputs.

Combinations that are not in the table run on dense arrays (MXNet's storage fallback): the inputs
are converted, and the result is dense. An implementation calls operators on values and indices; it
waits for indices only if the indices of the result depend on several inputs.

Storage types are written as one letter each: ``d`` for dense, ``r`` for row_sparse, ``c`` for csr.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_STORAGE_FALLBACK_LOG_VERBOSE
from gluonish.core.errors import ArgumentTypeError
from gluonish.ndarray import recording
from gluonish.ndarray.eager import invoke, record_call
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import OBSERVED, RECORDING
from gluonish.ndarray.sparse.array import BaseSparseNDArray
from gluonish.ndarray.sparse.storage import convert
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.sparse.cast_storage import CAST_STORAGE

# (operator, inputs, attributes) -> the result, or NotImplemented to run on dense arrays. An
# in-place implementation has a fourth argument: the array to store the result in, or None.
Implementation = Callable[..., Any]

_LETTERS = {"default": "d", "row_sparse": "r", "csr": "c"}
_log = logging.getLogger("gluonish")
_logged: set[tuple[str, str]] = set()


class _Entry(NamedTuple):
    """An implementation, and the operator to record on the tape (None: the one that was called)."""

    run: Implementation
    recorded: Operator | None
    in_place: bool


_table: dict[tuple[str, str], _Entry] = {}


def implement(
    operators: str, kinds: str, recorded: Operator | None = None, *, in_place: bool = False
) -> Callable[[Implementation], Implementation]:
    """Register the decorated function as the implementation for some storage types of the inputs.

    Args:
        operators: Names, separated by spaces.
        kinds: Letters of the inputs' storage types, alternatives separated by spaces; a letter and
            a star mean any number of inputs of that type.
        recorded: Operator to record instead of the one called, for another gradient rule.
        in_place: Whether the function is called with the array to store the result in.
    """

    def decorate(run: Implementation) -> Implementation:
        for name in operators.split():
            for choice in kinds.split():
                _table[name, choice] = _Entry(run, recorded, in_place)
        return run

    return decorate


def kinds_of(inputs: Sequence[NDArray]) -> str:
    """Return the letters of the inputs' storage types."""
    return "".join(_LETTERS[x.stype] for x in inputs)


def apply_sparse(op: Operator, inputs: Sequence[Any], attrs: Attrs, out: Any = None) -> Any:
    """Run an operator with sparse inputs; implements ``BaseSparseNDArray.__apply__``.

    Args:
        op: The operator.
        inputs: NDArrays; if any is a graph value, its class handles the call.
        attrs: Parsed attributes.
        out: Array to store the result in, converted to its storage type.

    Raises:
        OperatorError: Shape inference failed.
        ArgumentTypeError: An input is not an array.
    """
    for name, x in zip(op.input_names(attrs), inputs, strict=False):
        if not isinstance(x, NDArray):
            if hasattr(x, "__apply__"):
                return type(x).__apply__(op, inputs, attrs)
            raise ArgumentTypeError(
                f"{op.name}: expected {name} to be an NDArray, got {type(x).__name__}"
            )
    kinds = kinds_of(inputs)
    entry = _table.get((op.name, kinds))
    if entry is None and kinds == kinds[0] * len(kinds):
        entry = _table.get((op.name, f"{kinds[0]}*"))
    if entry is None:
        return _on_dense(op, inputs, attrs, out, kinds)
    op.infer(*[x._spec for x in inputs], **attrs)
    flags = recording.mode.get()
    before = recording.mode.get()
    try:
        recording.mode.set(flags & ~(RECORDING | OBSERVED))
        if entry.in_place:
            result = entry.run(op, inputs, attrs, out)
        else:
            result = entry.run(op, inputs, attrs)
    finally:
        recording.mode.set(before)
    if result is NotImplemented:
        return _on_dense(op, inputs, attrs, out, kinds)
    if any(result is x for x in inputs):
        result = result.detach()
    recorded = entry.recorded or op
    if flags & RECORDING and recorded.gradient is not None:
        record_call(recorded, inputs, attrs, [result])
    if flags & OBSERVED:
        recording.observer.get()(op, attrs, inputs, [result])
    return result if out is None else deliver(result, out)


def deliver(result: NDArray, out: Any) -> NDArray:
    """Store a result in ``out``, converted to its storage type and dtype, and return it."""
    target: NDArray = out[0] if isinstance(out, list | tuple) else out
    target._check_writable("out")
    if target is not result:
        link = result._edge
        result.detach().copyto(target)
        if link is not None:
            target._edge = link
    return target


def _on_dense(op: Operator, inputs: Sequence[NDArray], attrs: Attrs, out: Any, kinds: str) -> Any:
    """Run an operator with sparse inputs converted to dense, with gradients."""
    _log_fallback(op, kinds)
    dense = [
        apply_sparse(CAST_STORAGE, (x,), {"stype": "default"})
        if isinstance(x, BaseSparseNDArray)
        else x
        for x in inputs
    ]
    result = invoke(op, dense, attrs, out)
    for i in op.mutated_inputs(attrs):
        x = inputs[i]
        if isinstance(x, BaseSparseNDArray):
            dense[i].detach().copyto(x)
    return result


def _log_fallback(op: Operator, kinds: str) -> None:
    """Log a storage fallback, once per operator and storage types."""
    if (op.name, kinds) not in _logged and MXNET_STORAGE_FALLBACK_LOG_VERBOSE.value:
        _logged.add((op.name, kinds))
        names = {letter: stype for stype, letter in _LETTERS.items()}
        _log.warning(
            "%s: no sparse implementation for %s: its inputs were made dense "
            "(MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 silences this)",
            op.name,
            ", ".join(names[letter] for letter in kinds),
        )


@implement("cast_storage", "d r c")
def _cast_storage(op: Operator, inputs: Sequence[NDArray], attrs: Attrs) -> Any:
    return convert(inputs[0], attrs["stype"])
