"""Engine and threads: the type of the engine, and numbers of threads."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import TEXT, all_or_some, boolean, choice, integer

MXNET_ENGINE_TYPE = Flag(
    "MXNET_ENGINE_TYPE",
    choice("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"),
    "ThreadedEnginePerDevice",
    "Engine that runs operators: in the caller, on one pool of threads, or on lanes per device.",
)
MXNET_CPU_WORKER_NTHREADS = Flag(
    "MXNET_CPU_WORKER_NTHREADS", integer(1), 1, "Engine threads per CPU device, for compute."
)
MXNET_CPU_PRIORITY_NTHREADS = Flag(
    "MXNET_CPU_PRIORITY_NTHREADS",
    integer(1),
    4,
    "Engine threads for CPU operations of high priority, such as communication.",
)
MXNET_GPU_WORKER_NTHREADS = Flag(
    "MXNET_GPU_WORKER_NTHREADS",
    integer(1),
    2,
    "Threads per GPU that launch the kernels which the calling thread cannot launch at once.",
)
MXNET_GPU_COPY_NTHREADS = Flag(
    "MXNET_GPU_COPY_NTHREADS",
    integer(1),
    2,
    "Threads per GPU that launch the copies which the calling thread cannot launch at once.",
)
MXNET_GPU_WORKER_NSTREAMS = Flag(
    "MXNET_GPU_WORKER_NSTREAMS",
    integer(1),
    1,
    "Compute streams per GPU: operators that do not depend on each other run at the same time.",
)
MXNET_ENABLE_CUDA_GRAPHS = Flag(
    "MXNET_ENABLE_CUDA_GRAPHS",
    boolean(),
    True,
    "Run networks with static_alloc and static_shape as CUDA graphs; unset: with one stream only.",
)
OMP_NUM_THREADS = Flag(
    "OMP_NUM_THREADS",
    TEXT,
    "",
    "Threads of each kernel, also in libraries; unset: one per core.",
)
MXNET_CPU_PARALLEL_SIZE = Flag(
    "MXNET_CPU_PARALLEL_SIZE",
    integer(1),
    200_000,
    "Number of elements from which a generated kernel that is not tuned uses several threads.",
)
MXNET_USE_OPERATOR_TUNING = Flag(
    "MXNET_USE_OPERATOR_TUNING",
    all_or_some("float16", "float32", "float64", "int8", "uint8", "int32", "int64"),
    ("float16", "float32", "float64", "int8", "uint8", "int32", "int64"),
    "Measure generated kernels to choose one thread or several: 1, 0, or the dtypes to measure.",
)
MXNET_USE_NUM_CORES_OPERATOR_TUNING = Flag(
    "MXNET_USE_NUM_CORES_OPERATOR_TUNING",
    integer(0),
    0,
    "Threads that tuning assumes; 0: as many as a kernel may use.",
)
MXNET_MP_WORKER_NTHREADS = Flag(
    "MXNET_MP_WORKER_NTHREADS",
    integer(1),
    1,
    "Compute threads of each worker process of a DataLoader.",
)
MXNET_MP_OPENCV_NUM_THREADS = Flag(
    "MXNET_MP_OPENCV_NUM_THREADS",
    integer(0),
    0,
    "OpenCV's own threads in each worker process of a DataLoader; 0: none.",
)
MXNET_EXEC_BULK_EXEC_INFERENCE = Flag(
    "MXNET_EXEC_BULK_EXEC_INFERENCE",
    boolean(),
    True,
    "Push a graph to the engine in bulk segments outside training.",
)
MXNET_EXEC_BULK_EXEC_TRAIN = Flag(
    "MXNET_EXEC_BULK_EXEC_TRAIN",
    boolean(),
    True,
    "Push a graph to the engine in bulk segments while training.",
)
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN = Flag(
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN",
    integer(0),
    15,
    "Largest number of operators in one bulk segment while training; CUDA graphs have no limit "
    "unless it is set.",
)
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD = Flag(
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD",
    integer(0),
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    "Largest number of operators in one bulk segment of the forward pass in training.",
)
MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD = Flag(
    "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD",
    integer(0),
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    "Largest number of operators in one bulk segment of the backward pass.",
)
DMLC_LOG_STACK_TRACE_DEPTH = Flag(
    "DMLC_LOG_STACK_TRACE_DEPTH",
    integer(0),
    0,
    "Number of stack frames that an operator's error shows of the code that called it.",
)
