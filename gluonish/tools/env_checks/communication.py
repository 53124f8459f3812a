"""Checks of the variables of kvstores and optimizers, which observe the engine's operations."""

import logging
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from gluonish.autograd import backward, record
from gluonish.core.config import (
    DMLC_NUM_WORKER,
    DMLC_ROLE,
    GLUONISH_DISTRIBUTED_TIMEOUT,
    GLUONISH_KVSTORE_BUCKET_MB,
    GLUONISH_LAUNCH_FOLDER,
    MXNET_ENABLE_GPU_P2P,
    MXNET_KVSTORE_BIGARRAY_BOUND,
    MXNET_KVSTORE_LOGTREE,
    MXNET_KVSTORE_REDUCTION_NTHREADS,
    MXNET_KVSTORE_TREE_ARRAY_BOUND,
    MXNET_KVSTORE_TREE_BACKTRACK,
    MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY,
    MXNET_KVSTORE_USETREE,
    MXNET_OPTIMIZER_AGGREGATION_SIZE,
    MXNET_UPDATE_ON_KVSTORE,
    OMPI_COMM_WORLD_SIZE,
    PMI_SIZE,
    SLURM_STEP_NUM_TASKS,
    WORLD_SIZE,
    Flag,
)
from gluonish.core.context import cpu
from gluonish.core.device import gpu_count
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer import Trainer
from gluonish.kvstore import KVStore
from gluonish.kvstore.distributed.rendezvous import wait_for_ranks
from gluonish.kvstore.nccl_reduce import buckets_of
from gluonish.kvstore.tree_reduce import TreeReduction
from gluonish.ndarray import ones
from gluonish.optimizer import SGD, get_updater
from gluonish.profiler.events import Job
from gluonish.tools.env_checks.process import NotHereError, expect, observes, run_program
from gluonish.tools.env_checks.threads import engine_trace


def _sum(size: int, devices: int = 2) -> list[Job]:
    """Sum arrays in a kvstore with the current settings, and return the engine's operations."""
    values = [ones((size,), ctx=cpu(i)) for i in range(devices)]
    store = KVStore("device")
    store.init(0, values[0])
    with engine_trace() as ran:
        store.push(0, values)
    return ran


def _named(ran: list[Job], name: str) -> int:
    return sum(entry.name == name for entry in ran)


@observes(MXNET_KVSTORE_REDUCTION_NTHREADS)
def _reduction_threads() -> str:
    """Sum one large array with several numbers of threads."""
    chunks = {}
    for count in (1, 3, 5):
        with (
            MXNET_KVSTORE_BIGARRAY_BOUND.override(99),
            MXNET_KVSTORE_REDUCTION_NTHREADS.override(count),
        ):
            chunks[count] = _named(_sum(100), "kvstore")
    expect(
        MXNET_KVSTORE_REDUCTION_NTHREADS, chunks == {1: 1, 3: 3, 5: 5}, "1, 3 and 5 sums", chunks
    )
    return "the sum of a big array was 1, 3 and 5 operations of the engine"


@observes(MXNET_KVSTORE_BIGARRAY_BOUND)
def _big_array_bound() -> str:
    """Sum arrays with sizes below and above the bound."""
    found = []
    for bound in (100, 200):
        with (
            MXNET_KVSTORE_BIGARRAY_BOUND.override(bound),
            MXNET_KVSTORE_REDUCTION_NTHREADS.override(4),
        ):
            found.append([_named(_sum(size), "kvstore") for size in (100, 101, 200, 201)])
    expect(
        MXNET_KVSTORE_BIGARRAY_BOUND,
        found == [[1, 4, 4, 4], [1, 1, 1, 4]],
        "4 sums for each array above the bound, else 1",
        found,
    )
    return "arrays were summed in 4 chunks above 100, then above 200 elements"


@observes(MXNET_UPDATE_ON_KVSTORE)
def _update_on_kvstore() -> str:
    """Train a parameter on two devices, and count the devices that update it."""
    devices = {}
    for on_store in (True, False):
        parameter = Parameter("weight", shape=(4,))
        parameter.initialize(ctx=[cpu(0), cpu(1)])
        with MXNET_UPDATE_ON_KVSTORE.override(on_store):
            trainer = Trainer([parameter], "sgd", {"learning_rate": 0.5})
            with record():
                losses = [data * 2 for data in parameter.list_data()]
            backward(losses)
            with engine_trace() as ran:
                trainer.step(1)
        devices[on_store] = {entry.lane for entry in ran if "update" in entry.name}
    seen = {on_store: len(lanes) for on_store, lanes in devices.items()}
    expect(
        MXNET_UPDATE_ON_KVSTORE, seen == {True: 1, False: 2}, "updates on 1 and on 2 devices", seen
    )
    return "two devices' weights were updated once, in the store, or on each device"


