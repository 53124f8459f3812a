"""Operators as methods of arrays, graph values and Symbols: ``x.sum(axis=1)``."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gluonish.core.errors import ArgumentTypeError
from gluonish.core.lazy import attach_methods
from gluonish.ops.elementwise.arithmetic import Arithmetic
from gluonish.ops.frontend import bind_arguments, docstring_of, require_inputs, signature_of
from gluonish.ops.registry import Operator, all_names, apply, find_operator

# Methods named after their operators.
_NAMES = """
    abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort
    broadcast_axes cbrt ceil clip cos cosh degrees depth_to_space diag exp expm1
    fix flip floor log log10 log1p log2 log_sigmoid log_softmax max mean min mish nanprod
    nansum norm one_hot
    ones_like pad pick prod radians rcbrt reciprocal relu repeat reshape_like rint round rsqrt
    shape_array sigmoid sign sin sinh size_array slice slice_axis slice_like softmax softmin
    sort space_to_depth split sqrt square sum swapaxes take tan tanh tile topk transpose trunc
    zeros_like
"""

if TYPE_CHECKING:
    from gluonish.ops.operator_methods import OperatorMethods  # a stub: `python -m tests.stubs`
else:
    OperatorMethods = Arithmetic


class Fluent(OperatorMethods):
    """Mixin of operators as methods; see the operator of the same name for arguments."""

    __slots__ = ()

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """Return the values in another dtype.

        Args:
            dtype: Name, type or NumPy dtype.
            copy: False returns the array itself where the dtype is already right.
        """
        return apply(_CAST, (self,), _CAST.schema.parse("astype", {"dtype": dtype}))

    def broadcast_to(self, shape: tuple[int, ...]) -> Any:
        """Stretch the axes of size 1 to ``shape``; 0 keeps an axis."""
        return apply(
            _BROADCAST_TO, (self,), _BROADCAST_TO.schema.parse("broadcast_to", {"shape": shape})
        )

    def broadcast_like(
        self, other: Any = None, lhs_axes: Any = None, rhs_axes: Any = None, *, rhs: Any = None
    ) -> Any:
        """Stretch the axes of size 1 to the extents of ``other``.

        Args:
            other: The value whose extents are used.
            lhs_axes: Axes to stretch; None for all.
            rhs_axes: The matching axes of ``other``; None for all.
            rhs: Alias of ``other``, for Symbols.

        Raises:
            ArgumentTypeError: Neither or both of ``other`` and ``rhs`` are passed.
        """
        if (other is None) == (rhs is None):
            raise ArgumentTypeError(
                f"broadcast_like: expected either other or rhs, got {other!r} and {rhs!r}"
            )
        axes = {"lhs_axes": lhs_axes, "rhs_axes": rhs_axes}
        parsed = _BROADCAST_LIKE.schema.parse("broadcast_like", axes)
        return apply(_BROADCAST_LIKE, (self, rhs if other is None else other), parsed)

    def expand_dims(self, axis: int, inplace: bool = False) -> Any:
        """Return the values with an axis of size 1 at ``axis``, as a view if ``inplace``."""
        return apply(_EXPAND, (self,), _EXPAND.schema.parse("expand_dims", {"axis": axis}))

    def flatten(self, inplace: bool = False) -> Any:
        """Return the values with all axes after the first flattened, as a view if ``inplace``."""
        return apply(_FLATTEN, (self,), {})

    def squeeze(self, axis: int | tuple[int, ...] | None = None, inplace: bool = False) -> Any:
        """Return the values without axes of size 1 (``axis`` or all), as a view if ``inplace``."""
        return apply(_SQUEEZE, (self,), _SQUEEZE.schema.parse("squeeze", {"axis": axis}))

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """Return the values in another shape.

        Args:
            *shape: Extents, or one tuple of them. 0 copies the extent at its index, -1 is inferred
                from the size, -2 copies all remaining extents, -3 merges two, -4 splits one into
                the next two.
            **kwargs: ``shape`` by name; ``reverse``: match special extents from the right.
        """
        attrs = _RESHAPE.schema.parse("reshape", reshape_arguments(shape, kwargs))
        return apply(_RESHAPE, (self,), attrs)


def reshape_arguments(shape: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a call such as ``reshape(2, 3)``, or with a tuple or keywords."""
    if len(shape) == 1 and isinstance(shape[0], tuple | list):
        shape = tuple(shape[0])
    return {"shape": shape, **kwargs} if shape else dict(kwargs)


# Keywords that NumPy's functions (numpy.mean(array), ...) pass to methods, even when unset.
_OF_NUMPY = frozenset({"dtype", "kind", "order", "stable"})


def without_unset(op: Operator, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Drop NumPy keywords that are None and that the operator does not accept."""
    return {
        key: value
        for key, value in kwargs.items()
        if value is not None or key not in _OF_NUMPY or op.schema.accepts(key)
    }


def method_names() -> list[str]:
    """Return the names of methods named after their operators."""
    return [name for name in _NAMES.split() if name in all_names()]


# Behind an operator's own arguments, MXNet's methods take ``out`` and ``name`` by position.
_ARGS = inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)


def _method(name: str) -> Callable[..., Any]:
    op = find_operator(name)
    count = len(op.inputs) + len(op.schema.attributes) - 1

    def method(self: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if count < len(args) < count + 3 and not isinstance(args[count], int):
            args, out = args[:count], args[count]
        if kwargs and not _OF_NUMPY.isdisjoint(kwargs):
            kwargs = without_unset(op, kwargs)
        inputs, attrs = bind_arguments(op, (self, *args), kwargs)
        require_inputs(op, inputs, attrs)
        if out is None:
            return apply(op, inputs, attrs)
        return self.__apply__(op, inputs, attrs, out)  # arrays only

    method.__name__ = name
    method.__qualname__ = f"Fluent.{name}"
    method.__doc__ = docstring_of(op)
    method.__signature__ = signature_of(op, (_ARGS,))  # type: ignore[attr-defined]
    return method


_CAST = find_operator("Cast")
_BROADCAST_TO = find_operator("broadcast_to")
_BROADCAST_LIKE = find_operator("broadcast_like")
_EXPAND = find_operator("expand_dims")
_FLATTEN = find_operator("Flatten")
_RESHAPE = find_operator("Reshape")
_SQUEEZE = find_operator("squeeze")
attach_methods(Fluent, method_names(), _method)
