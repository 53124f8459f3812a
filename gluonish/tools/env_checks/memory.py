"""Checks of the variables that say how memory is shared and kept."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from gluonish.autograd import record
from gluonish.core.allocation_watch import AllocationTally
from gluonish.core.config import (
    MXNET_BACKWARD_DO_MIRROR,
    MXNET_CPU_TEMP_COPY,
    MXNET_EXEC_ENABLE_INPLACE,
    MXNET_EXEC_MATCH_RANGE,
    MXNET_EXEC_NUM_TEMP,
    MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE,
    MXNET_GPU_MEM_POOL_PAGE_SIZE,
    MXNET_GPU_MEM_POOL_RESERVE,
    MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF,
    MXNET_GPU_MEM_POOL_TYPE,
    MXNET_MEMORY_OPT,
    MXNET_USE_FUSION,
    NNVM_EXEC_MATCH_RANGE,
    Flag,
)
from gluonish.core.context import cpu, gpu
from gluonish.core.device import device_of, gpu_count
from gluonish.gluon.nn import Activation, BatchNorm, Conv2D, HybridLambda, HybridSequential
from gluonish.graph.arenas import Arenas
from gluonish.kernels.cupy.device import health_of
from gluonish.kernels.cupy.pool import Pool, make_pool
from gluonish.ndarray import NDArray, array
from gluonish.tools.env_checks.process import NotHereError, expect, observes, run_program

_LENGTH = 4096  # elements of each value in the chain


def _chain(F: Any, x: Any) -> Any:
    """Four values in a row, and a short one, of which none is an output."""
    y = F.sqrt(F.exp(F.sin(F.exp(x))))
    return F.broadcast_mul(y, F.sum(y))


def _planned(*scopes: AbstractContextManager[Any]) -> tuple[int, Any]:
    """Return the bytes of the arena of a chain of operators, and what they compute."""
    block = HybridLambda(_chain)
    block.hybridize(static_alloc=True)
    x = array(np.linspace(-1, 1, _LENGTH))
    with ExitStack() as stack:
        for scope in (MXNET_USE_FUSION.override(False), *scopes):
            stack.enter_context(scope)
        tally = stack.enter_context(AllocationTally())
        result = block(x).asnumpy()
        held = sum(h.nbytes for h in tally.holdings() if h.name.endswith(":arena"))
    return held, result


@observes(MXNET_EXEC_ENABLE_INPLACE)
def _in_place() -> str:
    """Run a chain of elementwise operators with and without outputs over inputs."""
    flag = MXNET_EXEC_ENABLE_INPLACE
    within, result = _planned(flag.override(True), NNVM_EXEC_MATCH_RANGE.override(16))
    beside, other = _planned(flag.override(False), NNVM_EXEC_MATCH_RANGE.override(16))
    expect(flag, within < beside, "a smaller arena with in-place outputs", (within, beside))
    expect(flag, np.array_equal(result, other), "the same result", "another")
    return f"an arena of {within} bytes with in-place outputs, {beside} without; one result"


@observes(NNVM_EXEC_MATCH_RANGE)
def _match_range() -> str:
    """Run a chain of operators that share blocks of memory, and one that do not."""
    flag = NNVM_EXEC_MATCH_RANGE
    shared, result = _planned(flag.override(16), MXNET_EXEC_ENABLE_INPLACE.override(False))
    alone, other = _planned(flag.override(0), MXNET_EXEC_ENABLE_INPLACE.override(False))
    expect(flag, 1.5 * shared < alone, "a much smaller arena where blocks match", (shared, alone))
    expect(flag, np.array_equal(result, other), "the same result", "another")
    return f"an arena of {shared} bytes within a range of 16, {alone} with 0; one result"


# In a process of its own: nobody else may see the environment change.
_PRINT_ARENAS = """
from gluonish.core.config import MXNET_EXEC_ENABLE_INPLACE, set_variable
from gluonish.tools.env_checks.memory import _planned
for newer in (None, "16"):
    set_variable("NNVM_EXEC_MATCH_RANGE", newer)
    print(_planned(MXNET_EXEC_ENABLE_INPLACE.override(False))[0])