@observes(MXNET_OPTIMIZER_AGGREGATION_SIZE)
def _aggregation_size() -> str:
    """Update eight weights in calls of up to 1, 4 and 60 of them."""
    calls, results = {}, []
    for size in (1, 4, 60):
        with MXNET_OPTIMIZER_AGGREGATION_SIZE.override(size):
            updater = get_updater(SGD(learning_rate=0.1, momentum=0.9, wd=0.01))
            weights = [ones((3,)) * (i + 1) for i in range(8)]
            with engine_trace() as ran:
                for _ in range(2):
                    updater(list(range(8)), [ones((3,))] * 8, weights)
        calls[size] = sum("update" in entry.name for entry in ran)
        results.append([weight.asnumpy().tolist() for weight in weights])
    expect(
        MXNET_OPTIMIZER_AGGREGATION_SIZE,
        calls == {1: 16, 4: 4, 60: 2} and results[0] == results[1] == results[2],
        "16, 4 and 2 updates with one result",
        calls,
    )
    return "two steps of eight weights were 16, 4 and 2 update operations with equal results"


@observes(MXNET_KVSTORE_USETREE)
def _use_tree() -> str:
    """Sum arrays of four devices with and without trees."""
    rows = {}
    for trees in (False, True):
        with MXNET_KVSTORE_USETREE.override(trees):
            ran = _sum(10, devices=4)
        rows[trees] = _named(ran, "kvstore"), _named(ran, "kvstore_tree")
    expect(
        MXNET_KVSTORE_USETREE,
        rows == {False: (1, 0), True: (0, 3)},
        "one sum, or three pairs",
        rows,
    )
    return "arrays of four devices were summed at once, or in three pairs of a tree"


@observes(MXNET_KVSTORE_LOGTREE)
def _log_tree() -> str:
    """Count the log records about trees."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("gluonish")
    propagates, log.propagate = log.propagate, False
    log.addHandler(handler)
    counts = []
    try:
        for logs in (False, True):
            with MXNET_KVSTORE_USETREE.override(True), MXNET_KVSTORE_LOGTREE.override(logs):
                _sum(10)
            counts.append(sum("tree to 0: 1->0" in text for text in records))
    finally:
        log.removeHandler(handler)
        log.propagate = propagates
    expect(MXNET_KVSTORE_LOGTREE, counts == [0, 1], "no log, then one with the tree", counts)
    return "without it nothing was logged, with it the links and trees of two devices"


@observes(MXNET_KVSTORE_TREE_ARRAY_BOUND)
def _tree_array_bound() -> str:
    """Count the devices that sum arrays of one size, under two bounds."""
    roots = {}
    for bound in (100, 99):
        with MXNET_KVSTORE_USETREE.override(True), MXNET_KVSTORE_TREE_ARRAY_BOUND.override(bound):
            ran = _sum(100, devices=4)
        roots[bound] = len({entry.lane for entry in ran if entry.name == "kvstore_tree"})
    expect(MXNET_KVSTORE_TREE_ARRAY_BOUND, roots == {100: 2, 99: 4}, "2 and 4 devices", roots)
    return "100 elements were summed on 2 of 4 devices by one tree, or on all by four"


def _links_used(devices: int) -> Counter[frozenset[int]]:
    """Return how often the trees of some CPU devices use each link."""
    trees = TreeReduction().trees([cpu(i) for i in range(devices)])
    return Counter(frozenset(pair) for tree in trees for pair in tree.pairs())


@observes(MXNET_KVSTORE_TREE_BACKTRACK)
def _tree_backtrack() -> str:
    """Compare the trees with and without backtracking."""
    used = {}
    for exhaustive in (False, True):
        with (
            MXNET_KVSTORE_TREE_BACKTRACK.override(exhaustive),
            MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY.override(1.0),
        ):
            used[exhaustive] = len(_links_used(8))
    expect(MXNET_KVSTORE_TREE_BACKTRACK, used[True] > used[False], "other trees", used)
    return f"eight trees used {used[True]} links with backtracking, {used[False]} by halving"


@observes(MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY)
def _tree_penalty() -> str:
    """Compare how often the busiest link is used."""
    most = {}
    for penalty in (1.0, 0.7):
        with MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY.override(penalty):
            most[penalty] = max(_links_used(8).values())
    expect(MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY, most[0.7] < most[1.0], "less with 0.7", most)
    return f"the busiest link was in {most[1.0]} of 8 trees without a penalty, {most[0.7]} with 0.7"


# Peer access can be enabled only once: an error shows that the first copy has enabled it.
_PEERS = """\
import cupy
import gluonish as mx
mx.nd.ones((4,), ctx=mx.gpu(0)).copyto(mx.gpu(1)).wait_to_read()
try:
    with cupy.cuda.Device(1):
        cupy.cuda.runtime.deviceEnablePeerAccess(0)
    print("through the host")
