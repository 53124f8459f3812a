"""Checks of a Parameter's arguments, and deferred initialization.

An unknown extent of a shape is 0 or -1.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.core.context import Context, cpu, current_context, parse_context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, ParameterError
from gluonish.core.file_map import is_mapped
from gluonish.core.numpy_mode import is_np_shape
from gluonish.core.spec import Shape
from gluonish.initializer import InitDesc, Initializer, RNNFused, create
from gluonish.ndarray import NDArray
from gluonish.ndarray.lazy_zeros import lazy_zeros
from gluonish.numpy.array import gluon_array


def as_shape(what: str, shape: Any) -> Shape:
    """Return a shape as a tuple of ints; a number is the extent of a single axis.

    Raises:
        ArgumentTypeError: ``shape`` is neither a number nor a sequence of numbers.
    """
    several = isinstance(shape, Sequence) and not isinstance(shape, str)
    extents: tuple[Any, ...] = tuple(shape) if several else (shape,)
    try:
        return tuple(operator.index(extent) for extent in extents)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{what}: expected shape as a sequence of ints, got {shape!r}"
        ) from error


def check_fits(what: str, stored: Shape, new_shape: Shape) -> None:
    """Raise an error if a shape changes a parameter's rank or its known extents.

    Raises:
        ParameterError: The shapes do not match.
    """
    if len(new_shape) != len(stored) or any(
        old not in (new, 0, -1) for old, new in zip(stored, new_shape, strict=True)
    ):
        raise ParameterError(f"{what}: expected a shape that fits {stored}, got {new_shape}")


def shape_is_known(shape: Shape | None) -> bool:
    """Whether the shape has axes and every extent is above 0.

    With NumPy shape semantics () is a known shape, too, and only -1 is unknown.
    """
    if shape is None:
        return False
    if is_np_shape():
        return all(extent >= 0 for extent in shape)
    return len(shape) > 0 and all(extent > 0 for extent in shape)


def join_shapes(stored: Shape, other: Shape) -> Shape | None:
    """Fill the unknown extents of one shape from another; None if the two contradict each other."""
    if len(stored) != len(other):
        return None
    if any(a > 0 and b > 0 and a != b for a, b in zip(stored, other, strict=True)):
        return None
    return tuple(a if a > 0 else b for a, b in zip(stored, other, strict=True))


ContextList = Context | Sequence[Context]


class Movable:
    """Base class of what `reset_ctx` moves to other devices."""

    def reset_ctx(self, ctx: ContextList) -> None:
        """Move to other devices; see the subclasses.

        Args:
            ctx: The device, or a list of devices.
        """
        raise NotImplementedError

    def reset_device(self, device: ContextList) -> None:
        """Move to other devices: `reset_ctx` under the name it has in MXNet 2.0.

        Args:
            device: The device, or a list of devices.

        Raises:
            ArgumentError: A parameter is not initialized.
        """
        self.reset_ctx(device)


_STYPES = ("default", "row_sparse", "csr")


def check_stype(argument: str, stype: str, name: str) -> str:
    """Return ``stype`` if it is a valid storage type.

    Raises:
        ArgumentError: There is no such storage type.
    """
    if stype not in _STYPES:
        raise ArgumentError(f"Parameter {name}: expected {argument} in {_STYPES}, got {stype!r}")
    return stype


def in_file(array: NDArray) -> bool:
    """Whether an array is memory-mapped: if its file is truncated, reading it kills the process."""
    return array.stype == "default" and is_mapped(array._data)


def as_contexts(ctx: ContextList | None, what: str) -> list[Context]:
    """Return unique devices as a list; None means the current context.

    Raises:
        ArgumentTypeError: ``ctx`` is not a Context or a list of Contexts.
        ArgumentError: ``ctx`` is empty.
    """
    contexts: Any = [ctx or current_context()] if isinstance(ctx, Context | str | None) else ctx
    if isinstance(contexts, list | tuple):
        contexts = [parse_context(one) if isinstance(one, str) else one for one in contexts]
    if not isinstance(contexts, list | tuple) or not all(isinstance(c, Context) for c in contexts):
        raise ArgumentTypeError(
            f"{what}: expected ctx as a Context, such as mx.cpu() or mx.gpu(0), or a list of them, "
            f"got {ctx!r}"
        )
    if not contexts:
        raise ArgumentError(f"{what}: expected at least one context in ctx, got none")
    return list(dict.fromkeys(contexts))


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
    expected, actual = normalize_dtype(current), normalize_dtype(saved)
    if expected == actual:
        return current
    if not cast_dtype:
        raise ParameterError(
            f"{what} expected dtype {expected}, got {actual}; set cast_dtype=True to convert"
        )
    return current if dtype_source == "current" else saved


def check_loaded_contexts(
    what: str, present: Sequence[Context] | None, contexts: Sequence[Context] | None
) -> None:
    """Raise an error if values are loaded onto devices other than the parameter's.

    Raises:
        ParameterError: The devices are known and differ.
    """
    if contexts and present and set(contexts) != set(present):
        raise ParameterError(
            f"{what} expected ctx {present}, the devices it was initialized on, got {contexts}; "
            "call reset_ctx first, or leave ctx out"
        )


def array_on(arrays: Mapping[Context, NDArray], ctx: Context | None, what: str) -> NDArray:
    """Return the array on a device (None: the current context); pinned memory counts as CPU.

    Raises:
        ParameterError: There is no array on the device.
    """
    if ctx is None:
        ctx = current_context()
    found = arrays.get(ctx)
    if found is None and ctx.is_host_buffer:
        found = arrays.get(cpu(ctx.device_id))
    if found is None:
        raise ParameterError(
            f"{what}: expected a context of {list(arrays)}, where it was initialized, got {ctx}; "
            "move the input with x.as_in_context(...), or initialize on both: initialize(ctx=[...])"
        )
    return found


def mean_on_cpu(values: Sequence[NDArray]) -> NDArray:
    """Return the mean of arrays as a new array on the CPU."""
    first, *others = [value.copyto(cpu()) for value in values]
    for other in others:
        first += other
    mean: NDArray = first / (1 + len(others)) if others else first
    return mean


# An initializer, its name or JSON, or any function of a name and an array, such as `mx.init.Mixed`.
Init = Initializer | str | Callable[[str, NDArray], None]


class Deferred(NamedTuple):
    """A parameter's initialization, postponed until the shape is known.

    Attributes:
        default_init: The initializer passed to `initialize`; it resolves names in ``init``.
        data: Values set in the meantime; they replace those of ``init``.
    """

    init: Init
    contexts: list[Context]
    default_init: Init
    data: NDArray | None

    def values(self, name: str, shape: Shape, dtype: Any) -> NDArray:
        """Return the initial values of a parameter; a new array, unless values were set."""
        if self.data is not None:
            return self.data
        # Initializers need an axis, so a scalar is filled as an array of shape (1,).
        filled: NDArray = gluon_array(lazy_zeros(shape or (1,), cpu(), dtype, "default", join=True))
        if isinstance(self.init, str | Initializer):
            outer = self.default_init
            if isinstance(self.init, RNNFused) and isinstance(outer, str | Initializer):
                self.init.set_initializer(outer)
            caller = create(outer if isinstance(outer, str | Initializer) else self.init)
            caller(InitDesc(name, {"__init__": self.init}), filled)
        elif not callable(self.init):
            raise ArgumentTypeError(
                f"Parameter {name}: expected init to be an Initializer, its name or a function, "
                f"got {self.init!r:.80}; mx.init.Constant(value) fills with a value"
            )
        else:
            self.init(InitDesc(name), filled)
        return filled if shape else filled.reshape(())
