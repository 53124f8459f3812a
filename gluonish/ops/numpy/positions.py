"""argmax and argmin as int64."""

from gluonish.core.dtype import INT64
from gluonish.core.spec import Spec
from gluonish.ops.numpy.promotion import refuse_bool
from gluonish.ops.reductions.arg_reduction import index_operator
from gluonish.ops.registry import Operator


def _whole(name: str, method: str) -> Operator:
    return index_operator(name, method, refuse_bool, lambda shape, _: Spec(shape, INT64), "")


ARGMAX = _whole("_npi_argmax", "argmax")
ARGMIN = _whole("_npi_argmin", "argmin")
