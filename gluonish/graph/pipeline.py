"""The passes in their order, and the switches that turn them off.

A graph goes through four stages. `optimize` simplifies it. `fuse_layers` makes layers of several
operators one, before gradients are taken. `split_layers` works on outputs and gradients together.
`finish` works on what one executable runs. All but the first run the passes that the back ends of
the device offer (`gluonish.kernels.back_ends.passes`), in the order that stands here. Besides the
variables of whole stages, ``MXNET_DISABLED_GRAPH_PASSES`` names single passes to leave out;
`gluonish.graph.layout` heeds it, too.
"""

from collections.abc import Callable, Collection
from functools import partial

from gluonish.core.config import (
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
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
from gluonish.kernels import back_ends

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
        stable: Inputs that rarely change, where no gradient is wanted; None where one may be.
    """
    offered = back_ends.passes(device.platform)
    graph = _run(graph, *_chosen(offered, fuse_log_softmax_pick, fuse_rnn))
    if stable is None:
        # What can be split is fused better by its parts.
        splits = _name(split_batch_norm) in offered and _is_on(split_batch_norm)
        fuse_relu = partial(fuse_batch_norm_relu, leave=is_split if splits else _never)
        return _run(graph, *_chosen(offered, fuse_relu, partial(fuse_primitives, train=True)))
    fuse = partial(fuse_primitives, stable=stable)
    return _run(graph, *_chosen(offered, fold_batch_norm, move_strides, fuse))


def _never(node: Node) -> bool:
    return False


def split_layers(graph: Graph, device: Device) -> Graph:
    """Return a graph, which may hold gradients, with layers by parts that can be fused better."""
    offered = back_ends.passes(device.platform)
    chosen = _chosen(offered, split_batch_norm, drop_bias_gradient, widen_products)
    if not chosen:
        return graph
    graph = _run(graph, *chosen)
    if MXNET_ELIMINATE_COMMON_EXPR.value:
        graph = _run(graph, eliminate_common_subexpressions)
    return _run(graph, eliminate_dead_code)


def finish(graph: Graph, device: Device) -> Graph:
    """Return an executable's graph after the last passes."""
    fuse = partial(fuse_pointwise, platform=device.platform)
    return _run(graph, *_chosen(back_ends.passes(device.platform), fuse))


def _chosen(
    offered: back_ends.Passes, *passes: Callable[..., Graph]
) -> list[Callable[[Graph], Graph]]:
    """Return those of the passes that pay with the kernels of a device, in order."""
    return [partial(one, **offered[_name(one)]) for one in passes if _name(one) in offered]


def _run(graph: Graph, *passes: Callable[[Graph], Graph]) -> Graph:
    """Return the graph after those of the passes that are on, in order."""
    for graph_pass in passes:
        if _is_on(graph_pass):
            graph = graph_pass(graph)
    return graph


def _is_on(graph_pass: Callable[..., Graph]) -> bool:
    return _name(graph_pass) not in MXNET_DISABLED_GRAPH_PASSES.value


def _name(graph_pass: Callable[..., Graph]) -> str:
    function = graph_pass.func if isinstance(graph_pass, partial) else graph_pass
    return function.__name__
