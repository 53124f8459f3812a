"""NumPy's `Support`: its kernels accept arrays of any layout."""

from collections.abc import Sequence
from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.back_ends import Passes, Support
from gluonish.kernels.onednn.register import enabled
from gluonish.ops.registry import Attrs, Operator


def _starts_nowhere(op: Operator, attrs: Attrs, inputs: Sequence[Spec], xp: Any) -> bool:
    return False


def _passes() -> Passes:
    # Without oneDNN, convolutions are fast on contiguous arrays only.
    return {"channels_last": {} if enabled() else {"starts": _starts_nowhere}}


SUPPORT = Support(_passes)
