"""reshape of mx.np and mx.npx, and operators that add or remove axes.

broadcast_to of mx.np: 0 is an extent, and -2 copies the array's.
"""

import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, boolean, integer, optional, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec, checked_spec
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.facts import Execution
from gluonish.ops.registry import Attrs, Operator, V, register
from gluonish.ops.shape.broadcast_to import unbroadcast
from gluonish.ops.shape.reshape import reshape, shape_operator, squeezed
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.shape_codes import filled_in, split_extent


def _copy_infer(a: Spec) -> tuple[Spec]:
    return (a,)


COPY = shape_operator(
    "_np_copy", _copy_infer, "A copy of a.\n\nShapes: a any, output the same.", input_name="a"
)


def _fitted(name: str, source: Shape, target: Shape, asked: Shape) -> Shape:
    """Return a shape with its -1 inferred.

    Raises:
        OperatorError: The size differs from the size of ``source``.
    """
    if any(extent < -1 for extent in target) or target.count(-1) > 1:
        raise OperatorError(f"{name}: expected sizes and at most one -1, got {asked}")
    size = math.prod(source)
    lost = -1 in target and 0 in target  # -1 cannot be inferred
    target = filled_in(size, target)
    if lost or math.prod(target) != size:
        raise OperatorError(
            f"{name}: expected newshape of {size} elements for {source}, got {asked}"
        )
    return target


def _infer(a: Spec, *, newshape: Shape, order: str) -> tuple[Spec]:
    return (Spec(_fitted("_np_reshape", a.shape, newshape, newshape), a.dtype),)


RESHAPE = shape_operator(
    "_np_reshape",
    _infer,
    (
        "The same elements in the same order in another shape; one size may be -1, and is\n"
        "then inferred.\n\n"
        "order is accepted and ignored: elements are read and written in row-major order.\n\n"
        "Shapes: a any, output newshape, with the same number of elements."
    ),
    input_name="a",
    newshape=shape_attr(),
    order=text("C"),
)


class _Codes:
    """Interpreter of npx.reshape's codes for an input shape."""

    def __init__(self, source: Shape, codes: Shape) -> None:
        self.source = source
        self.codes = codes
        self.rest = iter(codes)
        self.position = 0  # in source

    def fail(self, problem: str) -> OperatorError:
        return OperatorError(
            f"_npx_reshape: expected newshape to fit {self.source}, got {self.codes}: {problem}"
        )

    def take(self) -> int:
        """Consume one extent of the input."""
        if self.position >= len(self.source):
            raise self.fail("it uses more axes than there are")
        self.position += 1
        return self.source[self.position - 1]

    def split(self) -> tuple[int, int]:
        """Apply code -6: split an extent into the next two, one of which may be -1."""
        extent = self.take()
        first, second = split_extent(extent, next(self.rest, 0), next(self.rest, 0))
        if first < 0 or first * second != extent:
            raise self.fail(f"-6 cannot split {extent} into {first} and {second}")
        return first, second

    def extents(self) -> Iterator[int]:
        """Yield the target's extents, with at most one -1."""
        for code in self.rest:
            if code == -2:
                yield self.take()
            elif code == -3:
                if self.take() != 1:
                    raise self.fail("-3 drops axes of size 1 only")
            elif code == -4:
                yield from self.source[self.position :]
                self.position = len(self.source)
            elif code == -5:
                yield self.take() * self.take()
            elif code == -6:
                yield from self.split()
            elif code >= -1:
                self.position += 1
                yield code
            else:
                raise self.fail(f"there is no code {code}")


def _npx_infer(a: Spec, *, newshape: Shape, reverse: bool, order: str) -> tuple[Spec]:
    turn = -1 if reverse else 1
    source = a.shape[::turn]
    target = tuple(_Codes(source, newshape[::turn]).extents())
    return (Spec(_fitted("_npx_reshape", source, target, newshape)[::turn], a.dtype),)


