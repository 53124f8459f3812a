"""oneDNN's kernels on single elements and whole arrays, for `gluonish.kernels.onednn.register`.

Few are hung on operators: NumPy reduces and copies as fast, and the generated kernels compute
elementwise functions faster. For NaN the library's relu gives 0 and its exp infinity.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gluonish.core.dtype import FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.onednn.binding import plain
from gluonish.kernels.onednn.concat import concat
from gluonish.kernels.onednn.memory import Array
from gluonish.kernels.onednn.plan import Bound
from gluonish.kernels.onednn.prelu import prelu
from gluonish.kernels.onednn.sum import weighted_sum
from gluonish.ops.add_n import ADD_N
from gluonish.ops.concat import CONCAT
from gluonish.ops.leaky_relu import LEAKY_RELU
from gluonish.ops.registry import Attrs, Operator

__all__ = ["KERNELS"]

# Elements below which NumPy is as fast as the library.
_SMALL_PRELU = 1 << 12
_SMALL_SUM = 1 << 22
_SMALL_NARROW_SUM = 1 << 14  # in bfloat16
_SMALL_CONCAT = 1 << 21


def _takes_prelu(data: Spec, *rest: Spec, act_type: str, **_: Any) -> bool:
    if act_type != "prelu" or data.size < _SMALL_PRELU or not 2 <= len(data.shape) <= 5:
        return False
    return rest[0].shape in ((1,), data.shape[1:2]) and plain(data, *rest)


def _prelu(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    return prelu(outputs[0], inputs[0], inputs[1])


def _takes_sum(*specs: Spec, **_: Any) -> bool:
    least = _SMALL_SUM if specs[0].dtype == FLOAT32 else _SMALL_NARROW_SUM
    return len(specs) > 1 and bool(specs[0].shape) and specs[0].size >= least and plain(*specs)


def _sum(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    return weighted_sum(outputs[0], inputs, (1.0,) * len(inputs))


def _takes_concat(*specs: Spec, dim: int, **_: Any) -> bool:
    elements = sum(spec.size for spec in specs)
    return dim == 1 and len(specs) > 1 and elements >= _SMALL_CONCAT and plain(*specs)


def _concat(outputs: Sequence[Array], inputs: Sequence[Array], attrs: Attrs) -> Bound:
    if all(array.flags.c_contiguous for array in inputs):
        raise RefusedError("concat: expected arrays with channels last, got contiguous ones")
    return concat(outputs, inputs, attrs)


# Operator, name of the kernel, what it takes, and its plan.
KERNELS: tuple[tuple[Operator, str, Callable[..., bool], Callable[..., Bound]], ...] = (
    (LEAKY_RELU, "prelu", _takes_prelu, _prelu),
    (ADD_N, "sum", _takes_sum, _sum),
    (CONCAT, "concat", _takes_concat, _concat),
)
