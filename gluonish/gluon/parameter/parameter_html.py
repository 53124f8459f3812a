"""What parameters show in a notebook: tables with shapes, dtypes and counts."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import GluonishError
from gluonish.core.html import frame, heading, table

__all__ = ["parameter_html", "parameter_table", "parameters_html", "total_text"]


class Shown(Protocol):
    """What is shown of a `Parameter`, which imports this module."""

    _full_name: str
    grad_req: str
    dtype: Any
    shape: tuple[int, ...] | None

    def list_data(self) -> list[Any]:
        """Return the values on each device."""
        raise NotImplementedError

    def list_ctx(self) -> list[Any]:
        """Return the devices."""
        raise NotImplementedError


_COLUMNS = ("parameter", "shape", "dtype", "elements", "gradient")


def size_of(parameter: Shown) -> int | None:
    """Return the number of elements; None while an extent is unknown."""
    shape = parameter.shape
    return None if shape is None or any(n < 1 for n in shape) else math.prod(shape)


def total_text(parameters: Iterable[Shown], unit: str) -> str:
    """Return how many elements parameters have, such as ``"1,024 elements, 1,000 trainable"``."""
    sizes = {id(p): (size_of(p), p.grad_req != "null") for p in parameters}
    known = [(size, trains) for size, trains in sizes.values() if size is not None]
    total = sum(size for size, _ in known)
    trainable = sum(size for size, trains in known if trains)
    texts = [f"{total:,} {unit}"] if known else []
    texts += [f"{trainable:,} trainable"] if trainable != total else []
    unknown = len(sizes) - len(known)
    texts += [f"shapes of {unknown} arrays unknown until the first call"] if unknown else []
    return ", ".join(texts)


def parameter_table(parameters: Iterable[tuple[str, Shown]]) -> str:
    """Return the HTML of a table of parameters with names."""
    return table(_COLUMNS, _rows(parameters))


def _rows(parameters: Iterable[tuple[str, Shown]]) -> Iterator[tuple[Any, ...]]:
    for name, parameter in parameters:
        size = size_of(parameter)
        count = "unknown" if size is None else f"{size:,}"
        req = {"write": "yes", "null": "no"}.get(parameter.grad_req, parameter.grad_req)
        yield name, _shape_text(parameter), normalize_dtype(parameter.dtype).name, count, req


def _shape_text(parameter: Shown) -> str:
    if parameter.shape is None:
        return "unknown"
    extents = ["?" if n < 1 else str(n) for n in parameter.shape]
    return f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"


def parameter_html(parameter: Shown) -> str:
    """Return the HTML of one parameter: its properties, and its values if it is initialized."""
    kind, notes = type(parameter).__name__, []
    for name in ("lr_mult", "wd_mult"):
        factor = getattr(parameter, name, 1.0)
        notes += [f"{name} {factor:g}"] if factor != 1 else []
    try:
        values = parameter.list_data()[0]._repr_html_() or ""
        notes.append(", ".join(map(str, parameter.list_ctx())))
    except GluonishError:
        values = ""
        notes.append("not initialized")
    rows = parameter_table([(parameter._full_name, parameter)])
    return frame(heading(kind, *notes), rows, values)


def parameters_html(kind: str, prefix: str, parameters: dict[str, Shown]) -> str:
    """Return the HTML of a dict of parameters, of a class and with a prefix."""
    notes = prefix, f"{len(parameters)} arrays", total_text(parameters.values(), "elements")
    return frame(heading(kind, *notes), parameter_table(parameters.items()))
