"""``nd.contrib``: operators that MXNet considers experimental, and control flow."""

from gluonish.ndarray.adam_updates import (
    adamw_update,
    mp_adamw_update,
    multi_adamw_update,
    multi_lamb_update,
    multi_mp_adamw_update,
    multi_mp_lamb_update,
)
from gluonish.ndarray.control_flow import (
    cond,
    foreach,
    isfinite,
    isinf,
    isnan,
    rand_zipfian,
    while_loop,
)
from gluonish.ndarray.graph_sampling import (
    dgl_adjacency,
    dgl_csr_neighbor_non_uniform_sample,
    dgl_csr_neighbor_uniform_sample,
    dgl_graph_compact,
    dgl_subgraph,
)
from gluonish.ndarray.namespace import make_operator_function
from gluonish.ops.frontend import prefixed

__all__ = [
    "adamw_update",
    "cond",
    "dgl_adjacency",
    "dgl_csr_neighbor_non_uniform_sample",
    "dgl_csr_neighbor_uniform_sample",
    "dgl_graph_compact",
    "dgl_subgraph",
    "foreach",
    "isfinite",
    "isinf",
    "isnan",
    "mp_adamw_update",
    "multi_adamw_update",
    "multi_lamb_update",
    "multi_mp_adamw_update",
    "multi_mp_lamb_update",
    "rand_zipfian",
    "while_loop",
]

__getattr__, __dir__ = prefixed("_contrib_", __name__, make_operator_function, own=__all__)
