"""Operators of MXNet that are not here, each with the reason and what to use instead.

They belong to hardware, libraries or parts of MXNet that no longer exist, or are pieces of its own
machinery that only its gradients or its C interface call. Every face shows the ones that MXNet
shows; a call, or a file that holds one, is refused by name.
"""

_MACHINERY = "it is a part of MXNet's own machinery, which no program calls"
_GRAPHS = "how many edges there are depends on values: call it on arrays, as mx.nd.contrib has it"
_GRADIENT = "it is the gradient of another operator: use autograd"
_FUSED = "hybridize the model: fusion happens by itself (MXNET_SUBGRAPH_BACKEND)"

ABSENT: dict[str, str] = {
    "_CachedOpThreadSafe": "hybridize a Block, whose calls are safe in threads; " + _MACHINERY,
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
