"""Attach operators, indexing and copying to sparse arrays as methods.

Dense arrays get ``tostype``, ``attach_grad`` and ``copyto`` with storage types, and operators whose
result may be sparse.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.core.context import Context
from gluonish.core.dtype import normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, KeyLookupError
from gluonish.ndarray import copying, recording
from gluonish.ndarray.ndarray import NDArray, empty_like_spec, from_host
from gluonish.ndarray.recording import RECORDING, Leaf, marked
from gluonish.ndarray.sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from gluonish.ndarray.sparse.dispatch import apply_sparse
from gluonish.ndarray.sparse.functions import add, divide, multiply, subtract
from gluonish.ndarray.sparse.storage import STYPES, convert, empty_sparse
from gluonish.ops.elementwise.identity import COPY
from gluonish.ops.indexing.slice import SLICE
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.registry import Attrs, apply
from gluonish.ops.sparse.cast_storage import CAST_STORAGE, RETAIN, cast_storage


def _astype(self: BaseSparseNDArray, dtype: Any, copy: bool = True) -> BaseSparseNDArray:
    """Convert to another dtype; ``copy=False`` returns the array itself if it has that dtype."""
    if not copy and normalize_dtype(dtype) == self._spec.dtype:
        return self
    return self._with_values(self._storage.values.astype(dtype))


def _copyto(self: NDArray, other: NDArray | Context) -> NDArray:
    """Copy into another array, dense or of the same storage type, or to a new one on a device.

    Raises:
        ArgumentError: The target's shape differs.
        ArgumentTypeError: ``other`` is not an array or a context, or has another sparse type.
    """
    if isinstance(other, Context):
        copied: NDArray = _copied_to(self, other)
        return copied
    if not isinstance(other, NDArray):
        raise ArgumentTypeError(
            f"copyto: expected an NDArray or a Context, got {type(other).__name__}"
        )
    if other.shape != self.shape:
        raise ArgumentError(f"copyto: expected a target of shape {self.shape}, got {other.shape}")
    if other.stype not in ("default", self.stype) and self.stype != "default":
        raise ArgumentTypeError(
            f"copyto: expected a target of stype default or {self.stype}, got {other.stype}"
        )
    other._check_writable("copyto")
    if not isinstance(other, BaseSparseNDArray):
        copying.copyto(convert(self, "default"), other)
        return other
    if isinstance(self, BaseSparseNDArray) and self._storage is other._storage:
        return other
    made = convert(self.detach(), other.stype)
    assert isinstance(made, BaseSparseNDArray)
    other._replace_storage(_copied_to(_astype(made, other.dtype, copy=False), other.context))
    return other


def _copied_to(x: Any, context: Context) -> Any:
    """Return a copy of a sparse array on a device."""
    aux = [indices.copyto(context) for indices in x._storage.aux]
    return type(x)(x._storage.values.copyto(context), aux, x.shape)


def _as_in_context(self: BaseSparseNDArray, context: Context) -> BaseSparseNDArray:
    """Return the array itself if it is on ``context``, else a copy on it."""
    if self.context == context:
        return self
    copied: BaseSparseNDArray = _copied_to(self, context)
    return copied


def _copy(self: BaseSparseNDArray) -> BaseSparseNDArray:
    """Return a differentiable copy on the same device."""
    copied: BaseSparseNDArray = apply(COPY, (self,), {})
    return copied


def _duplicate(self: BaseSparseNDArray, memo: object = None) -> BaseSparseNDArray:
    """Return a copy outside the recorded graph, for ``copy.copy`` and ``copy.deepcopy``."""
    copied: BaseSparseNDArray = _copied_to(self, self.context)
    return copied


def _tostype(self: NDArray, stype: str) -> NDArray:
    """Return a copy of the array in a storage type.

    Args:
        self: The array.
        stype: ``"default"``, ``"row_sparse"``, or ``"csr"`` for a matrix.

    Raises:
        ArgumentError: The storage type is unknown, both types are sparse and differ, or a csr array
            is not a matrix.
    """
    if stype not in STYPES:
        raise ArgumentError(f"tostype: expected stype in {STYPES}, got {stype!r}")
    if "default" not in (stype, self.stype) and stype != self.stype:
        raise ArgumentError(
            f"tostype: expected 'default' or {self.stype!r} for a {self.stype} array, got "
            f"{stype!r}; call tostype('default') first"
        )
    if stype == self.stype:
        copied: NDArray = self.copy()
        return copied
    cast: NDArray = cast_storage(self, stype)
    return cast


def _attach_grad(self: NDArray, grad_req: str = "write", stype: str | None = None) -> None:
    """Allocate a gradient buffer, which `backward` writes.

    An array that was recorded is cut off from what it was computed from; an ``np`` array stays
    connected, so that gradients go on to there.

    Args:
        self: The array.
        grad_req: ``"write"`` (each backward pass replaces the gradient), ``"add"`` or ``"null"``.
        stype: Storage type of the gradient; by default that of the array.

    Raises:
        KeyLookupError: ``grad_req`` is unknown.
        ArgumentError: ``stype`` is unknown.
    """
    if grad_req not in ("write", "add", "null"):
        raise KeyLookupError(
            f"attach_grad: expected grad_req 'write', 'add' or 'null', got {grad_req!r}"
        )
    kind = self.stype if stype is None else stype
    if kind not in STYPES:
        raise ArgumentError(f"attach_grad: expected stype None or in {STYPES}, got {stype!r}")
    grad: NDArray
    if kind != "default":
        grad = empty_sparse(self.shape, kind, self.context, self.dtype)
    elif isinstance(self, BaseSparseNDArray):
        grad = from_host(np.zeros(self.shape), self.context, self.dtype)
    else:
        grad = empty_like_spec(self._spec, self._device, type(self))
        grad._write(lambda out: out.fill(0))
    self._edge = marked(self, Leaf(grad, grad_req))


def _index_problem(self: NDArray, key: Any, what: str) -> ArgumentError:
    return ArgumentError(f"{type(self).__name__}: expected {what}, got {key!r}")


def _csr_item(self: CSRNDArray, key: Any) -> CSRNDArray:
    """Return one row, as a matrix, or consecutive rows.

    Raises:
        ArgumentError: The key is not an integer or a slice with step 1.
    """
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        row = int(key)
        count = self.shape[0]
        begin = row + count if row < 0 else row
        attrs = {"begin": (begin,), "end": (begin + 1,), "step": ()}
    elif isinstance(key, slice) and key.step in (None, 1):
        if key == slice(None):
            return self
        attrs = {"begin": (key.start,), "end": (key.stop,), "step": ()}
    else:
        raise _index_problem(self, key, "a row index or a slice of consecutive rows")
    rows: CSRNDArray = apply(SLICE, (self,), attrs)
    return rows


def _row_sparse_item(self: RowSparseNDArray, key: Any) -> RowSparseNDArray:
    """Return the array itself for ``[:]``.

    Raises:
        ArgumentError: The key is not ``[:]``.
    """
    if isinstance(key, slice) and key == slice(None):
        return self
    raise _index_problem(self, key, "[:]; use retain, or tostype('default') to index")


def _set_item(self: BaseSparseNDArray, key: Any, value: Any) -> None:
    """Replace all values by those of an array of any storage type or, if row-sparse, by a number.

    Raises:
        ArgumentError: The key is not ``[:]``, or a number is assigned to a matrix.
    """
    if not (isinstance(key, slice) and key == slice(None)):
        raise _index_problem(self, key, "[:] for assignment")
    self._check_writable("assignment")
    if isinstance(value, int | float | np.number):
        if isinstance(self, CSRNDArray):
            raise _index_problem(self, value, "an array to assign")
        value = from_host(np.full(self.shape, value), self.context, self.dtype)
    elif not isinstance(value, NDArray):
        value = from_host(np.broadcast_to(np.asarray(value), self.shape), self.context, self.dtype)
    if value.stype not in ("default", self.stype):
        value = convert(value, "default")
    _copyto(value.detach(), self)


def _retain(self: RowSparseNDArray, indices: NDArray) -> RowSparseNDArray:
    """Return an array with only some of the rows.

    Args:
        self: The array.
        indices: Row indices, (K,).
    """
    retained: RowSparseNDArray = apply(RETAIN, (self, indices), {})
    return retained


def _operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: BaseSparseNDArray, other: Any) -> Any:
        return function(self, other)

    method.__doc__ = f"Return `{function.__name__}` of both arrays."
    return method


def _inplace(function: Callable[[Any, Any], Any], symbol: str) -> Callable[[Any, Any], Any]:
    def method(self: BaseSparseNDArray, other: Any) -> BaseSparseNDArray:
        self._check_writable(symbol)
        _copyto(function(self, other).detach(), self)
        return self

    method.__doc__ = f"Return the array itself, in its storage type, after ``x {symbol} other``."
    return method


def _override_cast(inputs: Sequence[NDArray], attrs: Attrs, out: Any) -> Any:
    if attrs["stype"] == "default":
        return NotImplemented
    return apply_sparse(CAST_STORAGE, inputs, attrs, out)


def _override_embedding(inputs: Sequence[NDArray], attrs: Attrs, out: Any) -> Any:
    """Compute Embedding's gradient as row-sparse, unless its computation is recorded, too."""
    recorded = recording.mode.get() & RECORDING
    if not attrs["sparse_grad"] or (recorded and any(x._edge is not None for x in inputs)):
        return NotImplemented
    return apply_sparse(EMBEDDING_BACKWARD, inputs, attrs, out)


