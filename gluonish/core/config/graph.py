"""Graphs: passes and fusion."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import NAME, boolean, some_of

MXNET_ELIMINATE_COMMON_EXPR = Flag(
    "MXNET_ELIMINATE_COMMON_EXPR",
    boolean(),
    True,
    "Compute equal operators on equal inputs of a graph once.",
)
MXNET_DISABLED_GRAPH_PASSES = Flag(
    "MXNET_DISABLED_GRAPH_PASSES",
    some_of(
        "cast_weights",
        "channels_last",
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
    ),
    (),
    "Graph passes that hybridized blocks skip, to see what a pass does.",
)
MXNET_USE_FUSION = Flag(
    "MXNET_USE_FUSION",
    boolean(),
    True,
    "Fuse elementwise operators of a graph into generated kernels.",
)
MXNET_FUSION_VERBOSE = Flag(
    "MXNET_FUSION_VERBOSE",
    boolean(),
    False,
    "Print the source of each kernel that is generated for fused operators.",
)
GLUONISH_CUDA_COPIES = Flag(
    "GLUONISH_CUDA_COPIES",
    boolean(),
    True,
    "Copy arrays with gaps and transposes on GPUs 16 bytes at a time, not one element.",
)
GLUONISH_CUDA_MOVE = Flag(
    "GLUONISH_CUDA_MOVE",
    boolean(),
    True,
    "Set new addresses of large arrays in CUDA graphs, instead of copying the arrays.",
)
GLUONISH_CUDA_SCATTER = Flag(
    "GLUONISH_CUDA_SCATTER",
    boolean(),
    True,
    "Gather and scatter rows on GPUs in kernels that sort positions, with sums in a fixed order.",
)
GLUONISH_CUDA_VECTORS = Flag(
    "GLUONISH_CUDA_VECTORS",
    boolean(),
    True,
    "Access 16 bytes at a time in kernels that are generated for GPUs, where arrays allow it.",
)
GLUONISH_DEVICE_LOSS_SCALE = Flag(
    "GLUONISH_DEVICE_LOSS_SCALE",
    boolean(),
    True,
    "Skip steps whose gradients overflow on the GPU, so that AMP's loss scale needs no wait.",
)
MXNET_SUBGRAPH_BACKEND = Flag(
    "MXNET_SUBGRAPH_BACKEND",
    NAME,
    "ONEDNN",
    "ONEDNN (or MKLDNN) fuses layers into oneDNN primitives, NONE does not; or a registered "
    "back end.",
)
