"""Sequences as one Symbol with an axis of time, or as a list with a Symbol for each step."""

from collections.abc import Sequence
from typing import Any

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError
from gluonish.symbol import Symbol

__all__ = ["normalized"]


def normalized(
    length: int,
    inputs: Any,
    layout: str,
    merge: bool | None,
    in_layout: str | None = None,
) -> tuple[Any, int]:
    """Return a sequence in the wanted form, and its axis of time.

    Args:
        length: Number of steps.
        inputs: One Symbol, or a list of ``length`` Symbols.
        layout: Where the axis of time is: ``"NTC"`` or ``"TNC"``.
        merge: True for one Symbol, False for a list, None for the form that it has.
        in_layout: Where it is in ``inputs``, if elsewhere.

    Raises:
        ArgumentError: The inputs are None, a Symbol with several outputs where one is to be split,
            or a list of another length.
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
