"""Which kernels operators have, and which of them is preferred: importing this hangs them all.

Where several kernels take a call, the one whose module comes first here runs it; what it refuses
goes to the next, and last to the operator's reference kernel.
"""

from collections.abc import Iterator

from gluonish.kernels.classic_forms import classic_kernels
from gluonish.kernels.cupy import register as cupy
from gluonish.kernels.numba import (
    assignments,
    batch_norm,
    bilinear_points,
    box_iou,
    cell_steps,
    columns,
    csr,
    ctc,
    drawing,
    eager,
    gathering,
    numbered,
    optimizer,
    ordering,
    pixel_colors,
    pooling,
    reductions,
    roi_align,
    roi_pooling,
    rows,
    scattering,
    suppression,
    vocabulary,
    winograd,
)
from gluonish.kernels.numba import register as generated
from gluonish.kernels.numpy import dense, dot, narrow_sums
from gluonish.kernels.onednn import register as onednn
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Operator

__all__ = ["kernels"]

# Ahead of oneDNN stands what is faster than it where it takes a call, or was asked for by a flag.
# What computes any function of single elements comes last.
_IN_ORDER = (
    narrow_sums,
    dense,
    dot,
    drawing,
    winograd,
    pooling,
    rows,
    reductions,
    columns,
    assignments,
    batch_norm,
    bilinear_points,
    box_iou,
    cell_steps,
    csr,
    ctc,
    gathering,
    numbered,
    optimizer,
    ordering,
    pixel_colors,
    roi_align,
    roi_pooling,
    scattering,
    suppression,
    vocabulary,
    onednn,
    cupy,
    generated,
    eager,
)


def kernels() -> Iterator[tuple[Operator, FastKernel]]:
    """Yield every kernel with its operator; of one operator the preferred ones first."""
    for module in _IN_ORDER:
        yield from module.KERNELS


for _op, _fast in kernels():
    _op.hang(_fast)
for _op, _fast in classic_kernels():
    _op.hang(_fast)