def _dense_copyto(self: NDArray, other: NDArray | Context) -> NDArray:
    """Copy into another array, or to a new array on a device.

    Raises:
        ArgumentError: The target's shape differs.
        ArgumentTypeError: ``other`` is neither an array nor a context.
    """
    if isinstance(other, BaseSparseNDArray):
        return _copyto(self, other)
    return copying.copyto(self, other)


def attach() -> None:
    """Attach the methods to the classes."""
    shared: dict[str, Any] = {
        "__apply__": staticmethod(apply_sparse),
        "__copy__": _duplicate,
        "__deepcopy__": _duplicate,
        "__setitem__": _set_item,
        "as_in_context": _as_in_context,
        "as_in_ctx": _as_in_context,
        "astype": _astype,
        "copy": _copy,
        "copyto": _copyto,
        "tostype": _tostype,
        "__add__": _operator(add),
        "__sub__": _operator(subtract),
        "__mul__": _operator(multiply),
        "__truediv__": _operator(divide),
        "__iadd__": _inplace(add, "+="),
        "__isub__": _inplace(subtract, "-="),
        "__imul__": _inplace(multiply, "*="),
        "__itruediv__": _inplace(divide, "/="),
    }
    of_class: dict[type[NDArray], dict[str, Any]] = {
        BaseSparseNDArray: shared,
        CSRNDArray: {"__getitem__": _csr_item},
        RowSparseNDArray: {"__getitem__": _row_sparse_item, "retain": _retain},
        NDArray: {"attach_grad": _attach_grad, "copyto": _dense_copyto, "tostype": _tostype},
    }
    for kind, methods in of_class.items():
        for name, method in methods.items():
            setattr(kind, name, method)
    CAST_STORAGE.override(_override_cast)
    EMBEDDING_BACKWARD.override(_override_embedding)


attach()
