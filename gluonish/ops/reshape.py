"""Operators that keep all elements in order and change the shape: Reshape and its kin."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Attribute, Schema, boolean, integer, optional
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import UNKNOWN, Shape, Spec
from gluonish.ops.facts import Execution, ShapeFacts
from gluonish.ops.registry import Attrs, Operator, ShapeRule, V, apply, register
from gluonish.ops.support.axes import named_axes, normalize_axis
from gluonish.ops.support.dtype_rules import dtype_rule
from gluonish.ops.support.shape_rules import Shapes, same_rows, tell, unknown_of

__all__ = [
    "EXPAND_DIMS",
    "FLATTEN",
    "RESHAPE",
    "RESHAPE_LIKE",
    "SQUEEZE",
    "copy_kernel",
    "expand_dims",
    "filled_in",
    "reshape",
    "reshape_back",
    "resolve_shape",
    "shape_operator",
    "split_extent",
    "squeezed",
]


def copy_kernel(xp: ModuleType, out: Any, data: Any, *_others: Any, **_attrs: Any) -> None:
    """Copy the elements of ``data`` in their order."""
    # Reading in the shape of data keeps the order of elements for any strides of data.
    out.reshape(data.shape)[...] = data


def reshape_back(g: V, data: V, **_attrs: Any) -> tuple[Any]:
    """Return the gradient of what keeps elements in order: ``g`` in the shape of ``data``."""
    return (reshape(g, data.shape),)


def shape_operator(
    name: str,
    infer: Callable[..., tuple[Spec]],
    doc: str,
    *aliases: str,
    given: str = "data",
    shapes: ShapeRule | None = None,
    **attributes: Attribute,
) -> Operator:
    """Register an operator that keeps all elements of its input, ``given``, in order."""
    return register(
        Operator(
            name,
            infer,
            copy_kernel,
            reshape_back,
            doc=doc,
            inputs=(given,),
            schema=Schema(**attributes),
            aliases=aliases,
            execution=Execution(identity=True, moves=True),
            shapes=ShapeFacts(rule=shapes),
        )
    )


def split_extent(extent: int, first: int, second: int) -> tuple[int, int]:
    """Return two factors of an extent, one of which may be given as -1: what is left."""
    if first == -1 and second > 0:
        return extent // second, second
    if second == -1 and first > 0:
        return first, extent // first
    return first, second


def filled_in(size: int, target: Shape) -> Shape:
    """Return a shape with its -1 replaced by what is left of ``size`` elements."""
    known = math.prod(extent for extent in target if extent != -1)
    missing = size // known if known else 0
    return tuple(missing if extent == -1 else extent for extent in target)


class _Codes:
    """The reading of Reshape's codes: an input shape on one side, the codes on the other."""

    def __init__(self, source: Shape, codes: Shape) -> None:
        self.source = source
        self.codes = codes
        self.position = 0  # in source
        self.at = 0  # in codes
        self.target: list[int] = []

    def fail(self, problem: str) -> OperatorError:
        return OperatorError(
            f"Reshape: expected shape to fit data {self.source}, got {self.codes}: {problem}"
        )

    def take(self) -> int:
        """Consume one extent of the input."""
        if self.position >= len(self.source):
            raise self.fail("it uses more axes than data has")
        self.position += 1
        return self.source[self.position - 1]

    def code(self) -> int:
        """Consume one code."""
        if self.at >= len(self.codes):
            raise self.fail("-4 wants two extents behind it")
        self.at += 1
        return self.codes[self.at - 1]

    def split(self) -> None:
        """Code -4: one extent becomes the two that follow, one of which may be -1."""
        extent = self.take()
        parts = split_extent(extent, self.code(), self.code())
        if parts[0] < 0 or math.prod(parts) != extent:
            raise self.fail(f"-4 cannot split {extent} into {parts[0]} and {parts[1]}")
        self.target += parts

    def run(self) -> Shape:
        """Return the target shape, in which at most one extent is -1."""
        while self.at < len(self.codes):
            code = self.code()
            if code == 0:
                self.target.append(self.take())
            elif code == -2:
                self.target += self.source[self.position :]
                self.position = len(self.source)
            elif code == -3:
                self.target.append(self.take() * self.take())
            elif code == -4:
                self.split()
            elif code >= -1:
                self.target.append(code)
                self.position += 1
            else:
                raise self.fail(f"there is no code {code}")
        return tuple(self.target)


