"""Which kernels operators have, and which of them is preferred.

Where several kernels take a call, the one whose module comes first here runs it; what it refuses
goes to the next, and last to the operator's reference kernel. A module of kernels loads when one of
its operators is first asked for its kernels. It has a table `KERNELS` of operators and kernels, or
where any operator may have one, a function `kernels_of`.
"""

from collections.abc import Iterator

from gluonish.core.loading import load
from gluonish.kernels.index import MODULES
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Operator

# Ahead of oneDNN stands what is faster than it where it takes a call, or was asked for by a flag;
# of oneDNN's own the direct ones are preferred. What computes any function of single elements comes
# last, and behind it what NumPy's operators have from classic ones that do the same.
IN_ORDER = (
    "numpy.narrow_sums",
    "numpy.dense",
    "numpy.dot",
    "generated.random_numbers",
    "generated.winograd",
    "generated.pooling",
    "generated.softmax_and_norms",
    "generated.reductions",
    "generated.concat_and_slice",
    "generated.data_movement",
    "generated.batch_norm",
    "generated.bilinear_points",
    "generated.box_iou",
    "generated.cell_steps",
    "generated.csr",
    "generated.ctc",
    "generated.gathering",
    "generated.layer_norm",
    "generated.one_hot_and_sequences",
    "generated.optimizer",
    "generated.ordering",
    "generated.pixel_colors",
    "generated.roi_align",
    "generated.roi_pooling",
    "generated.scattering",
    "generated.box_nms",
    "generated.log_softmax_pick",
    "onednn.register_direct",
    "onednn.register_recurrent",
    "onednn.register_arithmetic",
    "onednn.register_normalization",
    "onednn.register_products",
    "onednn.register_bytes",
    "onednn.register_windows",
    "cupy.optimizer",
    "cupy.register",
    "cupy.batch_norm",
    "cupy.pointwise",
    "cupy.pooling",
    "cupy.softmax_and_norms",
    "generated.register",
    "generated.elementwise",
    "classic_forms",
)

_modules: dict[str, list[str]] = {}
for _module in IN_ORDER:
    for _name in MODULES.get(_module, "").split():
        _modules.setdefault(_name, []).append(_module)


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the kernels of an operator, the preferred ones first."""
    for module in _modules.get(op.name, ()):
        yield from kernels_in(module, op)


def kernels_in(name: str, op: Operator) -> Iterator[FastKernel]:
    """Yield the kernels of an operator that stand in a module.

    Args:
        name: One of `IN_ORDER`.
    """
    module = load(f"gluonish.kernels.{name}")
    if hasattr(module, "kernels_of"):
        yield from module.kernels_of(op)
    else:
        yield from (fast for other, fast in module.KERNELS if other is op)
