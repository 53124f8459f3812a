"""``nd.npx``: the namespace ``F.npx`` inside a `hybrid_forward` that computes on arrays."""

from gluonish.numpy_extension.control_flow import cond, foreach, while_loop
from gluonish.numpy_extension.indexing import index_add, index_update
from gluonish.numpy_extension.layers import activation, group_norm
from gluonish.numpy_extension.masking import masked_log_softmax, masked_softmax
from gluonish.numpy_extension.nd_namespaces.npx import image, random
from gluonish.numpy_extension.operators import operator_function as __getattr__  # noqa: F401
from gluonish.numpy_extension.operators import operator_names as __dir__  # noqa: F401

__all__ = [
    "activation",
    "cond",
    "foreach",
    "group_norm",
    "image",
    "index_add",
    "index_update",
    "masked_log_softmax",
    "masked_softmax",
    "random",
    "while_loop",
]
