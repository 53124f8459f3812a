"""Every environment variable that gluonish acts on, each one a typed `Flag`.

A flag is read as ``FLAG.value`` where the thing it configures is built, because programs set
``os.environ`` after the import; it is never read in a hot path. An unset or empty variable means
the default. Nothing outside this package reads ``os.environ``. A group of flags is one module here;
`table` lists them all.
"""

from gluonish.core.config.communication import (
    MXNET_OPTIMIZER_AGGREGATION_SIZE,
    MXNET_UPDATE_ON_KVSTORE,
)
from gluonish.core.config.environment import LoadEnvironment, get_variable, is_set, set_variable
from gluonish.core.config.files import (
    MXNET_GLUON_REPO,
    MXNET_HOME,
)
from gluonish.core.config.flag import Flag
from gluonish.core.config.graph import (
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_FUSION_VERBOSE,
    MXNET_SUBGRAPH_BACKEND,
    MXNET_USE_FUSION,
)
from gluonish.core.config.kind import Kind
from gluonish.core.config.libraries import (
    MXNET_LIBRARY_PATH,
    MXNET_MKLDNN_CACHE_NUM,
    MXNET_MKLDNN_ENABLED,
    MXNET_STORAGE_FALLBACK_LOG_VERBOSE,
    MXNET_WINOGRAD_CONVOLUTION,
)
from gluonish.core.config.memory import (
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_EXEC_ENABLE_INPLACE,
    MXNET_EXEC_NUM_TEMP,
    MXNET_MEMORY_OPT,
    NNVM_EXEC_MATCH_RANGE,
)
from gluonish.core.config.switches import kernel_switches
from gluonish.core.config.table import all_flags
from gluonish.core.config.threads import (
    DMLC_LOG_STACK_TRACE_DEPTH,
    MXNET_CPU_PRIORITY_NTHREADS,
    MXNET_CPU_WORKER_NTHREADS,
    MXNET_ENGINE_TYPE,
    MXNET_EXEC_BULK_EXEC_INFERENCE,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD,
    MXNET_EXEC_BULK_EXEC_TRAIN,
    MXNET_MP_OPENCV_NUM_THREADS,
    MXNET_MP_WORKER_NTHREADS,
)

__all__ = [
    "DMLC_LOG_STACK_TRACE_DEPTH",
    "MXNET_BACKWARD_DO_MIRROR",
    "MXNET_CPU_PRIORITY_NTHREADS",
    "MXNET_CPU_WORKER_NTHREADS",
    "MXNET_DISABLED_GRAPH_PASSES",
    "MXNET_ELIMINATE_COMMON_EXPR",
    "MXNET_ENGINE_TYPE",
    "MXNET_EXEC_BULK_EXEC_INFERENCE",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD",
    "MXNET_EXEC_BULK_EXEC_TRAIN",
    "MXNET_EXEC_ENABLE_INPLACE",
    "MXNET_EXEC_NUM_TEMP",
    "MXNET_FUSION_VERBOSE",
    "MXNET_GLUON_REPO",
    "MXNET_HOME",
    "MXNET_LIBRARY_PATH",
    "MXNET_MEMORY_OPT",
    "MXNET_MKLDNN_CACHE_NUM",
    "MXNET_MKLDNN_ENABLED",
    "MXNET_MP_OPENCV_NUM_THREADS",
    "MXNET_MP_WORKER_NTHREADS",
    "MXNET_OPTIMIZER_AGGREGATION_SIZE",
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
    "MXNET_SUBGRAPH_BACKEND",
    "MXNET_UPDATE_ON_KVSTORE",
    "MXNET_USE_FUSION",
    "MXNET_WINOGRAD_CONVOLUTION",
    "NNVM_EXEC_MATCH_RANGE",
    "Flag",
    "Kind",
    "LoadEnvironment",
    "all_flags",
    "get_variable",
    "is_set",
    "kernel_switches",
    "set_variable",
]
