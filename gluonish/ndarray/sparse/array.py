"""CSRNDArray and RowSparseNDArray: arrays that store only some of their elements; the others are 0.

A sparse array is a handle of a storage of dense NDArrays: values, and int64 index arrays. Handles
of one array share the storage. A write replaces the arrays in it and never modifies them, so
several sparse arrays may share them.

The slots of an NDArray's memory (``_data``, ``_device``, ``_var``) stay unset: a call of an
operator reads them without a check, which costs dense arrays nothing, and catches AttributeError
to handle sparse arrays (see `gluonish.ndarray.sparse.dispatch`).
"""

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import (
    ArgumentError,
    NotSupportedError,
    NotSupportedForSparseNDArray,
)
from gluonish.core.loading import IMPORT_FAILURES, import_text, load
from gluonish.core.spec import Shape, Spec
from gluonish.ndarray.array_record import SparseRecord, sparse_problem
from gluonish.ndarray.mxnet_numbers import STORAGE_TYPE_NUMBERS
from gluonish.ndarray.ndarray import GradientEdge, NDArray

__all__ = ["BaseSparseNDArray", "CSRNDArray", "NotSupportedForSparseNDArray", "RowSparseNDArray"]


class _Storage:
    """The storage of a sparse array, shared by its handles.

    Attributes:
        values: The stored elements or rows.
        aux: The index arrays; see the classes.
    """

    __slots__ = ("aux", "values")

    def __init__(self, values: NDArray, aux: tuple[NDArray, ...]) -> None:
        self.values = values
        self.aux = aux


