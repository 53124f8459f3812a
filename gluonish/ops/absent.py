"""Operators of MXNet that are not available, each with the reason and what to use instead.

These operators depend on hardware, libraries or parts of MXNet that no longer exist, or are
internals that only MXNet's gradients or C interface call. Every frontend lists the names that MXNet
lists; calling such an operator, or loading a file that contains it, raises an error that names it.
"""

_MACHINERY = "it is internal to MXNet, and no program calls it"
_GRAPHS = "the number of edges depends on values: call it on arrays, through mx.nd.contrib"
_GRADIENT = "it is the gradient of another operator: use autograd"
_FUSED = "hybridize the model: fusion happens by itself (MXNET_SUBGRAPH_BACKEND)"

ABSENT: dict[str, str] = {
    "_CachedOpThreadSafe": "hybridize a Block, whose calls are thread-safe; " + _MACHINERY,
    "_CustomFunction": "use autograd.Function",
    "_NoGradient": _MACHINERY,
    "_contrib_backward_gradientmultiplier": _GRADIENT,
    "_contrib_backward_hawkesll": _GRADIENT,
    "_contrib_backward_index_copy": _GRADIENT,
    "_contrib_backward_quadratic": _GRADIENT,
    "_contrib_dgl_adjacency": _GRAPHS,
    "_contrib_dgl_csr_neighbor_non_uniform_sample": _GRAPHS,
    "_contrib_dgl_csr_neighbor_uniform_sample": _GRAPHS,
    "_contrib_dgl_graph_compact": _GRAPHS,
    "_contrib_dgl_subgraph": _GRAPHS,
    "_imdecode": "use mx.image.imdecode, or _cvimdecode on an array of bytes",
    "_set_value": "its result has the shape of the array it fills: write array[:] = value",
    "_sg_mkldnn_selfatt_qk": _FUSED,
    "_sg_mkldnn_selfatt_valatt": _FUSED,
}