def _told_elements(codes: Shape, target: Shape) -> str:
    """Return how many elements a shape has that does not fit."""
    if codes == target:
        return f" with {math.prod(target)}"
    known = math.prod(n for code, n in zip(codes, target, strict=False) if code != -1)
    if codes.count(-1) == 1 and len(codes) == len(target):
        return f": no extent in place of -1 makes that of {known}"
    return f", which is {target} with {math.prod(target)}"


def resolve_shape(source: Shape, codes: Shape, reverse: bool = False) -> Shape:
    """Return the shape that Reshape's ``shape`` stands for.

    Args:
        source: Shape of the data.
        codes: Extents, and: 0 copies an extent of the data, -1 is what is left, -2 copies all that
            remain, -3 joins two, -4 splits one into the two numbers that follow.
        reverse: Read both from the right.

    Raises:
        OperatorError: if they do not fit the data.
    """
    reading = _Codes(source[::-1], codes[::-1]) if reverse else _Codes(source, codes)
    target = reading.run()
    if target.count(-1) > 1:
        raise OperatorError(f"Reshape: expected at most one -1 in shape, got {codes}")
    size = math.prod(source)
    target = filled_in(size, target)
    if math.prod(target) != size:
        raise OperatorError(
            f"Reshape: expected shape to have the {size} elements of data {source}, got {codes}"
            f"{_told_elements(codes, target)}"
        )
    return target[::-1] if reverse else target


def _infer(
    data: Spec, *, shape: Shape, reverse: bool, target_shape: Shape, keep_highest: bool
) -> tuple[Spec]:
    if shape or not target_shape:
        return (Spec(resolve_shape(data.shape, shape, reverse), data.dtype),)
    # The older way to say it: 0 is what is left, and keep_highest keeps axis 0.
    codes = tuple(extent or -1 for extent in target_shape)
    if keep_highest:
        codes = (*data.shape[:1], *codes[1:])
    return (Spec(resolve_shape(data.shape, codes), data.dtype),)


class _Exchange:
    """Reshape's codes read with partly known shapes: each code tells extents of either side."""

    def __init__(self, source: list[int], target: list[int], codes: Shape) -> None:
        self.source = source
        self.target = target
        self.codes = iter(codes)
        self.position = 0  # in source

    def run(self) -> None:
        """Read all codes."""
        at = 0
        for code in self.codes:
            at += self._read(code, at)

    def _read(self, code: int, at: int) -> int:
        """Read a code that stands for the target's axes from ``at`` on; return how many."""
        source, target, position = self.source, self.target, self.position
        if code == -2:
            count = len(source) - position
            for i in range(count):
                self._equal(position + i, at + i)
            self.position = len(source)
            return count
        self.position += 2 if code == -3 else 1
        if code == 0:
            self._equal(position, at)
        elif code == -3:
            first, second, joined = _factors(source[position], source[position + 1], target[at])
            source[position : position + 2], target[at] = [first, second], joined
        elif code == -4:
            pair = [next(self.codes), next(self.codes)]
            pair = [
                n if t == UNKNOWN else t for n, t in zip(pair, target[at : at + 2], strict=True)
            ]
            first, second, joined = _factors(pair[0], pair[1], source[position])
            target[at : at + 2], source[position] = [first, second], joined
            return 2
        elif code > 0:
            target[at] = code
        return 1

    def _equal(self, i: int, j: int) -> None:
        known = self.source[i] if self.source[i] != UNKNOWN else self.target[j]
        self.source[i] = known
        if self.target[j] == UNKNOWN:
            self.target[j] = known


def _factors(first: int, second: int, product: int) -> tuple[int, int, int]:
    """Fill in the one of two extents and their product that is unknown."""
    if UNKNOWN not in (first, second):
        return first, second, first * second
    if product > 0 and first > 0 and product % first == 0:
        return first, product // first, product
    if product > 0 and second > 0 and product % second == 0:
        return product // second, second, product
    return first, second, product


def _fill_rest(extents: list[int], others: list[int]) -> None:
    """Find the one unknown extent from those of the other side, all known."""
    if extents.count(UNKNOWN) == 1 and UNKNOWN not in others:
        known = -math.prod(extents)
        if known > 0 and math.prod(others) % known == 0:
            extents[extents.index(UNKNOWN)] = math.prod(others) // known


