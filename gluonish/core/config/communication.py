"""Communication and updates: the kvstore and the optimizer."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import TEXT, boolean, choice, integer, real

MXNET_OPTIMIZER_AGGREGATION_SIZE = Flag(
    "MXNET_OPTIMIZER_AGGREGATION_SIZE",
    integer(1, 60),
    4,
    "Largest number of weights that one optimizer call updates; unset: all weights of a dtype.",
)
MXNET_UPDATE_ON_KVSTORE = Flag(
    "MXNET_UPDATE_ON_KVSTORE",
    boolean(),
    True,
    "Let the Trainer update weights in the kvstore, unless update_on_kvstore says otherwise.",
)
MXNET_KVSTORE_REDUCTION_NTHREADS = Flag(
    "MXNET_KVSTORE_REDUCTION_NTHREADS",
    integer(1),
    4,
    "Number of chunks in which a store adds large arrays on the CPU in parallel.",
)
MXNET_KVSTORE_BIGARRAY_BOUND = Flag(
    "MXNET_KVSTORE_BIGARRAY_BOUND",
    integer(0),
    1_000_000,
    "Number of elements above which a store adds arrays in chunks, and servers of dist_async "
    "share them.",
)
MXNET_ENABLE_GPU_P2P = Flag(
    "MXNET_ENABLE_GPU_P2P",
    boolean(),
    True,
    "Copy between GPUs directly where possible; else through the host.",
)
MXNET_KVSTORE_USETREE = Flag(
    "MXNET_KVSTORE_USETREE",
    boolean(),
    False,
    "Add gradients along trees of links between the devices of a device store.",
)
MXNET_KVSTORE_LOGTREE = Flag(
    "MXNET_KVSTORE_LOGTREE",
    boolean(),
    False,
    "Log the links and the trees of MXNET_KVSTORE_USETREE.",
)
MXNET_KVSTORE_TREE_ARRAY_BOUND = Flag(
    "MXNET_KVSTORE_TREE_ARRAY_BOUND",
    integer(0),
    10_000_000,
    "Number of elements above which an array is split into chunks with a tree each.",
)
MXNET_KVSTORE_TREE_BACKTRACK = Flag(
    "MXNET_KVSTORE_TREE_BACKTRACK",
    boolean(),
    False,
    "Find the best trees by trying all halvings of the devices, not by Kernighan and Lin's method.",
)
MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY = Flag(
    "MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY",
    real(0.0, 1.0),
    0.7,
    "Factor by which a link's weight is multiplied each time a tree uses the link.",
)
DMLC_ROLE = Flag(
    "DMLC_ROLE",
    choice("worker", "server", "scheduler"),
    "worker",
    "Role in which a launcher started the process; distributed stores refuse all but worker.",
)
GLUONISH_KVSTORE_BUCKET_MB = Flag(
    "GLUONISH_KVSTORE_BUCKET_MB",
    integer(0),
    25,
    "MB of arrays that NCCL sums together; 0: one array each, and with NCCL only in stores that are"
    " named after it.",
)
DMLC_NUM_WORKER = Flag(
    "DMLC_NUM_WORKER",
    integer(0),
    0,
    "Set by `gluonish launch`: the number of processes that a store must find; 0: any number.",
)
GLUONISH_DISTRIBUTED_TIMEOUT = Flag(
    "GLUONISH_DISTRIBUTED_TIMEOUT",
    real(0.1, 1e6),
    600.0,
    "Seconds that a rank waits for the others before it fails with the names of those missing.",
)
GLUONISH_LAUNCH_FOLDER = Flag(
    "GLUONISH_LAUNCH_FOLDER",
    TEXT,
    "",
    "Set by `gluonish launch`: the folder where ranks record that they started and ended.",
)
WORLD_SIZE = Flag(
    "WORLD_SIZE",
    integer(0),
    0,
    "Set by torchrun: the number of processes; a distributed store that finds only itself "
    "then refuses.",
)
SLURM_STEP_NUM_TASKS = Flag(
    "SLURM_STEP_NUM_TASKS", integer(0), 0, "Set by Slurm's srun: as WORLD_SIZE."
)
PMI_SIZE = Flag("PMI_SIZE", integer(0), 0, "Set by MPICH's mpiexec: as WORLD_SIZE.")
OMPI_COMM_WORLD_SIZE = Flag(
    "OMPI_COMM_WORLD_SIZE", integer(0), 0, "Set by OpenMPI's mpiexec: as WORLD_SIZE."
)

# Launchers' variables of the number of processes.
RANK_COUNTS = (WORLD_SIZE, PMI_SIZE, OMPI_COMM_WORLD_SIZE, SLURM_STEP_NUM_TASKS)


def launched_ranks() -> int:
    """Return the number of processes that a launcher started together; 1 without a launcher."""
    return max(1, *(flag.value for flag in RANK_COUNTS))
