"""NumPy's `Support`: its kernels accept arrays of any layout."""

from gluonish.kernels.back_ends import Passes, Support


def _passes() -> Passes:
    return {"channels_last": {}}


SUPPORT = Support(_passes)
