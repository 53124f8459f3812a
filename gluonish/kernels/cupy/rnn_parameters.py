"""Copies between one vector and the parameters of recurrent layers, in one launch."""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.spec import Spec
from gluonish.kernels.cupy.copies import contiguous, copy
from gluonish.kernels.cupy.source import KINDS, launch_blocks
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.recurrent.packing import RNN_PARAM_PACK, RNN_PARAM_UNPACK
from gluonish.ops.registry import Operator

_MOST = 64  # arrays in one launch; CUDA limits its parameters to 4 KB
_BLOCK = 4096  # elements that a block of threads copies
_THREADS = 256
_MACROS = (("MOST", _MOST), ("BLOCK", _BLOCK))
_TABLE = np.dtype(
    [
        ("written", np.uint64, (_MOST,)),
        ("read", np.uint64, (_MOST,)),
        ("sizes", np.int64, (_MOST,)),
        ("ends", np.uint32, (_MOST,)),
        ("count", np.uint32),
    ],
    align=True,
)


def _supports(*specs: Spec, **_: Any) -> bool:
    return all(spec.dtype in KINDS and spec.dtype == specs[0].dtype for spec in specs)


def _copy(xp: ModuleType, pairs: Sequence[tuple[Any, Any]]) -> None:
    """Copy each source to its target; all are contiguous and of one dtype."""
    pairs = [(target, source) for target, source in pairs if target.size]
    for start in range(0, len(pairs), _MOST):
        some = pairs[start : start + _MOST]
        table, count = np.zeros(1, _TABLE), len(some)  # CuPy passes an array of size 1 by value
        fields = table[0]
        fields["written"][:count] = [target.data.ptr for target, _ in some]
        fields["read"][:count] = [source.data.ptr for _, source in some]
        sizes = np.array([target.size for target, _ in some], np.int64)
        fields["sizes"][:count] = sizes
        ends = np.cumsum(-(-sizes // _BLOCK))
        fields["ends"][:count] = ends
        fields["count"] = count
        blocks, dtype = (int(ends[-1]),), some[0][0].dtype
        launch_blocks(
            xp, "rnn_parameters", "copy_arrays", dtype, (table,), blocks, _THREADS, _MACROS
        )


def _slices(vector: Any, parts: Sequence[Any]) -> Iterator[Any]:
    """Yield the slice of the vector for each array."""
    at = 0
    for part in parts:
        yield vector[at : at + part.size]
        at += part.size


def pack(xp: ModuleType, out: Any, *parts: Any, **_: Any) -> None:
    """Compute _rnn_param_pack."""
    sources = [contiguous(xp, part) for part in parts]
    target = contiguous(xp, out)
    _copy(xp, list(zip(_slices(target, sources), sources, strict=True)))
    if target is not out:
        copy(xp, out, target)


def unpack(xp: ModuleType, outputs: Sequence[Any], vector: Any, *_: Any, **__: Any) -> None:
    """Compute _rnn_param_unpack."""
    targets = [contiguous(xp, out) for out in outputs]
    _copy(xp, list(zip(targets, _slices(contiguous(xp, vector), targets), strict=True)))
    for out, target in zip(outputs, targets, strict=True):
        if target is not out:
            copy(xp, out, target)


KERNELS: tuple[tuple[Operator, FastKernel], ...] = (
    (RNN_PARAM_PACK, FastKernel(BackEnd.CUPY, "pack_rnn_params", _supports, run=pack)),
    (RNN_PARAM_UNPACK, FastKernel(BackEnd.CUPY, "unpack_rnn_params", _supports, run=unpack)),
)