class BaseSparseNDArray(NDArray):
    """Base class of sparse arrays.

    Create sparse arrays with `gluonish.ndarray.sparse.csr_matrix`, `row_sparse_array` or
    ``tostype``, not by calling the class.

    Args:
        values: The stored elements or rows.
        aux: The index arrays.
        shape: Shape of the array.
        link: Producer on the tape.
    """

    __slots__ = ("_storage",)

    def __init__(
        self,
        values: NDArray | None,
        aux: Sequence[NDArray] = (),
        shape: Shape = (),
        link: GradientEdge | None = None,
    ) -> None:
        if values is None:  # unpickling an MXNet pickle: `__setstate__` follows
            return
        self._storage = _Storage(values, tuple(aux))
        self._spec = Spec(shape, values._spec.dtype)
        self._edge = link

    def _handle(self, link: GradientEdge | None) -> Self:
        """Return another handle of this array."""
        made = object.__new__(type(self))
        made._storage, made._spec, made._edge = self._storage, self._spec, link
        return made

    def _with_values(self, values: NDArray) -> Self:
        """Return a new array with other values at the same indices."""
        return type(self)(values, self._storage.aux, self.shape)

    def _replace_storage(self, other: "BaseSparseNDArray") -> None:
        """Replace the contents with those of an array of the same storage type and shape."""
        parts = other._storage
        self._storage.values, self._storage.aux = parts.values, parts.aux
        self._spec = Spec(self.shape, parts.values._spec.dtype)

    def connected(self, link: GradientEdge | None) -> "BaseSparseNDArray":
        """Return an array on the same storage with this producer on the tape."""
        return self if self._edge == link else self._handle(link)

    def detach(self) -> "BaseSparseNDArray":
        """Return the array detached from the recorded graph."""
        return self._handle(None)

    @property
    def context(self) -> Context:
        """The device of the array."""
        return self._storage.values.context

    ctx = context

    @property
    def size(self) -> int:
        """Number of elements, including zeros."""
        return self._spec.size

    @property
    def handle(self) -> Any:
        """The raw arrays of values and indices, for debugging; operations may be pending."""
        return tuple(x.handle for x in (self._storage.values, *self._storage.aux))

    @property
    def data(self) -> NDArray:
        """A copy of the stored values."""
        copied: NDArray = self._storage.values.copy()
        return copied

    @data.setter
    def data(self, value: Any) -> None:
        raise self._unsupported("setting data")

    @property
    def indices(self) -> NDArray:
        """A copy of the indices of the stored values: column or row indices."""
        copied: NDArray = self._storage.aux[-1].copy()
        return copied

    @indices.setter
    def indices(self, value: Any) -> None:
        raise self._unsupported("setting indices")

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"\n<{type(self).__name__} {shape} @{self.context}>"

    def wait_to_read(self) -> None:
        """Block until values and indices are computed."""
        for array in (self._storage.values, *self._storage.aux):
            array.wait_to_read()

    def wait_to_write(self) -> None:
        """Block until no pending operation reads or writes values or indices."""
        for array in (self._storage.values, *self._storage.aux):
            array.wait_to_write()

    def _record(self) -> SparseRecord:
        """Return the array as a record for files."""
        aux = tuple(indices.asnumpy() for indices in self._storage.aux)
        return SparseRecord(self.stype, self.shape, self._storage.values.asnumpy(), aux)

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Return a copy as a dense NumPy array, after waiting until the values are computed."""
        raise NotImplementedError

    def check_format(self, full_check: bool = True) -> None:
        """Check that values and indices form a valid sparse array.

        Args:
            full_check: Whether to check the values of indices, too, not only shapes.

        Raises:
            ArgumentError: The array is not valid.
        """
        record = self._record()
        problem = sparse_problem(self.stype, self.shape, record.values, record.aux, full_check)
        if full_check and not problem:
            problem = self._order_problem(record.aux)
        if problem:
            raise ArgumentError(
                f"check_format: expected a valid {self.stype} array of shape {self.shape}, got "
                f"{problem}"
            )

    def _order_problem(self, aux: Sequence[Any]) -> str:
        """Describe how the indices are out of order, as text; empty if they are in order."""
        raise NotImplementedError

    @property
    def _num_aux(self) -> int:
        """Number of index arrays: 1 for row_sparse, 2 for csr."""
        return STORAGE_TYPE_NUMBERS[self.stype]

    @property
    def _aux_types(self) -> list[type]:
        """Element types of the index arrays."""
        return [np.int64] * self._num_aux

    def _aux_type(self, i: int) -> type:
        """Element type of one index array."""
        return self._aux_types[i]

    def _aux_data(self, i: int) -> NDArray:
        """One index array: indices for row_sparse; indptr, then indices for csr."""
        found: NDArray = getattr(self, ("indptr", "indices")[-self._num_aux :][i])
        return found

    def _unsupported(self, what: str) -> NotSupportedForSparseNDArray:
        return NotSupportedForSparseNDArray(
            f"{type(self).__name__}: expected a dense array for {what}, got a {self.stype} one; "
            "call tostype('default') first"
        )

    def _write(self, fill: Any, reads: Sequence[NDArray] = (), name: str = "_write") -> None:
        raise self._unsupported(name)

    def _make_contiguous(self) -> NoReturn:
        raise self._unsupported("access to its memory")

    def reshape(self, *shape: Any, **kwargs: Any) -> NoReturn:
        """Not supported: only dense arrays can be reshaped.

        Raises:
            NotSupportedForSparseNDArray: Always.
        """
        raise self._unsupported("reshape")

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise self._unsupported("dlpack")

    def __dlpack_device__(self) -> NoReturn:
        raise self._unsupported("dlpack")


class RowSparseNDArray(BaseSparseNDArray):
    """A row-sparse array: it stores some of its rows, all others are 0.

    Attributes:
        data: The stored rows, (K, *shape[1:]).
        indices: The row indices, (K,), ascending and distinct, int64.
    """

    __slots__ = ()
    stype: ClassVar[str] = "row_sparse"

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Wait for the values, and return them as a dense NumPy array."""
        dense = np.zeros(self.shape, self._spec.dtype)
        dense[self._storage.aux[0].asnumpy()] = self._storage.values.asnumpy()
        return dense

    def _order_problem(self, aux: Sequence[Any]) -> str:
        rows = aux[0]
        return "" if (rows[1:] > rows[:-1]).all() else "row numbers that do not ascend"


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed sparse row format: elements that are not stored are 0.

    Attributes:
        data: The stored elements, row by row, (NNZ,).
        indices: The column indices, (NNZ,), int64, ascending within a row.
        indptr: The row pointers: the start of each row in ``data``, and the end, (rows + 1,),
            int64.
    """

    __slots__ = ()
    stype: ClassVar[str] = "csr"

    @property
    def indptr(self) -> NDArray:
        """A copy of the row pointers: the start of each row in ``data``."""
        copied: NDArray = self._storage.aux[0].copy()
        return copied

    @indptr.setter
    def indptr(self, value: Any) -> None:
        raise self._unsupported("setting indptr")

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Wait for the values, and return them as a dense NumPy array."""
        pointers, columns = (array.asnumpy() for array in self._storage.aux)
        dense = np.zeros(self.shape, self._spec.dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(pointers))
        np.add.at(dense, (rows, columns), self._storage.values.asnumpy())
        return dense

    def asscipy(self) -> Any:
        """Return a ``scipy.sparse.csr_matrix`` with the same elements.

        Raises:
            NotSupportedError: SciPy is not installed.
        """
        try:
            csr_matrix = load("scipy.sparse").csr_matrix
        except IMPORT_FAILURES as error:
            raise NotSupportedError(
                f"asscipy: expected SciPy to be installed, got {import_text(error)}; install scipy"
            ) from error
        pointers, columns = (indices.asnumpy() for indices in self._storage.aux)
        arrays = (self._storage.values.asnumpy(), columns, pointers)
        return csr_matrix(arrays, shape=self.shape, dtype=self.dtype)

    def _order_problem(self, aux: Sequence[Any]) -> str:
        pointers, columns = aux
        ascends = columns[1:] > columns[:-1]
        starts = pointers[1:-1]
        ascends[starts[(starts > 0) & (starts < len(columns))] - 1] = True
        return "" if ascends.all() else "column numbers that do not ascend within a row"
