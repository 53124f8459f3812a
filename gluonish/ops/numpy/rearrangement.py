"""Gradients of operators that move elements: each output element is one of an input, or nothing.

Such an operator is linear, and its kernel yields its own index map: run on 1, 2, 3 ... for one
input and zeros for the others, it returns the source of every output element (0: none). The
adjoint, which is the gradient, scatters the head gradient by this map; the gradient of the adjoint
is the kernel again.

Two operators implement this for all of them: `_np_moved` runs a kernel with all inputs but one set
to zero, and `_np_moved_back` is its adjoint.
"""

import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from gluonish.core.dtype import INT64, is_floating
from gluonish.core.schema import Attribute, Schema, integer, text
from gluonish.core.spec import Shape, Spec
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.numpy.promotion import dtype_of
from gluonish.ops.registry import Attrs, Operator, V, apply, register
from gluonish.ops.support.host import add_at, scatter_accumulator

Kernel = Callable[..., None]

_kernels: dict[str, Kernel] = {}

_TUPLE = Attribute(lambda value: value, "a tuple")
_SCHEMA = Schema(
    name=text(), position=integer(), shapes=_TUPLE, shape=_TUPLE, given=_TUPLE, indexed=_TUPLE
)


def moved_gradient(
    name: str, kernel: Kernel, moving: int = 1, constants: Mapping[str, Any] | None = None
) -> Callable[..., tuple[Any, ...]]:
    """Return the gradient rule of an operator that moves elements.

    Args:
        kernel: The operator's kernel, which must support int64.
        moving: Number of leading inputs that hold elements; the others are indices. Negative
            numbers count from the end.
        constants: Attributes that insert numbers, with values that make the inserted numbers 0.
    """
    _kernels[name] = kernel

    def gradient(g: V, *inputs: Any, **attrs: Any) -> tuple[Any, ...]:
        plain = {**attrs, **{k: v for k, v in (constants or {}).items() if attrs[k] is not None}}
        given = tuple(sorted(plain.items()))
        count = len(inputs[:moving])
        shapes = tuple(x.shape for x in inputs[:count])
        indices = inputs[count:]

        def entry(position: int) -> Any:
            own, given_dtype = dtype_of(inputs[position]), dtype_of(g)
            if own != given_dtype and not (is_floating(own) and is_floating(given_dtype)):
                return None
            call = {
                "name": name,
                "position": position,
                "shapes": shapes,
                "shape": g.shape,
                "given": given,
                "indexed": tuple(x.shape for x in indices),
            }
            return lambda: cast(apply(_MOVED_BACK, (g, *indices), call), own)

        return (*(entry(i) for i in range(count)), *(None,) * len(indices))

    return gradient


def _embed(
    xp: ModuleType,
    out: Any,
    data: Any,
    indices: tuple[Any, ...],
    attrs: Attrs,
) -> None:
    """Run a kernel with ``data`` as one input and zeros for the others."""
    inputs = [
        data if i == attrs["position"] else xp.zeros(shape, data.dtype)
        for i, shape in enumerate(attrs["shapes"])
    ]
    _kernels[attrs["name"]](xp, out, *inputs, *indices, **dict(attrs["given"]))


def _infer(data: Spec, *indices: Spec, shape: Shape, **_: object) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _kernel(xp: ModuleType, out: Any, data: Any, *indices: Any, **attrs: Any) -> None:
    _embed(xp, out, data, indices, attrs)


def _gradient(g: V, data: V, *indices: V, **attrs: Any) -> tuple[Any, ...]:
    return apply(_MOVED_BACK, (g, *indices), attrs), *(None,) * len(indices)


def _back_infer(
    data: Spec, *indices: Spec, position: int, shapes: tuple[Shape, ...], **_: object
) -> tuple[Spec]:
    return (Spec(shapes[position], data.dtype),)


def _back_kernel(xp: ModuleType, out: Any, data: Any, *indices: Any, **attrs: Any) -> None:
    shape = attrs["shapes"][attrs["position"]]
    size = math.prod(shape)
    numbers = xp.arange(1, size + 1, dtype=INT64).reshape(shape)
    targets = xp.zeros(attrs["shape"], INT64)
    _embed(xp, targets, numbers, indices, attrs)
    total = xp.zeros(size + 1, scatter_accumulator(out.dtype))
    add_at(xp, total, targets.reshape(-1), data.astype(total.dtype).reshape(-1))
    out[...] = total[1:].astype(out.dtype).reshape(out.shape)


def _back_gradient(g: V, data: V, *indices: V, **attrs: Any) -> tuple[Any, ...]:
    return apply(_MOVED, (g, *indices), attrs), *(None,) * len(indices)


def _input_names(attrs: Attrs) -> tuple[str, ...]:
    return ("data", *(f"index{i}" for i in range(len(attrs["indexed"]))))


_MOVED = register(
    Operator(
        "_np_moved",
        _infer,
        _kernel,
        _gradient,
        doc=(
            "The result for one input of an operator that moves elements, with zeros for the\n"
            "other inputs."
        ),
        active_inputs=_input_names,
        schema=_SCHEMA,
    )
)
_MOVED_BACK = register(
    Operator(
        "_np_moved_back",
        _back_infer,
        _back_kernel,
        _back_gradient,
        doc="The adjoint of _np_moved: each element is added at its source index.",
        active_inputs=_input_names,
        schema=_SCHEMA,
    )
)
