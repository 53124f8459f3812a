"""The kernels of each operator, in order of preference.

If several kernels support a call, the one whose module comes first here runs it. If that kernel
raises `RefusedError`, the next one is tried, and last the operator's reference kernel. A module of
kernels loads at the first look-up of kernels for one of its operators. It has a table `KERNELS` of
operators and kernels or, if any operator may have one, a function `kernels_of`.
"""

from collections.abc import Iterator

from gluonish.core.loading import load
from gluonish.kernels.index import MODULES
from gluonish.ops.kernel import FastKernel
from gluonish.ops.registry import Operator

# Modules before oneDNN's are faster than oneDNN for the calls that they support, or are requested
# by a flag. Of oneDNN's modules, the direct ones come first. General elementwise kernels come last,
# then kernels of classic operators for the NumPy operators that compute the same.
IN_ORDER = (
    "numpy.narrow_sums",
    "generated.dense_products",
    "generated.split_products",
    "numpy.dense",
    "numpy.dot",
    "generated.random_numbers",
    "generated.weight_only",
    "generated.winograd",
    "generated.first_convolution",
    "generated.channel_windows",
    "generated.pooling",
    "generated.softmax_and_norms",
    "generated.sums",
    "generated.concat_and_slice",
    "generated.data_movement",
    "generated.attention",
    "generated.batch_norm",
    "generated.bilinear_points",
    "generated.box_iou",
    "generated.cached_attention",
    "generated.cell_steps",
    "generated.csr",
    "generated.ctc",
    "generated.gathering",
    "generated.gated",
    "generated.layer_norm",
    "generated.layer_norm_columns",
    "generated.one_hot_and_sequences",
    "generated.optimizer",
    "generated.ordering",
    "generated.pixel_colors",
    "generated.rms_norm",
    "generated.roi_align",
    "generated.roi_pooling",
    "generated.rotary",
    "generated.scattering",
    "generated.box_nms",
    "generated.log_softmax_pick",
    "generated.linear_cross_entropy",
    "onednn.register_direct",
    "onednn.register_recurrent",
    "onednn.register_arithmetic",
    "onednn.register_normalization",
    "generated.few_rows",
    "generated.wide_products",
    "onednn.register_products",
    "onednn.register_int8",
    "onednn.register_windows",
    "generated.plain_convolution",
    "cupy.optimizer",
    "cupy.rnn_parameters",
    "cupy.register",
    "cupy.batch_norm",
    "cupy.cross_entropy",
    "cupy.add_layer_norm",
    "cupy.all_finite",
    "cupy.cast_weights",
    "cupy.column_sums",
    "cupy.pointwise",
    "cupy.pooling",
    "cupy.softmax_and_norms",
    "cupy.zeros",
    "cupy.data_movement",
    "cupy.gather",
    "cupy.scatter",
    "generated.pointwise",
    "generated.elementwise",
    "classic_forms",
)

_modules: dict[str, list[str]] = {}
for _module in IN_ORDER:
    for _name in MODULES.get(_module, "").split():
        _modules.setdefault(_name, []).append(_module)


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the kernels of an operator in order of preference."""
    for module in _modules.get(op.name, ()):
        yield from kernels_in(module, op)


def kernels_in(name: str, op: Operator) -> Iterator[FastKernel]:
    """Yield the kernels of an operator in one module of `IN_ORDER`."""
    module = load(f"gluonish.kernels.{name}")
    if hasattr(module, "kernels_of"):
        yield from module.kernels_of(op)
    else:
        yield from (fast for other, fast in module.KERNELS if other is op)