def _axis_count(rank: int, codes: Shape) -> int | None:
    """Return how many axes the target has, None where codes and source do not fit."""
    position = count = at = 0
    while at < len(codes):
        code = codes[at]
        count += {-2: max(rank - position, 0), -4: 2}.get(code, 1)
        if code in (0, -3, -4) and position + (2 if code == -3 else 1) > rank:
            return None
        position = rank if code == -2 else position + (2 if code == -3 else 1)
        at += 3 if code == -4 else 1
    return count if at == len(codes) else None


def _shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    """Tell the extents that the codes and the number of elements leave no choice for."""
    source, codes = inputs[0], attrs["shape"]
    if source is None or not codes:
        return
    turn = slice(None, None, -1 if attrs["reverse"] else None)
    count = _axis_count(len(source), codes[turn])
    if count is None:
        return
    tell(outputs, 0, unknown_of(count))
    extents, target = list(source[turn]), list((outputs[0] or ())[turn])
    _Exchange(extents, target, codes[turn]).run()
    _fill_rest(target, extents)
    _fill_rest(extents, target)
    tell(inputs, 0, tuple(extents[turn]))
    tell(outputs, 0, tuple(target[turn]))


RESHAPE = register(
    Operator(
        "Reshape",
        _infer,
        copy_kernel,
        reshape_back,
        doc=(
            "The same elements in the same order in another shape.\n\n"
            "In shape, 0 copies an extent of data, -1 is what is left, -2 copies all extents\n"
            "that remain, -3 joins two, and -4 splits one into the two numbers behind it;\n"
            "reverse reads shapes from the right. target_shape and keep_highest are the older\n"
            "way to say it.\n\n"
            "Shapes: data any, output shape, of equally many elements."
        ),
        schema=Schema(
            shape=shape_attr(()),
            reverse=boolean(False),
            target_shape=shape_attr(()),
            keep_highest=boolean(False),
        ),
        aliases=("reshape",),
        shapes=ShapeFacts(rule=_shapes),
        execution=Execution(identity=True, moves=True),
    )
)


def _exact_infer(data: Spec, *, shape: Shape) -> tuple[Spec]:
    if math.prod(shape) != data.size:
        raise OperatorError(
            f"reshape: expected shape to have the {data.size} elements of data {data.shape}, got "
            f"{shape} with {math.prod(shape)}"
        )
    return (Spec(shape, data.dtype),)


# Reshape cannot say an extent of 0 or a shape without axes; gradients of empty arrays need both.
_RESHAPE_EXACT = shape_operator(
    "_reshape_exact",
    _exact_infer,
    "The same elements in the same order in exactly this shape, in which 0 is an extent.",
    shape=shape_attr(),
)


def reshape(x: Any, shape: Shape) -> Any:
    """Return ``x`` in another shape; one extent may be -1, and 0 is an extent and no code."""
    if x.shape == shape:
        return x
    if shape and 0 not in shape:
        attrs = {"shape": shape, "reverse": False, "target_shape": (), "keep_highest": False}
        return apply(RESHAPE, (x,), attrs)
    if -1 in shape:
        shape = resolve_shape(x.shape, shape)
    return apply(_RESHAPE_EXACT, (x,), {"shape": shape})


def _flatten_infer(data: Spec) -> tuple[Spec]:
    if not data.shape:
        raise OperatorError("Flatten: expected data of at least 1 axis, got ()")
    return (Spec((data.shape[0], math.prod(data.shape[1:])), data.dtype),)


def _flatten_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    data = inputs[0]
    if data:
        rest = UNKNOWN if UNKNOWN in data[1:] else math.prod(data[1:])
        tell(outputs, 0, (data[0], rest))
        same_rows(inputs, outputs, attrs)


FLATTEN = shape_operator(
    "Flatten",
    _flatten_infer,
    "Join all axes behind the first: (N, ...) becomes (N, features).\n\n"
    "Shapes: data (N, ...), output (N, features).",
    "flatten",
    "_npx_batch_flatten",
    shapes=_flatten_shapes,
)


def _bounds(rank: int, begin: int | None, end: int | None, side: str) -> tuple[int, int]:
    first = 0 if begin is None else begin + rank * (begin < 0)
    last = rank if end is None else end + rank * (end < 0)
    if not 0 <= first <= last <= rank:
        raise OperatorError(
            f"reshape_like: expected {side}_begin <= {side}_end within {rank} axes, got {begin} "
            f"and {end}"
        )
    return first, last


