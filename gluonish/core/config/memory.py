"""Memory: sharing in graphs, caches and pools, and recomputation."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import boolean, choice, integer

MXNET_EXEC_ENABLE_INPLACE = Flag(
    "MXNET_EXEC_ENABLE_INPLACE",
    boolean(),
    True,
    "Let a graph's memory plan write an output over an input that is not needed any more.",
)
MXNET_EXEC_MATCH_RANGE = Flag(
    "MXNET_EXEC_MATCH_RANGE",
    integer(0),
    16,
    "The older name of NNVM_EXEC_MATCH_RANGE, which wins where both are set.",
)
NNVM_EXEC_MATCH_RANGE = Flag(
    "NNVM_EXEC_MATCH_RANGE",
    integer(0),
    MXNET_EXEC_MATCH_RANGE,
    "Largest ratio of sizes at which values share memory; 0: none share. Values saved for "
    "backward are one block.",
)
MXNET_EXEC_NUM_TEMP = Flag(
    "MXNET_EXEC_NUM_TEMP",
    integer(1),
    1,
    "Large arenas that a hybridized block keeps; further simultaneous calls allocate their own.",
)
MXNET_CPU_TEMP_COPY = Flag(
    "MXNET_CPU_TEMP_COPY",
    integer(1),
    4,
    "Large scratch buffers that each CPU device keeps for operators that run at the same time.",
)
MXNET_GPU_MEM_POOL_TYPE = Flag(
    "MXNET_GPU_MEM_POOL_TYPE",
    choice("Naive", "Round", "Unpooled"),
    "Naive",
    "Cache a GPU's freed blocks by exact size, by rounded size, or not at all.",
)
MXNET_GPU_MEM_POOL_RESERVE = Flag(
    "MXNET_GPU_MEM_POOL_RESERVE",
    integer(0, 100),
    5,
    "Percentage of a GPU's memory to leave free: cached blocks are released before less is free.",
)
MXNET_GPU_MEM_POOL_PAGE_SIZE = Flag(
    "MXNET_GPU_MEM_POOL_PAGE_SIZE",
    integer(32),
    4096,
    "Block sizes of a GPU's pools are multiples of this many bytes, a power of two for Round.",
)
MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE = Flag(
    "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE",
    integer(1),
    2 << 20,
    "Blocks of a GPU's Naive pool that are larger than this are multiples of this many bytes.",
)
MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF = Flag(
    "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
    integer(20, 34),
    24,
    "Block sizes of a GPU's Round pool are powers of two up to 2 to this power, and multiples"
    " of that above.",
)
GLUONISH_STAGING_MB = Flag(
    "GLUONISH_STAGING_MB",
    integer(0),
    32,
    "Page-locked MB for each GPU, through which large arrays are copied by chunks; 0: copy whole.",
)
MXNET_BACKWARD_DO_MIRROR = Flag(
    "MXNET_BACKWARD_DO_MIRROR",
    boolean(),
    False,
    "Compute cheap values of a graph's forward pass again in the backward pass, to save memory.",
)
MXNET_MEMORY_OPT = Flag(
    "MXNET_MEMORY_OPT",
    boolean(),
    False,
    "Save only about sqrt(N) of a graph's N forward values, and compute the others again.",
)