"""


@observes(MXNET_EXEC_MATCH_RANGE)
def _older_match_range() -> str:
    """Set the older name alone, and beside the newer one."""
    flag = MXNET_EXEC_MATCH_RANGE
    alone, won = map(int, run_program(_PRINT_ARENAS, **{flag.name: "0"}).split())
    expect(flag, 1.5 * won < alone, "the older name to act, and the newer to win", (alone, won))
    return f"0 makes an arena of {alone} bytes; with NNVM_EXEC_MATCH_RANGE=16 it is {won}"


@observes(MXNET_EXEC_NUM_TEMP)
def _arenas_kept() -> str:
    """Have three calls at one time take large arenas, and count the bytes that stay."""
    flag, nbytes, kept = MXNET_EXEC_NUM_TEMP, 64 << 20, []  # never touched: no memory behind it
    for count in (1, 2):
        with flag.override(count), AllocationTally() as tally:
            arenas = Arenas(device_of(cpu()), keep=True, name="check")
            arenas.join(nbytes)
            taken = [arenas.acquire() for _ in range(3)]
            while taken:
                arenas.release(taken.pop())
            kept.append(sum(h.arrays for h in tally.holdings() if h.name == "check:arena"))
    expect(flag, kept == [1, 2], "1 and 2 arenas kept after three calls at once", kept)
    return "of three large arenas in use at once, 1 stays with 1, and 2 with 2"


_PRINT_SCRATCH = """
from gluonish.core.config import MXNET_CPU_TEMP_COPY, MXNET_MKLDNN_ENABLED
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.kernels import onednn
from gluonish.kernels.onednn import register
device_of(cpu())
for count in (1, 3):
    register._loaded.clear()
    with MXNET_MKLDNN_ENABLED.override(True), MXNET_CPU_TEMP_COPY.override(count):
        if not register.enabled():
            print("missing")
            break
    scratch = onednn.current().engine.workspaces
    for taken in [scratch.take(1 << 20) for _ in range(4)]:
        scratch.give(taken)
    print(scratch.nbytes >> 20)
