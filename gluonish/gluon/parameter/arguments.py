"""What a Parameter is given: checked arguments, and where its first values come from.

An extent of a shape that is not known yet is 0 or -1.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.core.context import Context, cpu, current_context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.core.file_map import is_mapped
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape
from gluonish.initializer import InitDesc, Initializer, create
from gluonish.ndarray import NDArray, zeros
from gluonish.numpy.array import gluon_array


def as_shape(what: str, shape: Any) -> Shape:
    """Return extents as a tuple of ints; a single number is the extent of the only axis.

    Args:
        what: Whose shape, for messages.
        shape: What the caller gave.

    Raises:
        ArgumentTypeError: It is neither a number nor a sequence of numbers.
    """
    several = isinstance(shape, Sequence) and not isinstance(shape, str)
    extents: tuple[Any, ...] = tuple(shape) if several else (shape,)
    try:
        return tuple(operator.index(extent) for extent in extents)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what}: expected shape as a sequence of ints, got {shape!r}"
        ) from error


def check_fits(what: str, stored: Shape, given: Shape) -> None:
    """Refuse a shape that changes a parameter's known extents.

    Raises:
        ParameterError: It has other extents, or another number of them.
    """
    if len(given) != len(stored) or any(
        old not in (new, 0, -1) for old, new in zip(stored, given, strict=True)
    ):
        raise ParameterError(f"{what}: expected a shape that fits {stored}, got {given}")


def shape_is_known(shape: Shape | None) -> bool:
    """Whether an array of this shape can be made: there are axes, and every extent is above 0.

    With NumPy's semantics of shapes, () is a shape as well, and only an extent of -1 is unknown.
    """
    if shape is None:
        return False
    if is_np_shape():
        return all(extent >= 0 for extent in shape)
    return len(shape) > 0 and all(extent > 0 for extent in shape)


def join_shapes(stored: Shape, given: Shape) -> Shape | None:
    """Fill the unknown extents of one shape from another; None if the two contradict each other."""
    if len(stored) != len(given):
        return None
    if any(a > 0 and b > 0 and a != b for a, b in zip(stored, given, strict=True)):
        return None
    return tuple(a if a > 0 else b for a, b in zip(stored, given, strict=True))


ContextList = Context | Sequence[Context]
_STYPES = ("default", "row_sparse", "csr")


def check_stype(argument: str, stype: str, name: str) -> str:
    """Return a storage type.

    Raises:
        ArgumentError: There is no such storage type.
    """
    if stype not in _STYPES:
        raise ArgumentError(f"Parameter {name}: expected {argument} in {_STYPES}, got {stype!r}")
    return stype


def in_file(array: NDArray) -> bool:
    """Whether an array is a map of a file, which ends a process that uses what was cut off."""
    return array.stype == "default" and is_mapped(array._data)


def as_contexts(ctx: ContextList | None, what: str) -> list[Context]:
    """Return devices as a list without repetitions; None means the current context.

    Raises:
        ArgumentTypeError: ``ctx`` holds something else than contexts.
        ArgumentError: It is empty.
    """
    given = [current_context()] if ctx is None else [ctx] if isinstance(ctx, Context) else ctx
    if not isinstance(given, list | tuple) or not all(isinstance(c, Context) for c in given):
        raise ArgumentTypeError(f"{what}: expected ctx as a Context or a list of them, got {ctx!r}")
    if not given:
        raise ArgumentError(f"{what}: expected at least one context in ctx, got none")
    return list(dict.fromkeys(given))


def loaded_dtype(current: Any, saved: Any, what: str, cast_dtype: bool, dtype_source: str) -> Any:
    """Return the dtype of a parameter after loading values of dtype ``saved``.

    Raises:
        ArgumentError: ``dtype_source`` is neither ``"current"`` nor ``"saved"``.
        ParameterError: The dtypes differ and ``cast_dtype`` is not set.
    """
    if dtype_source not in ("current", "saved"):
        raise ArgumentError(
            f"{what} expected dtype_source 'current' or 'saved', got {dtype_source!r}"
        )
    own, other = normalize_dtype(current), normalize_dtype(saved)
    if own == other:
        return current
    if not cast_dtype:
        raise ParameterError(
            f"{what} expected dtype {own}, got {other}; set cast_dtype=True to convert"
        )
    return current if dtype_source == "current" else saved


def check_loaded_contexts(
    what: str, present: Sequence[Context] | None, contexts: Sequence[Context] | None
) -> None:
    """Refuse to load onto other devices than those that a parameter is on.

    Raises:
        ParameterError: Both are given and differ.
    """
    if contexts and present and set(contexts) != set(present):
        raise ParameterError(
            f"{what} expected ctx {present}, where it was initialized, got {contexts}; "
            "call reset_ctx first, or leave ctx out"
        )


def array_on(arrays: Mapping[Context, NDArray], ctx: Context | None, what: str) -> NDArray:
    """Return the array of a device, of the current one for None; pinned memory is the CPU's.

    Raises:
        ParameterError: There is none.
    """
    if ctx is None:
        ctx = current_context()
    found = arrays.get(ctx)
    if found is None and ctx.is_host_buffer:
        found = arrays.get(cpu(ctx.device_id))
    if found is None:
        raise ParameterError(
            f"{what}: expected a context of {list(arrays)}, where it was initialized, got {ctx}"
        )
    return found


def mean_on_cpu(values: Sequence[NDArray]) -> NDArray:
    """Return a new array on the CPU, the mean of a parameter's arrays."""
    first, *others = [value.copyto(cpu()) for value in values]
    for other in others:
        first += other
    mean: NDArray = first / (1 + len(others)) if others else first
    return mean


# An initializer, its name or JSON, or any function of a name and an array, as `mx.init.Mixed` is.
Init = Initializer | str | Callable[[str, NDArray], None]


class Deferred(NamedTuple):
    """An initialization that waits for the shape.

    Attributes:
        init: What fills the array.
        contexts: The devices.
        default_init: What the caller asked for; it decides how names in ``init`` are read.
        data: Values that were set in the meantime, in place of what ``init`` gives.
    """

    init: Init
    contexts: list[Context]
    default_init: Init
    data: NDArray | None

    def values(self, name: str, shape: Shape, dtype: Any) -> NDArray:
        """Return what a parameter of this name starts from."""
        if self.data is not None:
            return self.data
        # Initializers fill axes, so that a scalar is filled as an axis of one element.
        filled: NDArray = gluon_array(zeros(shape or (1,), cpu(), dtype))
        if isinstance(self.init, str | Initializer):
            outer = self.default_init
            caller = create(outer if isinstance(outer, str | Initializer) else self.init)
            caller(InitDesc(name, {"__init__": self.init}), filled)
        else:
            self.init(InitDesc(name), filled)
        return filled if shape else filled.reshape(())
