# mypy: disable-error-code="assignment, misc, override"
# pyright: reportAssignmentType=false, reportIncompatibleMethodOverride=false
# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from gluonish.ndarray.copying import as_in_context as _function_as_in_context
from gluonish.ndarray.copying import duplicate as _function_duplicate
from gluonish.ndarray.dlpack import to_dlpack_for_read as _function_to_dlpack_for_read
from gluonish.ndarray.dlpack import to_dlpack_for_write as _function_to_dlpack_for_write
from gluonish.ndarray.eager import invoke as _function_invoke
from gluonish.ndarray.functions import split_v2 as _function_split_v2
from gluonish.ndarray.methods import _at as _function_at
from gluonish.ndarray.methods import _full as _function_full
from gluonish.ndarray.methods import _slice as _function_slice
from gluonish.ndarray.methods import _sync_copyfrom as _function_sync_copyfrom
from gluonish.ndarray.methods import array_html as _function_array_html
from gluonish.ndarray.methods import array_repr as _function_array_repr
from gluonish.ndarray.methods import as_nd_ndarray as _function_as_nd_ndarray
from gluonish.ndarray.methods import astype as _function_astype
from gluonish.ndarray.methods import broadcast_like as _function_broadcast_like
from gluonish.ndarray.methods import copy as _function_copy
from gluonish.ndarray.methods import reshape as _function_reshape
from gluonish.ndarray.methods import round_ as _function_round
from gluonish.ndarray.methods import slice_assign as _function_slice_assign
from gluonish.ndarray.methods import slice_assign_scalar as _function_slice_assign_scalar
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.serialization import array_from_state as _function_array_from_state
from gluonish.ndarray.serialization import array_state as _function_array_state
from gluonish.ndarray.sparse.methods import _attach_grad as _function_attach_grad
from gluonish.ndarray.sparse.methods import _dense_copyto as _function_dense_copyto
from gluonish.ndarray.sparse.methods import _tostype as _function_tostype
from gluonish.numpy.array import ndarray
from gluonish.ops.fluent import Fluent as Fluent
from typing import Any
from typing import Self

class AttachedMethods(Fluent):
    def __and__(self, other: object) -> Self:
        """Refuse ``x & y``, as MXNet does: use x * y of comparisons, nd.logical_and(x, y), or
        arrays of mx.np."""
    __apply__ = staticmethod(_function_invoke)
    __copy__ = _function_duplicate
    __deepcopy__ = _function_duplicate
    __getstate__ = _function_array_state
    def __iadd__(self, other: Any) -> NDArray:
        """Return the array itself, after ``x += other``."""
    def __imod__(self, other: Any) -> NDArray:
        """Return the array itself, after ``x %= other``."""
    def __imul__(self, other: Any) -> NDArray:
        """Return the array itself, after ``x *= other``."""
    def __isub__(self, other: Any) -> NDArray:
        """Return the array itself, after ``x -= other``."""
    def __itruediv__(self, other: Any) -> NDArray:
        """Return the array itself, after ``x /= other``."""
    def __matmul__(self, other: object) -> Self:
        """Refuse ``x @ y``, as MXNet does: use nd.dot(x, y), nd.batch_dot(x, y), or arrays of
        mx.np."""
    def __or__(self, other: object) -> Self:
        """Refuse ``x | y``, as MXNet does: use nd.logical_or(x, y), or arrays of mx.np."""
    __repr__ = _function_array_repr
    __setstate__ = _function_array_from_state
    def __xor__(self, other: object) -> Self:
        """Refuse ``x ^ y``, as MXNet does: use nd.logical_xor(x, y), or arrays of mx.np."""
    _at = _function_at
    _full = _function_full
    _repr_html_ = _function_array_html
    _slice = _function_slice
    _sync_copyfrom = _function_sync_copyfrom
    as_in_context = _function_as_in_context
    as_in_ctx = _function_as_in_context
    as_nd_ndarray = _function_as_nd_ndarray
    def as_np_ndarray(self) -> ndarray:
        """Return an ``np`` array on an array's memory, with the same gradient."""
    astype = _function_astype
    attach_grad = _function_attach_grad
    def backward(
        self,
        out_grad: Any = None,
        retain_graph: bool = False,
        train_mode: bool = True,
    ) -> None:
        """Compute the gradients of this array and store them in ``grad`` of all marked arrays."""
    broadcast_like = _function_broadcast_like
    copy = _function_copy
    copyto = _function_dense_copyto
    reshape = _function_reshape
    round = _function_round
    slice_assign = _function_slice_assign
    slice_assign_scalar = _function_slice_assign_scalar
    split_v2 = _function_split_v2
    to_device = _function_as_in_context
    to_dlpack_for_read = _function_to_dlpack_for_read
    to_dlpack_for_write = _function_to_dlpack_for_write
    tostype = _function_tostype