except cupy.cuda.runtime.CUDARuntimeError:
    print("directly")
"""


@observes(MXNET_ENABLE_GPU_P2P)
def _peers() -> str:
    """Check whether a copy between GPUs enables peer access."""
    if gpu_count() < 2:
        raise NotHereError("needs two GPUs")
    ways = [run_program(_PEERS, MXNET_ENABLE_GPU_P2P=value).split("\n")[-2] for value in "01"]
    expect(MXNET_ENABLE_GPU_P2P, ways == ["through the host", "directly"], "both ways", ways)
    return "a copy between two GPUs went through the host, then directly"


def _need_mpi() -> None:
    if find_spec("mpi4py") is None:
        raise NotHereError("needs mpi4py: pip install 'gluonish[dist]'")


_ALONE = """\
import gluonish as mx
mx.kv.create("dist_sync").barrier()
"""
_REFUSED = """\
import gluonish as mx
try:
    mx.kv.create("dist_sync")
    print("made")
except mx.MXNetError as error:
    print(error)
"""


@observes(GLUONISH_LAUNCH_FOLDER)
def _launch_folder() -> str:
    """List the files that a process with a distributed store leaves in the folder."""
    _need_mpi()
    with TemporaryDirectory() as folder:
        run_program(_ALONE, GLUONISH_LAUNCH_FOLDER=folder)
        found = sorted(path.name for path in Path(folder).iterdir())
    expect(GLUONISH_LAUNCH_FOLDER, found == ["ended.0", "started.0"], "a start and an end", found)
    return "a process recorded its start and its end there"


class _PendingRequest:
    """An MPI request that never completes."""

    def Test(self) -> bool:
        return False


@observes(GLUONISH_DISTRIBUTED_TIMEOUT)
def _timeout() -> str:
    """Measure how long a rendezvous waits for a missing rank."""
    waited = {}
    for seconds in (0.2, 0.6):
        with GLUONISH_DISTRIBUTED_TIMEOUT.override(seconds):
            start = time.perf_counter()
            wait_for_ranks([_PendingRequest()], GLUONISH_DISTRIBUTED_TIMEOUT.value)
            waited[seconds] = time.perf_counter() - start
    right = all(seconds <= waited[seconds] < seconds + 0.3 for seconds in waited)
    expect(GLUONISH_DISTRIBUTED_TIMEOUT, right, "0.2 and 0.6 s", waited)
    return "the wait for a missing rank took 0.2 and 0.6 s"


@observes(DMLC_ROLE)
def _role() -> str:
    """Check that a server process of MXNet's launcher raises an error."""
    output = run_program(_REFUSED, DMLC_ROLE="server")
    expect(DMLC_ROLE, "expected a worker process" in output, "a refusal", output)
    return "a process started as a server was refused"


def _alone(flag: Flag[int]) -> str:
    """Check that a single process raises an error if a launcher announces two."""
    _need_mpi()
    output = run_program(_REFUSED, **{flag.name: "2"})
    message = f"expected 2 processes, by {flag.name}"
    expect(flag, message in output, "a refusal", output)
    return "one process was refused where two were announced"


@observes(DMLC_NUM_WORKER)
def _num_worker() -> str:
    return _alone(DMLC_NUM_WORKER)


@observes(WORLD_SIZE)
def _world_size() -> str:
    return _alone(WORLD_SIZE)


@observes(SLURM_STEP_NUM_TASKS)
def _slurm_tasks() -> str:
    return _alone(SLURM_STEP_NUM_TASKS)


@observes(PMI_SIZE)
def _pmi_size() -> str:
    return _alone(PMI_SIZE)


@observes(OMPI_COMM_WORLD_SIZE)
def _openmpi_size() -> str:
    return _alone(OMPI_COMM_WORLD_SIZE)


@observes(GLUONISH_KVSTORE_BUCKET_MB)
def _buckets() -> str:
    """Count the buckets of four arrays of 1 MB."""
    flag, found = GLUONISH_KVSTORE_BUCKET_MB, []
    lists = [[ones((1 << 18,))] for _ in range(4)]
    for megabytes in (0, 2, 25):
        with flag.override(megabytes):
            found.append(len(list(buckets_of(lists))))
    expect(flag, found == [4, 2, 1], "4, 2 and 1 buckets", found)
    return "four arrays of 1 MB made 4 buckets with 0, 2 with 2, and 1 with 25"
