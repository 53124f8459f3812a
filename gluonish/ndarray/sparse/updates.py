"""Lazy optimizer updates by row-sparse gradients, which change only the stored rows."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gluonish.ndarray.eager import invoke
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.sparse.arithmetic import gather_rows
from gluonish.ndarray.sparse.array import RowSparseNDArray
from gluonish.ndarray.sparse.dispatch import implement
from gluonish.ndarray.sparse.storage import int_array, scatter_rows, union, with_rows
from gluonish.ops.registry import Attrs, Operator


def put_rows(target: NDArray, rows: Any, values: NDArray) -> None:
    """Overwrite some rows of a dense or row-sparse array; ``rows`` are distinct and ascending."""
    if not len(rows):
        return
    if isinstance(target, RowSparseNDArray):
        own = target._storage.aux[0].asnumpy()
        merged = union(own, rows)
        if len(merged) > len(own):
            positions = int_array(np.searchsorted(merged, own), target)
            extents = (len(merged), *target.shape[1:])
            spread = scatter_rows(target._storage.values, positions, extents)
            target._replace_storage(with_rows(spread, merged, target.shape))
        target, rows = target._storage.values, np.searchsorted(merged, rows)
    numbered = int_array(rows, target)
    target._make_contiguous()
    target._write(partial(_put, numbered, values), [numbered, values, target], "_put_rows")


def _put(positions: NDArray, values: NDArray, out: Any) -> None:
    out[positions._data] = values._data


_UPDATES = {
    "sgd_update": "dr rr",
    "sgd_mom_update": "drd rrr",
    "adam_update": "drdd rrrr",
    "ftrl_update": "rrrr",
    "_sparse_adagrad_update": "drd rrr",
    "_contrib_group_adagrad_update": "drd rrr",
}


def _lazy(op: Operator, inputs: Sequence[NDArray], attrs: Attrs, out: Any) -> Any:
    """Update only the rows that the gradient stores; optimizer states are updated in place."""
    weight, grad, *states = inputs
    if not attrs.get("lazy_update", True):
        return NotImplemented
    assert isinstance(grad, RowSparseNDArray)
    rows = grad._storage.aux[0].asnumpy()
    target = out[0] if isinstance(out, list | tuple) else out
    new = weight if target is weight else weight.copy()
    if len(rows):
        taken = [gather_rows(x, rows) for x in states]
        values = invoke(op, (gather_rows(weight, rows), grad._storage.values, *taken), attrs)
        put_rows(new, rows, values)
        for state, updated in zip(states, taken, strict=True):
            put_rows(state, rows, updated)
    return new


for _name, _kinds in _UPDATES.items():
    implement(_name, _kinds, in_place=True)(_lazy)
