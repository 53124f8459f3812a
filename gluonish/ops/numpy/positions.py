"""argmax and argmin as int64."""

from gluonish.core.dtype import INT64
from gluonish.core.spec import Spec
from gluonish.ops.arg_reduction import position_operator
from gluonish.ops.numpy.promotion import refuse_bool
from gluonish.ops.registry import Operator

__all__ = ["ARGMAX", "ARGMIN"]


def _whole(method: str) -> Operator:
    return position_operator(
        f"_npi_{method}", method, refuse_bool, lambda shape, _: Spec(shape, INT64), ""
    )


ARGMAX = _whole("argmax")
ARGMIN = _whole("argmin")
