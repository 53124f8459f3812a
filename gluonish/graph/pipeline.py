"""The passes in their order, and the switches that turn them off.

A graph passes through four stages. `optimize` simplifies it. `fuse_layers` fuses layers of several
operators, before gradients are computed. `split_layers` rewrites outputs and gradients together.
`finish` rewrites the graph of one executable. All but the first run the passes that the back ends
of the device offer (`gluonish.kernels.back_ends.passes`), in the order below. Some stages have an
option; ``MXNET_DISABLED_GRAPH_PASSES`` names passes to skip, also those of
`gluonish.graph.strided_views`.
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
    cast_weights,
    drop_bias,
    drop_bias_gradient,
    drop_history,
    eliminate_common_subexpressions,
    eliminate_dead_code,
    fold_batch_norm,
    fuse_add_layer_norm,
    fuse_attention,
    fuse_batch_norm_relu,
    fuse_bias_gradient,
    fuse_gradient_sum,
    fuse_log_softmax_pick,
    fuse_pointwise,
    fuse_primitives,
    fuse_residual_gradient,
    fuse_rnn,
    join_weight_gradients,
    keep_batch_axes,
    move_strides,
    redraw_masks,
    reserve_rnn,
    simplify,
    split_batch_norm,
    use_classic_operators,
    widen_products,
)
from gluonish.graph.passes.split_batch_norm import is_split
from gluonish.kernels import back_ends

# Each pass has the option that switches it off, if any. Classic operators come first, because
# other passes support them; then simplification, which makes subexpressions equal. Dead code is
# eliminated last, because the other passes leave some.
PASSES: tuple[tuple[Callable[[Graph], Graph], Flag[bool] | None], ...] = (
    (use_classic_operators, None),
    (keep_batch_axes, None),
    (simplify, None),
    (eliminate_common_subexpressions, MXNET_ELIMINATE_COMMON_EXPR),
    (eliminate_dead_code, None),
)


def optimize(graph: Graph) -> Graph:
    """Return the graph after all enabled passes that apply to any graph."""
    for graph_pass, switch in PASSES:
        if switch is None or switch.value:
            graph = _run(graph, graph_pass)
    return graph


def without_history(graph: Graph) -> Graph:
    """Return a graph in which control flow saves no values, for a graph without gradients."""
    return _run(graph, drop_history)


def fuse_layers(
    graph: Graph,
    device: Device,
    constant: Collection[Node] | None,
    learned: Collection[Node] = (),
) -> Graph:
    """Return the graph with layers and the operators after them fused into one primitive.

    Args:
        graph: The graph; its inputs are unchanged.
        device: Device that will run it.
        constant: Inputs that rarely change; None if a gradient may be required.
        learned: Inputs that require a gradient.
    """
    offered = back_ends.passes(device.platform)
    reserve = partial(reserve_rnn, device=device, gradient=constant is None)
    attention = partial(fuse_attention, learned=learned, gradient=constant is None)
    first = (fuse_log_softmax_pick, fuse_rnn, reserve, attention, fuse_add_layer_norm)
    graph = _run(graph, *_chosen(offered, *first))
    if constant is None:
        # A BatchNorm that can be split is fused better afterwards.
        splits = _name(split_batch_norm) in offered and _is_on(split_batch_norm)
        fuse_relu = partial(fuse_batch_norm_relu, leave=is_split if splits else _never)
        return _run(graph, *_chosen(offered, fuse_relu, partial(fuse_primitives, train=True)))
    fuse = partial(fuse_primitives, constant=constant)
    return _run(graph, *_chosen(offered, fold_batch_norm, move_strides, fuse))


def _never(node: Node) -> bool:
    return False


def split_layers(graph: Graph, device: Device, parameters: Collection[Node] = ()) -> Graph:
    """Return a graph, gradients included, with layers split into operators that fuse better.

    Args:
        graph: The graph.
        device: Device that will run it.
        parameters: The inputs of the graph that are parameters.
    """
    offered = back_ends.passes(device.platform)
    cast = partial(cast_weights, parameters=parameters, xp=device.xp)
    join = partial(join_weight_gradients, xp=device.xp)
    chosen = _chosen(
        *(offered, split_batch_norm, drop_bias_gradient, drop_bias, fuse_bias_gradient),
        *(fuse_residual_gradient, fuse_gradient_sum, redraw_masks, widen_products, cast, join),
    )
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
    """Return the passes that the back ends of a device offer, in order."""
    return [partial(x, **offered[_name(x)]) for x in passes if _name(x) in offered]


def _run(graph: Graph, *passes: Callable[[Graph], Graph]) -> Graph:
    """Return the graph after the enabled passes, in order."""
    for graph_pass in passes:
        if _is_on(graph_pass):
            graph = graph_pass(graph)
    return graph


def _is_on(graph_pass: Callable[..., Graph]) -> bool:
    return _name(graph_pass) not in MXNET_DISABLED_GRAPH_PASSES.value


def _name(graph_pass: Callable[..., Graph]) -> str:
    function = graph_pass.func if isinstance(graph_pass, partial) else graph_pass
    return function.__name__
