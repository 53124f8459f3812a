"""Copies of arrays under MXNet's internal names, and zeros."""

from types import ModuleType
from typing import Any

from gluonish.core.dtype import FLOAT32, dtype_from_flag
from gluonish.core.errors import ArgumentTypeError, OperatorError
from gluonish.core.schema import Schema, integer, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import PartialSpec, Shape, Spec, checked_spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.support.broadcasting import complete_same, infer_same


def _copy(xp: ModuleType, out: Any, data: Any, *_: Any) -> None:
    out[...] = data


def _pass_back(g: V, data: V) -> tuple[Any]:
    return (g,)


def _identity(name: str, doc: str, *aliases: str) -> Operator:
    return register(
        Operator(
            name,
            infer_same,
            _copy,
            _pass_back,
            doc=doc,
            aliases=aliases,
            shapes=ShapeFacts(complete=complete_same),
            execution=Execution(elementwise=True, identity=True, copies_only=True),
        )
    )


COPYTO = _identity("_copyto", "Copy data.", "_npi_copyto")
CROSS_DEVICE_COPY = _identity(
    "_CrossDeviceCopy",
    "Copy data, to another device where a graph is split over devices.",
)


def _like_infer(lhs: Spec, rhs: Spec) -> tuple[Spec]:
    if lhs.shape != rhs.shape:
        raise OperatorError(
            f"_identity_with_attr_like_rhs: expected arrays of equal shape, got {lhs.shape} and "
            f"{rhs.shape}"
        )
    return (lhs,)


def _like_gradient(g: V, lhs: V, rhs: V) -> tuple[Any, None]:
    return g, None


def _like_complete(inputs: list[PartialSpec], outputs: list[PartialSpec], attrs: Attrs) -> None:
    complete_same(inputs, outputs, attrs, "_identity_with_attr_like_rhs")


IDENTITY_LIKE_RHS = register(
    Operator(
        "_identity_with_attr_like_rhs",
        _like_infer,
        _copy,
        _like_gradient,
        doc=(
            "Return lhs; infer its shape and dtype from rhs.\n\n"
            "Shapes: lhs, rhs and output the same."
        ),
        inputs=("lhs", "rhs"),
        shapes=ShapeFacts(complete=_like_complete),
        execution=Execution(elementwise=True, identity=True),
    )
)


def _zeros_infer(*, shape: Shape | None, ctx: str, dtype: int) -> tuple[Spec]:
    try:
        kind = FLOAT32 if dtype == -1 else dtype_from_flag(dtype)
    except ArgumentTypeError as error:
        raise OperatorError(f"_zeros_without_dtype: {error}") from error
    return (checked_spec("_zeros_without_dtype", shape or (), kind),)


def _zeros_kernel(xp: ModuleType, out: Any, **_: object) -> None:
    out.fill(0)


ZEROS_WITHOUT_DTYPE = register(
    Operator(
        "_zeros_without_dtype",
        _zeros_infer,
        _zeros_kernel,
        None,
        doc=(
            "Return an array of zeros; dtype is the dtype's number in files, -1 for float32.\n\n"
            "Shapes: output shape."
        ),
        inputs=(),
        schema=Schema(shape=optional(shape_attr()), ctx=text(""), dtype=integer(-1)),
        execution=Execution(copies_only=True),
    )
)