def _like_infer(
    lhs: Spec,
    rhs: Spec,
    *,
    lhs_begin: int | None,
    lhs_end: int | None,
    rhs_begin: int | None,
    rhs_end: int | None,
) -> tuple[Spec]:
    if lhs_begin is lhs_end is rhs_begin is rhs_end is None:
        shape = rhs.shape
    else:
        first, last = _bounds(len(lhs.shape), lhs_begin, lhs_end, "lhs")
        begin, end = _bounds(len(rhs.shape), rhs_begin, rhs_end, "rhs")
        shape = lhs.shape[:first] + rhs.shape[begin:end] + lhs.shape[last:]
    if math.prod(shape) != lhs.size:
        raise OperatorError(
            f"reshape_like: expected a shape of {lhs.size} elements for lhs {lhs.shape}, got "
            f"{shape} from rhs {rhs.shape}"
        )
    return (Spec(shape, lhs.dtype),)


def _like_gradient(g: V, lhs: V, rhs: V, **_attrs: int | None) -> tuple[Any, None]:
    return reshape(g, lhs.shape), None


RESHAPE_LIKE = register(
    Operator(
        "reshape_like",
        _like_infer,
        copy_kernel,
        _like_gradient,
        doc=(
            "lhs in the shape of rhs.\n\n"
            "With begin and end given, axes lhs_begin up to lhs_end take the extents of rhs's\n"
            "axes rhs_begin up to rhs_end.\n\n"
            "Shapes: lhs and rhs of equally many elements, output that of rhs."
        ),
        inputs=("lhs", "rhs"),
        schema=Schema(
            lhs_begin=optional(integer()),
            lhs_end=optional(integer()),
            rhs_begin=optional(integer()),
            rhs_end=optional(integer()),
        ),
        aliases=("_npx_reshape_like",),
        execution=Execution(identity=True, moves=True),
        shapes=ShapeFacts(complete=dtype_rule(0)),
    )
)


def _expand_infer(data: Spec, *, axis: int) -> tuple[Spec]:
    axis = normalize_axis("expand_dims", axis, len(data.shape) + 1)
    return (Spec((*data.shape[:axis], 1, *data.shape[axis:]), data.dtype),)


def _expand_shapes(inputs: Shapes, outputs: Shapes, attrs: Attrs) -> None:
    data, out = inputs[0], outputs[0]
    rank = len(data) + 1 if data is not None else len(out) if out is not None else 0
    axis = attrs["axis"] + rank * (attrs["axis"] < 0)
    if not 0 <= axis < rank:
        return
    if data is not None:
        tell(outputs, 0, (*data[:axis], 1, *data[axis:]))
    out = outputs[0]
    if out is not None and len(out) == rank:
        tell(inputs, 0, (*out[:axis], *out[axis + 1 :]))


EXPAND_DIMS = shape_operator(
    "expand_dims",
    _expand_infer,
    (
        "Insert an axis of extent 1 at position axis.\n\n"
        "Shapes: data any, output the same with one axis more."
    ),
    "_npi_expand_dims",
    shapes=_expand_shapes,
    axis=integer(),
)


def squeezed(name: str, shape: Shape, axis: Shape | None) -> Shape:
    """Return a shape without the axes of extent 1, or without those that ``axis`` names.

    Raises:
        OperatorError: one of them has another extent.
    """
    if axis is None:
        return tuple(extent for extent in shape if extent != 1)
    gone = named_axes(name, axis, len(shape))
    if any(shape[i] != 1 for i in gone):
        raise OperatorError(f"{name}: expected axes of extent 1, got axis {axis} of {shape}")
    return tuple(extent for i, extent in enumerate(shape) if i not in gone)


def _squeeze_infer(data: Spec, *, axis: Shape | None) -> tuple[Spec]:
    shape = squeezed("squeeze", data.shape, axis)
    return (Spec(shape or (1,) * bool(data.shape), data.dtype),)


SQUEEZE = shape_operator(
    "squeeze",
    _squeeze_infer,
    (
        "Drop the axes of extent 1, or those of them that axis names.\n\n"
        "One is left where all would go.\n\n"
        "Shapes: data any, output the same without axes of extent 1."
    ),
    axis=optional(shape_attr()),
)


def expand_dims(x: Any, axis: int) -> Any:
    """Insert an axis of extent 1 at position ``axis``."""
    return apply(EXPAND_DIMS, (x,), {"axis": axis})
