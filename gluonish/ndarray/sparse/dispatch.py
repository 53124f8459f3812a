"""Operators on sparse arrays: one table from operator and storage types to what computes it.

What the table does not have runs on dense arrays (storage fallback, as MXNet calls it): the sparse
inputs are made dense, and so is the result. An entry works on the parts of its inputs by operators;
it waits for them only where the places of its result depend on the places of several inputs.

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
from gluonish.ndarray.recording import RECORDING, WATCHED
from gluonish.ndarray.sparse.array import BaseSparseNDArray
from gluonish.ndarray.sparse.storage import convert
from gluonish.ops.registry import Attrs, Operator
from gluonish.ops.sparse.cast_storage import CAST_STORAGE

# (operator, inputs, attributes) -> the result, or NotImplemented: run it on dense arrays. Behind
# these comes, for what works in place, the array to leave the result in, or None.
Implementation = Callable[..., Any]

_LETTERS = {"default": "d", "row_sparse": "r", "csr": "c"}
_log = logging.getLogger("gluonish")
_logged: set[tuple[str, str]] = set()


class _Entry(NamedTuple):
    """What runs; the operator whose gradient rule is recorded, None for the one called."""

    run: Implementation
    recorded: Operator | None
    in_place: bool


_table: dict[tuple[str, str], _Entry] = {}


def implement(
    operators: str, kinds: str, recorded: Operator | None = None, *, in_place: bool = False
) -> Callable[[Implementation], Implementation]:
    """Decorate what computes operators for some storage types of their inputs.

    Args:
        operators: Names, separated by spaces.
        kinds: Letters of the inputs' storage types, several choices separated by spaces; a star
            behind one letter means any number of inputs of that type.
        recorded: An operator with another gradient rule to be recorded in place of the one called.
        in_place: Whether the function takes the array for the result.
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
    """Run an operator some of whose inputs are sparse: this is ``BaseSparseNDArray.__apply__``.

    Args:
        op: The operator.
        inputs: NDArrays; a value of a graph among them takes the call over.
        attrs: Parsed attributes.
        out: Receives the result, in its own storage type.

    Raises:
        OperatorError: as the operator's inference says.
        ArgumentTypeError: An input is no array.
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
        recording.mode.set(flags & ~(RECORDING | WATCHED))
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
    if flags & WATCHED:
        recording.watcher.get()(op, attrs, inputs, [result])
    return result if out is None else deliver(result, out)


def deliver(result: NDArray, out: Any) -> NDArray:
    """Leave a result in an array of its shape, in the storage type and dtype which that has."""
    target: NDArray = out[0] if isinstance(out, list | tuple) else out
    target._check_writable("out")
    if target is not result:
        link = result._link
        result.detach().copyto(target)
        if link is not None:
            target._link = link
    return target


def _on_dense(op: Operator, inputs: Sequence[NDArray], attrs: Attrs, out: Any, kinds: str) -> Any:
    """Run an operator with its sparse inputs made dense, through which gradients flow."""
    _tell(op, kinds)
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


def _tell(op: Operator, kinds: str) -> None:
    """Say once of an operator and storage types that it runs on dense arrays."""
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
