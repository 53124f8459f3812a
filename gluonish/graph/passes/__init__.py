"""Passes: pure functions from a graph to a graph, one per module."""

from gluonish.graph.passes.cast_weights import cast_weights
from gluonish.graph.passes.drop_bias import drop_bias
from gluonish.graph.passes.drop_bias_gradient import drop_bias_gradient
from gluonish.graph.passes.drop_history import drop_history
from gluonish.graph.passes.fold_batch_norm import fold_batch_norm
from gluonish.graph.passes.fuse_add_layer_norm import fuse_add_layer_norm
from gluonish.graph.passes.fuse_attention import fuse_attention
from gluonish.graph.passes.fuse_batch_norm_relu import fuse_batch_norm_relu
from gluonish.graph.passes.fuse_bias_gradient import fuse_bias_gradient
from gluonish.graph.passes.fuse_gradient_sum import fuse_gradient_sum
from gluonish.graph.passes.fuse_log_softmax_pick import fuse_log_softmax_pick
from gluonish.graph.passes.fuse_pointwise import fuse_pointwise
from gluonish.graph.passes.fuse_primitives import fuse_primitives
from gluonish.graph.passes.fuse_residual_gradient import fuse_residual_gradient
from gluonish.graph.passes.fuse_rnn import fuse_rnn
from gluonish.graph.passes.join_weight_gradients import join_weight_gradients
from gluonish.graph.passes.keep_batch_axes import keep_batch_axes
from gluonish.graph.passes.move_strides import move_strides
from gluonish.graph.passes.redraw_masks import redraw_masks
from gluonish.graph.passes.reserve_rnn import reserve_rnn
from gluonish.graph.passes.simplify import (
    eliminate_common_subexpressions,
    eliminate_dead_code,
    simplify,
)
from gluonish.graph.passes.split_batch_norm import split_batch_norm
from gluonish.graph.passes.use_classic_operators import use_classic_operators
from gluonish.graph.passes.widen_products import widen_products

__all__ = [
    "cast_weights",
    "drop_bias",
    "drop_bias_gradient",
    "drop_history",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
    "fold_batch_norm",
    "fuse_add_layer_norm",
    "fuse_attention",
    "fuse_batch_norm_relu",
    "fuse_bias_gradient",
    "fuse_gradient_sum",
    "fuse_log_softmax_pick",
    "fuse_pointwise",
    "fuse_primitives",
    "fuse_residual_gradient",
    "fuse_rnn",
    "join_weight_gradients",
    "keep_batch_axes",
    "move_strides",
    "redraw_masks",
    "reserve_rnn",
    "simplify",
    "split_batch_norm",
    "use_classic_operators",
    "widen_products",
]