NPX_RESHAPE = shape_operator(
    "_npx_reshape",
    _npx_infer,
    (
        "The same elements in the same order in another shape.\n\n"
        "In newshape -1 is inferred, -2 copies a size, -3 drops an axis of size 1, -4 copies\n"
        "all remaining sizes, -5 merges two axes into one, and -6 splits one axis into the\n"
        "two sizes that follow it; reverse matches shapes from the right. order is accepted\n"
        "and ignored.\n\n"
        "Shapes: a any, output newshape, with the same number of elements."
    ),
    "_npi_reshape",
    input_name="a",
    newshape=shape_attr(),
    reverse=boolean(False),
    order=text("C"),
)


def _squeeze_infer(a: Spec, *, axis: Shape | None) -> tuple[Spec]:
    return (Spec(squeezed("_np_squeeze", a.shape, axis), a.dtype),)


SQUEEZE = shape_operator(
    "_np_squeeze",
    _squeeze_infer,
    (
        "Remove the axes of size 1, or only those in axis.\n\n"
        "Shapes: a any, output the same without axes of size 1."
    ),
    input_name="a",
    axis=optional(shape_attr()),
)


def _atleast(name: str, rank: int, padded: Callable[[Shape], Shape]) -> None:
    def infer(*arys: Spec, num_args: int) -> tuple[Spec, ...]:
        for spec in arys:
            check_same_dtype(name, arys[0], spec)
        return tuple(Spec(padded(spec.shape), spec.dtype) for spec in arys)

    def kernel(xp: ModuleType, out: Any, *arys: Any, num_args: int) -> None:
        results = out if isinstance(out, tuple | list) else (out,)
        for result, data in zip(results, arys, strict=True):
            result.reshape(data.shape)[...] = data

    def gradient(g: Any, *arys: V, num_args: int) -> tuple[Any, ...]:
        return tuple(
            zeros_like(x) if h is None else reshape(h, x.shape)
            for h, x in zip(g, arys, strict=True)
        )

    register(
        Operator(
            name,
            infer,
            kernel,
            gradient,
            doc=(
                f"Each array with axes of size 1 added until it has {rank}, as in NumPy.\n\n"
                "Shapes: arrays any, outputs one for each."
            ),
            inputs=("arys",),
            schema=Schema(num_args=integer(low=1)),
            variadic="num_args",
            outputs=_count,
            output_names=("output",),
        )
    )


def _count(attrs: Attrs) -> int:
    count: int = attrs["num_args"]
    return count


def _three_axes(shape: Shape) -> Shape:
    """Add axes in front and at the end, like NumPy."""
    if len(shape) > 2:
        return shape
    return ((1, 1, 1), (1, *shape, 1), (*shape, 1))[len(shape)]


_atleast("_np_atleast_1d", 1, lambda shape: shape or (1,))
_atleast("_np_atleast_2d", 2, lambda shape: (1,) * (2 - len(shape)) + shape)
_atleast("_np_atleast_3d", 3, _three_axes)


def _infer_broadcast_to(array: Spec, *, shape: Shape) -> tuple[Spec]:
    lead = len(shape) - len(array.shape)
    source = (1,) * lead + array.shape
    fits = lead >= 0 and -2 not in shape[:lead]
    target = tuple(s if t == -2 else t for s, t in zip(source, shape, strict=False))
    fits = fits and all(t >= 0 and s in (1, t) for s, t in zip(source, target, strict=True))
    if not fits:
        raise OperatorError(
            f"_npi_broadcast_to: expected shape to stretch {array.shape} where it is 1, got {shape}"
        )
    return (checked_spec("_npi_broadcast_to", target, array.dtype),)


def _kernel(xp: ModuleType, out: Any, array: Any, *, shape: Shape) -> None:
    out[...] = array


def _gradient(g: V, array: V, *, shape: Shape) -> tuple[Any]:
    return (unbroadcast(g, array.shape),)


BROADCAST_TO = register(
    Operator(
        "_npi_broadcast_to",
        _infer_broadcast_to,
        _kernel,
        _gradient,
        doc=(
            "Broadcast the axes of size 1 to shape; -2 in shape keeps the size of an axis.\n\n"
            "Shapes: array any, output shape, which has at least as many axes."
        ),
        inputs=("array",),
        schema=Schema(shape=shape_attr(())),
        execution=Execution(copies_only=True),
    )
)