"""


@observes(MXNET_CPU_TEMP_COPY)
def _scratch_kept() -> str:
    """Have four operators at one time take scratch from a library that keeps one, and three."""
    flag = MXNET_CPU_TEMP_COPY
    kept = run_program(_PRINT_SCRATCH).split()
    if "missing" in kept:
        raise NotHereError("needs oneDNN")
    expect(flag, kept == ["1", "3"], "1 and 3 MiB of scratch kept of 4", kept)
    return "of four scratch buffers in use at once, 1 stays with 1, and 3 with 3"


def _train(*scopes: AbstractContextManager[Any]) -> tuple[int, list[Any]]:
    """Return the bytes that a network keeps for its backward pass, and its gradients."""
    net = HybridSequential(prefix="mirrored_")
    for i in range(4):
        with net.name_scope():
            net.add(
                Conv2D(4, 3, padding=1, use_bias=False, in_channels=4, prefix=f"conv{i}_"),
                BatchNorm(in_channels=4, prefix=f"norm{i}_"),
                Activation("relu", prefix=f"relu{i}_"),
            )
    net.initialize()
    random = np.random.default_rng(3)
    for parameter in net.collect_params().values():
        parameter.set_data(array(random.normal(1, 0.1, parameter.shape)))
    net.hybridize(static_alloc=True)
    x: NDArray = array(random.normal(size=(2, 4, 12, 12)))
    with ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(scope)
        tally = stack.enter_context(AllocationTally())
        with record():
            y = net(x)
        y.backward()
        found = [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
        kept = sum(h.nbytes for h in tally.holdings() if h.name.endswith(":kept for backward"))
    return kept, found


def _recomputes(flag: Flag[bool]) -> str:
    """Train one step with values kept, and with values computed again."""
    both = (MXNET_BACKWARD_DO_MIRROR, MXNET_MEMORY_OPT)
    usual, gradients = _train(*[other.override(False) for other in both])
    less, again = _train(*[other.override(other is flag) for other in both])
    expect(flag, less < 0.9 * usual, "less kept for the backward pass", (usual, less))
    same = all(
        np.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(gradients, again, strict=True)
    )
    expect(flag, same, "the same gradients", "others")
    return f"{usual} bytes kept for the backward pass without, {less} with; one set of gradients"


@observes(MXNET_BACKWARD_DO_MIRROR)
def _mirror() -> str:
    return _recomputes(MXNET_BACKWARD_DO_MIRROR)


@observes(MXNET_MEMORY_OPT)
def _memory_opt() -> str:
    return _recomputes(MXNET_MEMORY_OPT)


def _gpu_pool(*scopes: AbstractContextManager[Any]) -> Pool:
    """Return a new pool of the first GPU, made as the environment says inside the scopes.

    Raises:
        NotHereError: without a GPU.
    """
    if not gpu_count():
        raise NotHereError("needs a GPU")
    cupy, health = device_of(gpu(0)).xp, health_of(0)
    with ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(scope)
        return make_pool(cupy, cupy.cuda.Device(0), health)


def _sizes(*scopes: AbstractContextManager[Any], asked: Sequence[int]) -> list[int]:
    """Return the sizes of the blocks that a new pool gives for some numbers of bytes."""
    pool = _gpu_pool(*scopes)
    blocks = [pool.take(nbytes) for nbytes in asked]
    found = [int(block.raw.size) for block in blocks]
    for block in blocks:
        pool.give(block)
    pool.release()
    return found


def _pool_type(kind: str) -> AbstractContextManager[Any]:
    return MXNET_GPU_MEM_POOL_TYPE.override(kind)


@observes(MXNET_GPU_MEM_POOL_TYPE)
def _kinds_of_pool() -> str:
    """Take a block of each kind of pool, give it back, and take one more."""
    flag, asked = MXNET_GPU_MEM_POOL_TYPE, 5 << 20
    seen = []
    for kind in ("Naive", "Round", "Unpooled"):
        pool = _gpu_pool(
            _pool_type(kind),
            MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE.override(2 << 20),
            MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF.override(24),
        )
        block = pool.take(asked)
        size = block.nbytes >> 20
        pool.give(block)
        del block
        pool.give(pool.take(asked))
        seen.append((size, pool.statistics().allocations))
        pool.release()
    expected = [(6, 1), (8, 1), (5, 2)]
    expect(flag, seen == expected, f"MiB and calls of the driver {expected}", seen)
    return "5 MiB twice: a block of 6 that serves again, one of 8 that does, and two of 5"


@observes(MXNET_GPU_MEM_POOL_PAGE_SIZE)
def _page() -> str:
    """Take small blocks from pools with two sizes of pages."""
    flag, naive = MXNET_GPU_MEM_POOL_PAGE_SIZE, "Naive"
    found = [
        _sizes(_pool_type(naive), flag.override(page), asked=(1, 5000)) for page in (4096, 1024)
    ]
    expected = [[4096, 8192], [1024, 5120]]
    expect(flag, found == expected, f"blocks of {expected} bytes", found)
    return "1 and 5000 bytes take 4096 and 8192 with pages of 4096, 1024 and 5120 with 1024"


@observes(MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE)
def _large() -> str:
    """Take a large block from pools with two grains of large ones."""
    flag, naive = MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE, "Naive"
    found = [
        _sizes(_pool_type(naive), flag.override(grain), asked=(5 << 20,))[0] >> 20
        for grain in (2 << 20, 4 << 20, 16 << 20)
    ]
    expect(flag, found == [6, 8, 5], "blocks of 6, 8 and 5 MiB", found)
    return "5 MiB take 6 with a grain of 2 MiB, 8 with one of 4, and 5 below one of 16"


@observes(MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF)
def _cutoff() -> str:
    """Take a large block from Round pools with two cutoffs."""
    flag = MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF
    found = [
        _sizes(_pool_type("Round"), flag.override(cutoff), asked=(5 << 20,))[0] >> 20
        for cutoff in (20, 24)
    ]
    expect(flag, found == [5, 8], "blocks of 5 and 8 MiB", found)
    return "5 MiB take 5 with a cutoff at 1 MiB, and 8 with one at 16"


@observes(MXNET_GPU_MEM_POOL_RESERVE)
def _reserve() -> str:
    """Have a pool hold a block, and take another with no reserve, and with all in reserve."""
    flag = MXNET_GPU_MEM_POOL_RESERVE
    held = []
    for percent in (0, 100):
        pool = _gpu_pool(_pool_type("Naive"), flag.override(percent))
        pool.give(pool.take(2 << 20))
        block = pool.take(4 << 20)
        held.append(pool.statistics().held >> 20)
        pool.give(block)
        del block
        pool.release()
    expect(flag, held == [2, 0], "2 and 0 MiB held beside a new block", held)
    return "a new block leaves 2 MiB held with 0 %, and none with 100 %"
