"""NumpySymbol: a Symbol with NumPy semantics, made by functions of ``mx.np``."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.ndarray.indexing import is_basic
from gluonish.numpy.calls import call, name_function, source_maker
from gluonish.numpy.methods import NumpyMethods
from gluonish.ops.registry import Attrs, Operator
from gluonish.symbol.deferred import deferred_call
from gluonish.symbol.namespace import make_operator_function
from gluonish.symbol.refusals import MissingAttribute, NoAttribute
from gluonish.symbol.symbol import Symbol, attribute_strings, new_node

__all__ = ["NumpySymbol", "make_np_function", "symbolic"]


class UnknownShapeError(MissingAttribute):
    """The shape of a Symbol was requested."""


class NumpySymbol(NumpyMethods, Symbol):  # type: ignore[misc]  # with NumPy's arguments
    """One or more outputs of a graph, with NumPy's semantics and unknown shapes.

    Created by `Symbol.as_np_ndarray` and the functions of ``mx.sym.np``. MXNet calls it
    ``_Symbol``.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    shape = NoAttribute(UnknownShapeError)
    ndim = NoAttribute(UnknownShapeError)
    size = NoAttribute(UnknownShapeError)

    def __repr__(self) -> str:
        return super().__repr__().replace("<Symbol", "<_Symbol", 1)

    def __getitem__(self, index: Any) -> Any:
        """Pick one of several outputs, or index the only one as an array."""
        if len(self) > 1 or isinstance(index, str):
            return super().__getitem__(index)
        return _index(self, index)

    def as_np_ndarray(self) -> "NumpySymbol":
        """Return the Symbol itself."""
        return self

    def as_nd_ndarray(self) -> Symbol:
        """Return the same outputs as a classic Symbol, of ``mx.sym``."""
        return Symbol(self._values)


def _as_np_ndarray(self: Symbol) -> NumpySymbol:
    """Return the same outputs with NumPy's semantics."""
    return NumpySymbol(self._values)


def _as_nd_ndarray(self: Symbol) -> Symbol:
    """Return the Symbol itself."""
    return self


Symbol.as_np_ndarray = _as_np_ndarray  # type: ignore[assignment, method-assign]  # avoids an import cycle
Symbol.as_nd_ndarray = _as_nd_ndarray  # type: ignore[assignment, method-assign]  # for the same calls on both


def _index(x: NumpySymbol, key: Any) -> Any:
    """Return ``x[key]`` for integers, slices and None; the rank is unknown."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if keys and keys[-1] is Ellipsis:
        keys.pop()
    if not is_basic(tuple(keys)) or Ellipsis in keys:
        if len(keys) == 1 and isinstance(keys[0], Symbol):
            return call("_npi_take", (x, keys[0]), {"axis": 0, "mode": "wrap"}, what="index")
        raise NotSupportedError(
            f"index: expected integers, slices and None for a Symbol, got {key!r}; use take, or "
            "do not hybridize this block"
        )
    taken = [k for k in keys if k is not None]
    result: Any = x
    if any(k != slice(None) for k in taken):
        bounds = [k if isinstance(k, slice) else slice(k, k + 1 or None, 1) for k in taken]
        given = {
            "begin": tuple(k.start for k in bounds),
            "end": tuple(k.stop for k in bounds),
            "step": tuple(k.step for k in bounds),
        }
        result = call("_npi_slice", (x,), given, what="index")
    gone = tuple(i for i, k in enumerate(taken) if not isinstance(k, slice))
    if gone:
        result = result.squeeze(gone)
    kept = [k for k in keys if k is None or isinstance(k, slice)]
    for axis, k in enumerate(kept):
        if k is None:
            result = call("_npi_expand_dims", (result,), {"axis": axis}, what="index")
    return result


def _make_source(op: Operator, attrs: Attrs) -> NumpySymbol:
    made: NumpySymbol = _as_np_ndarray(
        new_node(op, (), attrs, attribute_strings(op, attrs), None, None)
    )
    return made


def symbolic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of ``mx.np`` that makes Symbols even if no argument is a Symbol.

    A function that reads the shape of a Symbol runs once the shape is known; see
    `gluonish.symbol.deferred`.

    Args:
        function: The function of ``mx.np``.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        token = source_maker.set(_make_source)
        try:
            return function(*args, **kwargs)
        except UnknownShapeError:
            return deferred_call(function, args, kwargs)
        finally:
            source_maker.reset(token)

    return run


def make_np_function(op: Operator, name: str) -> Callable[..., Any]:
    """Return the symbolic function of an operator, which returns Symbols with NumPy's semantics.

    Args:
        op: The operator.
        name: Name of the function.
    """
    classic = make_operator_function(op, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        return _as_np_ndarray(classic(*args, **kwargs))

    return name_function(function, name, classic.__doc__ or "", inspect.signature(classic))
