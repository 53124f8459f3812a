"""Descriptions of data and labels, and gradient requests of `bind`."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gluonish.core.errors import ArgumentError, GluonishError, nearest
from gluonish.io.data_iter import DataBatch, DataDesc


class ModuleStateError(GluonishError, AssertionError):
    """Raised if a module is not ready for a method; an AssertionError, too, as in MXNet."""


def expect(condition: object, what: str, state: str, remedy: str) -> None:
    """Raise a ModuleStateError unless a module is in the state that a method needs."""
    if not condition:
        raise ModuleStateError(f"{what}: expected {state}, got one that is not ready; {remedy}")


def described(shapes: Iterable[Any] | None) -> list[DataDesc]:
    """Return `DataDesc` for each pair (name, shape) or `DataDesc`.

    Args:
        shapes: The pairs or descriptions; None for none.
    """
    return [desc if isinstance(desc, DataDesc) else DataDesc(*desc) for desc in shapes or ()]


def described_batch(
    batch: DataBatch, data: Sequence[DataDesc], label: Sequence[DataDesc]
) -> tuple[list[DataDesc], list[DataDesc]]:
    """Return a batch's own descriptions, or descriptions of its arrays with the previous names.

    Args:
        batch: The batch.
        data: Descriptions of the previous batch's data.
        label: Descriptions of the previous batch's labels.
    """
    return (
        described(getattr(batch, "provide_data", None)) or _resized(data, batch.data),
        described(getattr(batch, "provide_label", None))
        or _resized(label, getattr(batch, "label", None)),
    )


def _resized(before: Sequence[DataDesc], arrays: Sequence[Any] | None) -> list[DataDesc]:
    return [
        DataDesc(desc.name, tuple(array.shape), desc.dtype, desc.layout)
        for desc, array in zip(before, arrays or (), strict=False)
    ]


def check_names(
    arguments: Sequence[str], names: Sequence[str], what: str, *, strict: bool = True
) -> None:
    """Check that a network has arguments of some names.

    Args:
        arguments: Names of the network's arguments.
        names: The names to check.
        what: Argument of Module that they were passed as.
        strict: Whether to raise rather than warn.

    Raises:
        ArgumentError: A name is missing.
    """
    missing = [name for name in names if name not in arguments]
    if missing:
        _complain(
            f"Module: expected {what} among the network's arguments, got {missing[0]!r}"
            f"{nearest(missing[0], arguments) or f'; the arguments are {list(arguments)[:8]}'}",
            strict=strict,
        )


def check_described(
    names: Sequence[str], shapes: Sequence[DataDesc], what: str, *, strict: bool = True
) -> None:
    """Check that there is a description for each name of a module, in any order.

    Args:
        names: The module's names.
        shapes: The descriptions.
        what: ``"data"`` or ``"label"``.
        strict: Whether to raise rather than warn.

    Raises:
        ArgumentError: The names differ.
    """
    found = [desc.name for desc in shapes]
    if sorted(found) != sorted(names):
        _complain(
            f"Module.bind: expected {what}_shapes for {list(names)}, got them for {found}",
            strict=strict,
        )


def parsed_descriptions(
    data_names: Sequence[str],
    label_names: Sequence[str],
    data_shapes: Iterable[Any],
    label_shapes: Iterable[Any] | None,
) -> tuple[list[DataDesc], list[DataDesc] | None]:
    """Return the descriptions of data and labels, checked as in `Module.bind`, for MXNet programs.

    Args:
        data_names: Names of the data inputs.
        label_names: Names of the labels.
        data_shapes: Pairs (name, shape) or `DataDesc` of the data.
        label_shapes: Pairs or `DataDesc` of the labels, or None; wrong names only cause a warning.

    Raises:
        ArgumentError: The names of the data differ.
    """
    data = described(data_shapes)
    check_described(data_names, data, "data")
    label = None if label_shapes is None else described(label_shapes)
    if label_shapes is not None:
        check_described(label_names, label or [], "label", strict=False)
    return data, label


def check_input_names(symbol: Any, names: Sequence[str], typename: str, throw: bool) -> None:
    """Check that a Symbol has arguments of some names, for MXNet programs.

    Args:
        symbol: The Symbol.
        names: The names.
        typename: ``"data"`` or ``"label"``.
        throw: Whether to raise rather than warn.

    Raises:
        ArgumentError: A name is missing.
    """
    check_names(symbol.list_arguments(), names, f"{typename}_names", strict=throw)


def _complain(message: str, *, strict: bool) -> None:
    if strict:
        raise ArgumentError(message)
    warnings.warn(message, UserWarning, stacklevel=5)


Requests = str | Sequence[str] | Mapping[str, str]


def requests_of(
    given: Requests,
    arguments: Sequence[str],
    *,
    params: Sequence[str],
    data: Sequence[str],
    for_training: bool,
) -> dict[str, str]:
    """Return how the gradient of each argument is stored: ``"write"``, ``"add"`` or ``"null"``.

    Args:
        given: ``grad_req`` of `Module.bind`: one str for all arguments with a gradient, a list in
            the order of the arguments, or a dict by name.
        arguments: Names of the network's arguments.
        params: Names of weights with gradients.
        data: Names of inputs with gradients.
        for_training: Whether there are gradients at all.

    Raises:
        ArgumentError: The length of a list differs from that of ``arguments``.
    """
    if not for_training:
        return dict.fromkeys(arguments, "null")
    trained = {*params, *data}
    if isinstance(given, str):
        return {name: given if name in trained else "null" for name in arguments}
    if isinstance(given, Mapping):
        return {name: given.get(name, "write" if name in trained else "null") for name in arguments}
    if len(given) != len(arguments):
        raise ArgumentError(
            f"grad_req: expected one for each of {len(arguments)} arguments, got {len(given)}"
        )
    return dict(zip(arguments, given, strict=True))
