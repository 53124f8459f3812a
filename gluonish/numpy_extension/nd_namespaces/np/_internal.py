"""``nd.np._internal``: operators behind ``mx.np``, by their names without ``_npi_``."""

from gluonish.ndarray.namespace import make_operator_function
from gluonish.numpy_extension.operators import taking_np_arrays
from gluonish.ops.frontend import prefixed

__all__: list[str] = []

__getattr__, __dir__ = prefixed(
    "_npi_", __name__, taking_np_arrays(make_operator_function), own=__all__
)
