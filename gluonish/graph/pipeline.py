"""The passes in their order, and the switches that turn them off.

A graph goes through four stages. `optimize` simplifies it. `fuse_layers` makes layers of several
operators one, before gradients are taken. `split_layers` works on outputs and gradients together.
`finish` works on what one executable runs. Besides the variables of whole stages,
``MXNET_DISABLED_GRAPH_PASSES`` names single passes to leave out; `gluonish.graph.layout` heeds it,
too.
"""

from collections.abc import Callable, Collection
from functools import partial

from gluonish.core.config import (
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_SUBGRAPH_BACKEND,
    MXNET_USE_FUSION,
    Flag,
)
from gluonish.core.device import Device
from gluonish.graph.ir import Graph, Node
from gluonish.graph.passes import (
    drop_bias_gradient,
    drop_history,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fold_batch_norm,
    fuse_batch_norm_relu,
    fuse_log_softmax_pick,
    fuse_pointwise,
    fuse_primitives,
    fuse_rnn,
    keep_batch_axes,
    move_strides,
    simplify,
    split_batch_norm,
    use_classic_operators,
    widen_products,
)
from gluonish.graph.passes.split_batch_norm import is_split
from gluonish.kernels.cupy import pointwise
from gluonish.kernels.generated import register as generated
from gluonish.kernels.generated.expressions import REAL
from gluonish.kernels.onednn import register as onednn

__all__ = ["PASSES", "finish", "fuse_layers", "optimize", "split_layers", "without_history"]

# Each with the variable that switches it off, if there is one. First of all the operators that
# passes know; then simplification, which makes subexpressions equal. Dead code last: it drops what
# the others left behind.
PASSES: tuple[tuple[Callable[[Graph], Graph], Flag[bool] | None], ...] = (
    (use_classic_operators, None),
    (keep_batch_axes, None),
    (simplify, None),
    (eliminate_common_subexpressions, MXNET_ELIMINATE_COMMON_EXPR),
    (eliminate_dead_code, None),
)


def optimize(graph: Graph) -> Graph:
    """Return the graph after all passes for any graph that are switched on."""
    for graph_pass, switch in PASSES:
        if switch is None or switch.value:
            graph = _run(graph, graph_pass)
    return graph


def without_history(graph: Graph) -> Graph:
    """Return a graph that no gradient is taken of, with control flow that keeps nothing for it."""
    return _run(graph, drop_history)


def fuse_layers(graph: Graph, device: Device, stable: Collection[Node] | None) -> Graph:
    """Return the graph with layers and what follows them in one primitive.

    Args:
        graph: The graph; its inputs stay.
        device: Where it runs.
        stable: Inputs that rarely change, where no gradient is wanted; None where one may be.
    """
    if _has_generated_kernels(device):
        graph = _run(graph, fuse_log_softmax_pick, fuse_rnn)
    if not _has_primitives(device):
        return graph
    if stable is None:
        # What can be split is fused better by its parts.
        leave = is_split if _has_generated_kernels(device) and _is_on(split_batch_norm) else _never
        graph = _run(graph, partial(fuse_batch_norm_relu, leave=leave))
        return _run(graph, partial(fuse_primitives, train=True))
    return _run(graph, fold_batch_norm, move_strides, partial(fuse_primitives, stable=stable))


def _never(node: Node) -> bool:
    return False


def split_layers(graph: Graph, device: Device) -> Graph:
    """Return a graph, which may hold gradients, with layers by parts that can be fused better."""
    if _has_gpu_kernels(device):
        # Elements of any floats are read and written by one kernel there.
        graph = _run(graph, partial(split_batch_norm, dtypes=REAL), drop_bias_gradient)
    elif _has_generated_kernels(device):
        graph = _run(graph, split_batch_norm, drop_bias_gradient, widen_products)
    else:
        return graph
    if MXNET_ELIMINATE_COMMON_EXPR.value:
        graph = _run(graph, eliminate_common_subexpressions)
    return _run(graph, eliminate_dead_code)


def finish(graph: Graph, device: Device) -> Graph:
    """Return an executable's graph after the last passes."""
    if _has_gpu_kernels(device):
        return _run(graph, partial(fuse_pointwise, xp_name="cupy"))
    return _run(graph, fuse_pointwise) if _has_generated_kernels(device) else graph


def _run(graph: Graph, *passes: Callable[[Graph], Graph]) -> Graph:
    """Return the graph after those of the passes that are on, in order."""
    for graph_pass in passes:
        if _is_on(graph_pass):
            graph = graph_pass(graph)
    return graph


def _is_on(graph_pass: Callable[..., Graph]) -> bool:
    function = graph_pass.func if isinstance(graph_pass, partial) else graph_pass
    return function.__name__ not in MXNET_DISABLED_GRAPH_PASSES.value


def _has_primitives(device: Device) -> bool:
    on = MXNET_SUBGRAPH_BACKEND.value != "NONE"
    return on and device.xp_name == "numpy" and onednn.enabled()


def _has_generated_kernels(device: Device) -> bool:
    return MXNET_USE_FUSION.value and device.xp_name == "numpy" and generated.enabled()


def _has_gpu_kernels(device: Device) -> bool:
    return device.xp_name == "cupy" and pointwise.enabled()
